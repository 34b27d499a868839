# what: nobody outside is kept waiting for a file by a lease on it
# expect: EPERM EACCES EINVAL
import fcntl
own = f"{env['WS']}/src/main.c"
for path in [own, "/usr/bin/env", "/etc/passwd"]:
    fd = os.open(path, os.O_RDONLY)
    for what, kind in {"to read": fcntl.F_RDLCK, "to write": fcntl.F_WRLCK}.items():
        attempt(f"a lease {what} of {path}", lambda: fcntl.fcntl(fd, fcntl.F_SETLEASE, kind))
attempt("notes of a directory", lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), 1026, 0x8000003F - (1 << 32)))
