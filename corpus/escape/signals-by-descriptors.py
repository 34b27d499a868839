# what: no descriptor sends a signal to a process outside
# expect: ESRCH EPERM silent
# That the process outside still runs is seen by the test.
import fcntl
F_SETSIG, F_SETOWN_EX = 10, 15
victim = int(env["VICTIM"])
for what, give in {
    "plainly": lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, victim),
    "with a kind": lambda fd: fcntl.fcntl(fd, F_SETOWN_EX, struct.pack("ii", 1, victim)),
    "to a group": lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, -victim),
}.items():
    reader, writer = os.pipe()
    try:
        give(reader)
        fcntl.fcntl(reader, F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(writer, b"x")
        held(f"a pipe {what}", "silent")
    except OSError as error:
        held(f"a pipe {what}", name(error))
time.sleep(0.2)
