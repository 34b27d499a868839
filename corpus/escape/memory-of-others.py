# what: memory and descriptors of others are not read or written
# expect: EPERM
# expect-host: EPERM EACCES
class Io(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


here = ctypes.create_string_buffer(64)
for who, pid in {"somebody": int(env["VICTIM"]), "the first": 1, "the parent": os.getppid()}.items():
    local, remote = Io(ctypes.addressof(here), 64), Io(0x400000, 64)
    attempt(f"read {who}", lambda: call(310 if X86_64 else 270, pid, ctypes.cast(ctypes.pointer(local), ctypes.c_void_p), 1, ctypes.cast(ctypes.pointer(remote), ctypes.c_void_p), 1, 0))
    attempt(f"write {who}", lambda: call(311 if X86_64 else 271, pid, ctypes.cast(ctypes.pointer(local), ctypes.c_void_p), 1, ctypes.cast(ctypes.pointer(remote), ctypes.c_void_p), 1, 0))
    attempt(f"compare {who}", lambda: call(312 if X86_64 else 272, pid, os.getpid(), 2, 0, 0))


def take():
    fd = os.pidfd_open(os.getppid())
    return call(438, fd, 0, 0)


attempt("take a descriptor of the parent", take)
attempt("take a descriptor of nobody", lambda: call(438, -1, 0, 0))
