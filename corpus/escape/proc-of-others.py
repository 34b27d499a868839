# what: /proc tells nothing of others but that they are there
# expect: EACCES EPERM ENOENT ESRCH ENOTDIR EINVAL EROFS
own = {os.getpid()}
others = [it for it in os.listdir("/proc") if it.isdigit() and int(it) not in own]
# Bubblewrap's own process is number one of its cage: it is held by the same, and has nothing to hide.
ours = {"1"} if env["LADDER"] == "bubblewrap" else set()
for pid in {env["VICTIM"], "1", str(os.getppid()), *others} - ours:
    for file in ["environ", "maps", "mem", "fd/0", "auxv", "stack", "root/etc/shadow", f"root{env['HOST_HOME']}/.netrc",
                 f"cwd{env['HOST_HOME']}/.netrc", f"task/{pid}/environ", f"task/{pid}/root{env['HOST_HOME']}/.netrc", "pagemap"]:
        attempt(f"{pid} {file}", lambda: read(f"/proc/{pid}/{file}") or os.open("/nothing", 0))
    # Their numbers may be seen, what they are may not.
    attempt(f"{pid} what is open", lambda: os.readlink(f"/proc/{pid}/fd/0"))
    attempt(f"{pid} root", lambda: os.readlink(f"/proc/{pid}/root"))
    attempt(f"{pid} mem for writing", lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR))
    attempt(f"{pid} namespace", lambda: os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY))
