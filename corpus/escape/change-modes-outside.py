# what: modes, owners, times and attributes of files outside are not changed
# on: namespaces
# expect: ENOENT EACCES EPERM EROFS
# Landlock alone does not hold these; what it says of itself names them.
for path in [f"{env['OUTSIDE']}/file", f"{env['HOST_HOME']}/.netrc", "/usr/bin/env", "/etc/passwd", "/etc"]:
    # The mode that it has: nothing happens where this is allowed.
    attempt(f"mode {path}", lambda: os.chmod(path, os.stat(path).st_mode & 0o777))
    attempt(f"owner {path}", lambda: os.chown(path, os.getuid(), os.getgid()))
    attempt(f"times {path}", lambda: os.utime(path))
    attempt(f"attribute {path}", lambda: os.setxattr(path, "user.x", b"x"))


def by_descriptor():
    fd = os.open("/etc/passwd", os.O_RDONLY)
    os.fchmod(fd, os.fstat(fd).st_mode & 0o777)


attempt("mode of what is open", by_descriptor)
