# what: no process is traced
# expect: EPERM
victims = {"somebody's": int(env["VICTIM"]), "the first": 1, "the parent": os.getppid()}
ATTACH, TRACEME, SEIZE = 16, 0, 0x4206
nr = 101 if X86_64 else 117
for who, pid in victims.items():
    attempt(f"attach {who}", lambda: call(nr, ATTACH, pid, 0, 0))
    attempt(f"seize {who}", lambda: call(nr, SEIZE, pid, 0, 0))
attempt("be traced", lambda: call(nr, TRACEME, 0, 0, 0))
