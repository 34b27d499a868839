# what: the file tree stays as it was made
# expect: EPERM
NODE, BIND, REMOUNT = b"none", 4096, 32
ws = env["WS"].encode()
MOUNT, UMOUNT, PIVOT, CHROOT = (165, 166, 155, 161) if X86_64 else (40, 39, 41, 51)
attempt("mount a tmpfs", lambda: call(MOUNT, NODE, ws, b"tmpfs", 0, 0))
attempt("bind", lambda: call(MOUNT, ws, ws + b"/src", 0, BIND, 0))
for at in [b"/usr", b"/etc", ws + b"/.git/hooks"]:
    attempt(f"remount {at}", lambda: call(MOUNT, 0, at, 0, REMOUNT | BIND, 0))
    # With flags that do not exist.
    attempt(f"unmount {at}", lambda: call(UMOUNT, at, 0x7fffffff))
attempt("unmount what is kept", lambda: call(UMOUNT, ws + b"/.git/hooks", 2))
attempt("pivot", lambda: call(PIVOT, -1, -1))
attempt("chroot", lambda: call(CHROOT, ws))
attempt("fsopen", lambda: call(430, b"tmpfs", 0))
attempt("fspick", lambda: call(433, -100, b"/", 0))
attempt("open_tree", lambda: call(428, -100, b"/", 1))
attempt("open_tree_attr", lambda: call(467, -100, b"/", 1, 0, 0))
attempt("move_mount", lambda: call(429, -100, ws + b"/src", -100, ws + b"/links", 0))
attempt("mount_setattr", lambda: call(442, -100, b"/usr", 0, ctypes.create_string_buffer(32), 32))
