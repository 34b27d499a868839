# what: a file that is kept or covered gets no other name by way of an open descriptor
# expect: EXDEV EPERM EACCES ENOENT EROFS EBUSY EINVAL EISDIR
# on: namespaces
AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = 0x1000, 0x400
for path in [".git/config", ".git/hooks", "/usr/bin/env", "/etc/passwd", "packages/api/.git/config"]:
    fd = os.open(path, os.O_PATH)
    number = 265 if X86_64 else 37
    attempt(f"empty path of {path}", lambda: call(number, fd, b"", -100, b"linked", AT_EMPTY_PATH))
    attempt(f"by way of /proc of {path}", lambda: call(number, -100, f"/proc/self/fd/{fd}".encode(), -100, b"linked", AT_SYMLINK_FOLLOW))
    attempt(f"write {path} by way of /proc", lambda: write(f"/proc/self/fd/{fd}", os.O_WRONLY))
    attempt(f"mode of {path} by way of /proc", lambda: os.chmod(f"/proc/self/fd/{fd}", 0o777))
    attempt(f"times of {path} by way of /proc", lambda: os.utime(f"/proc/self/fd/{fd}"))
