# what: nothing that the one outside had open is open inside
# expect: EBADF
for fd in range(3, 1024):
    attempt(f"{fd}", lambda: (os.fstat(fd), os.readlink(f"/proc/self/fd/{fd}")))
