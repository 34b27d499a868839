# what: a process that is always another one ends, too
# expect: started
# limits: wall=60000 processes=320
until = time.monotonic() + 12
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for _ in range(20000):
            # The child goes on, the parent is gone.
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                time.sleep(0.01)
            if time.monotonic() > until:
                break
        os._exit(0)
held("moving", "started")
time.sleep(0.3)
