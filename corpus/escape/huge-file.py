# what: one file grows so large and no larger
# expect: EFBIG
# limits: file=4M
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def fill():
    with open("large", "wb") as file:
        for _ in range(8):
            file.write(b"x" * (1 << 20))
            file.flush()
    return "8 MB"


attempt("write", fill)
attempt("grow", lambda: os.truncate("large", 1 << 40))
attempt("reserve", lambda: os.posix_fallocate(os.open("large", os.O_RDWR), 0, 1 << 24))
