# what: processes are bounded
# expect: EAGAIN ENOMEM
# limits: processes=310
# Bounded by itself, too: each waits for a moment and goes.
started = []


def start():
    for _ in range(500):
        pid = os.fork()
        if pid == 0:
            time.sleep(20)
            os._exit(0)
        started.append(pid)
    return len(started)


attempt("500 processes", start)
for pid in started:
    os.kill(pid, signal.SIGKILL)
