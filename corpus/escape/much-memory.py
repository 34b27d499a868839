# what: memory is bounded
# expect: ENOMEM SIGKILL
# limits: memory=100M
def act():
    kept = []
    try:
        for _ in range(30):
            kept.append(bytearray(b"x" * 1024) * (10 * 1024))
    except MemoryError:
        os._exit(12)
    os._exit(0)


status = children(act, 1)[0]
if os.WIFSIGNALED(status):
    held("300 MB", signal.Signals(os.WTERMSIG(status)).name)
elif os.WEXITSTATUS(status) == 12:
    held("300 MB", "ENOMEM")
else:
    escaped("took 300 MB")
