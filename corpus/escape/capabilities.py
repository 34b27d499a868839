# what: there is no capability, and none is had again
# expect: EPERM EINVAL none
wanted = {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapAmb": 0, "NoNewPrivs": 1, "Seccomp": 2}
for line in open("/proc/self/status"):
    key, _, value = line.partition(":")
    if key in wanted:
        if int(value, 16) == wanted[key]:
            held(key, "none")
        else:
            escaped(line.strip())
if os.getuid() == 0:
    bound = [it for it in open("/proc/self/status") if it.startswith("CapBnd")][0]
    if int(bound.split()[1], 16) == 0:
        held("CapBnd", "none")
    else:
        escaped(bound)
other = 12345
attempt("be somebody else", lambda: os.setresuid(other, other, other))
attempt("be in another group", lambda: os.setresgid(other, other, other))
attempt("be in more groups", lambda: os.setgroups([other]))
if os.getuid() != 0:
    attempt("be root", lambda: os.setuid(0))
header, data = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", 1 << 21, 1 << 21, 0, 0, 0, 0)
attempt("raise one", lambda: call(126 if X86_64 else 91, header, data))
attempt("raise an ambient one", lambda: call(157 if X86_64 else 167, 47, 2, 21, 0, 0))
attempt("take back that none is new", lambda: call(157 if X86_64 else 167, 38, 0, 0, 0, 0))
attempt("give a file away", lambda: os.chown("src/main.c", other, other))
attempt("give a program a capability", lambda: os.setxattr("src/main.c", "security.capability", bytes.fromhex("0100000200002000000000000000000000000000")))
