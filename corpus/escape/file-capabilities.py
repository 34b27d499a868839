# what: no file of the workspace is given a privilege
# expect: EPERM EACCES EOPNOTSUPP ENOTSUP EROFS EINVAL
write("program")
os.chmod("program", 0o755)
effective = struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)
rooted = struct.pack("<IIIIII", 0x03000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0, 0)
for what, value in {"capabilities": effective, "capabilities of a user": rooted}.items():
    attempt(what, lambda: os.setxattr("program", "security.capability", value))
attempt("a trusted word", lambda: os.setxattr("program", "trusted.overlay.opaque", b"y"))
attempt("another owner", lambda: os.chown("program", 12345, -1))
attempt("as its owner", lambda: os.chmod("program", 0o4755))
flags = struct.pack("L", 0x10)
attempt("immutable", lambda: __import__("fcntl").ioctl(os.open("program", os.O_RDONLY), 0x40086602, flags))
