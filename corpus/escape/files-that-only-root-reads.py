# what: what only root may read below /etc is not read by root in a cage, either
# expect: EACCES EPERM ENOENT ELOOP
import stat
seen = 0
for above, _, files in os.walk("/etc"):
    for name_of in files:
        path = f"{above}/{name_of}"
        try:
            mode = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISREG(mode.st_mode) and not mode.st_mode & stat.S_IROTH and mode.st_size:
            seen += 1
            attempt(path, lambda: read(path))
if not seen:
    held("nothing of the kind is seen", "ENOENT")
