# what: the x32 interface of the processor does not exist
# expect: ENOSYS
for what, number in {"getpid": 39, "mount": 165, "ptrace": 521, "unshare": 272, "execve": 520}.items():
    attempt(what, lambda: call(0x40000000 | number, -1, -1, -1, -1, -1, -1))
