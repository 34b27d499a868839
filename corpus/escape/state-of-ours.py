# what: our own state is neither read nor written
# expect: ENOENT EACCES EPERM EROFS EXDEV
state = env["STATE"]
attempt("list", lambda: os.listdir(state))
attempt("read", lambda: read(f"{state}/store"))
attempt("write", lambda: write(f"{state}/store", os.O_WRONLY))
attempt("add", lambda: os.close(os.open(f"{state}/new", os.O_WRONLY | os.O_CREAT)))
attempt("remove", lambda: os.unlink(f"{state}/store"))
attempt("move", lambda: os.rename(state, f"{env['WS']}/state"))
