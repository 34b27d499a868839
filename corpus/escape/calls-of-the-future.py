# what: calls that the list was not written for do not exist
# expect: ENOSYS
for number in [470, 471, 480, 500, 511, 600, 1000, 0x3fffffff, 0x7fffffff, 0xffffffff]:
    attempt(f"{number}", lambda: call(number, -1, -1, -1, -1, -1, -1))
attempt("clone3", lambda: call(435, 0, 0))
attempt("openat2", lambda: call(437, -100, b"/etc/passwd", ctypes.create_string_buffer(24), 24))
