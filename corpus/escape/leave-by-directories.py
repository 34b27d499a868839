# what: no way up leads out
# expect: ENOENT EACCES EPERM ENOTDIR
path = env["OUTSIDE"]
for start in [".", "/", "/proc/self/cwd", "/proc/self/root", "/tmp", "/usr/bin"]:
    up = f"{start}/" + "../" * 40
    attempt(f"up from {start}", lambda: read(f"{up}{path}/file"))
fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
attempt("from a descriptor", lambda: os.open("../" * 40 + f"{path}/file", os.O_RDONLY, dir_fd=fd))
attempt("handle of a file", lambda: call(303 if X86_64 else 264, -100, b"/", ctypes.create_string_buffer(200), ctypes.create_string_buffer(8), 0))
handle = struct.pack("Ii8s", 8, 1, struct.pack("II", 2, 0))
attempt("by handle", lambda: call(304 if X86_64 else 265, fd, handle, 0))
