# what: a file that was handed over to be read is not written, and one to be written is not read
# on: landlock
# expect: EACCES EPERM EROFS ENXIO ENOENT
# The process finds its own descriptors in /proc, and a file that is opened there is opened anew.
for number, flags in {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_RDONLY}.items():
    for way in ["/proc/self/fd", "/dev/fd", "/proc/thread-self/fd"]:
        attempt(f"open {way}/{number} anew", lambda: os.open(f"{way}/{number}", flags))
attempt("cut off what was handed over", lambda: os.truncate("/proc/self/fd/0", 0) if os.path.getsize("/proc/self/fd/0") == 0 else os.open("/proc/self/fd/0", os.O_RDWR))
