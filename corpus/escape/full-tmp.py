# what: fresh directories hold so much and no more, in bytes and in files
# expect: ENOSPC EACCES EROFS EDQUOT ENOENT
# limits: fresh=8M
# on: namespaces
if os.uname().nodename != "lazaret":
    escaped("this is not a tree of its own")
    sys.exit(1)
for dir in ["/tmp", "/dev/shm", env["HOME"], "/run", "/var", "/dev", "/var/tmp", "/"]:
    def fill():
        with open(f"{dir}/large", "wb") as file:
            for _ in range(32):
                file.write(b"x" * (1 << 20))
                file.flush()
        return "32 MB"

    def many():
        os.mkdir(f"{dir}/many")
        for i in range(12000):
            os.mkdir(f"{dir}/many/{i}")
        return "12000 files"

    attempt(f"fill {dir}", fill)
    if os.path.exists(f"{dir}/large"):
        os.unlink(f"{dir}/large")
    # Bubblewrap bounds bytes only.
    if not os.path.exists(f"{dir}/many") and env["LADDER"] != "bubblewrap":
        attempt(f"many in {dir}", many)
