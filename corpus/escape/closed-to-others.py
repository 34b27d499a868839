# what: of the system's settings root reads nothing either that is closed to others
# expect: EACCES EPERM ENOENT
# What is covered has no rights at all; what is not is as outside.
attempt("/etc/shadow", lambda: read("/etc/shadow"))
for folder, folders, files in os.walk("/etc"):
    for path in [os.path.join(folder, it) for it in files]:
        if not os.path.islink(path) and os.stat(path).st_mode & 0o004 == 0:
            attempt(path, lambda: read(path))
    for path in [os.path.join(folder, it) for it in folders]:
        if not os.path.islink(path) and os.stat(path).st_mode & 0o001 == 0:
            attempt(f"list {path}", lambda: os.listdir(path))
