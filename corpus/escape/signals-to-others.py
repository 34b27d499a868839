# what: no process outside is sent a signal
# expect: ESRCH EPERM
victim = int(env["VICTIM"])
attempt("kill", lambda: os.kill(victim, signal.SIGCONT))
attempt("ask", lambda: os.kill(victim, 0))
attempt("by handle", lambda: signal.pidfd_send_signal(os.pidfd_open(victim), signal.SIGCONT))
attempt("with a value", lambda: call(129 if X86_64 else 138, victim, signal.SIGCONT, ctypes.create_string_buffer(128)))
first = os.getppid()
attempt("the group of the parent", lambda: os.killpg(os.getpgid(first) if first > 1 else victim, signal.SIGCONT))
if first != 1:
    attempt("the parent", lambda: os.kill(first, signal.SIGCONT))
elif os.uname().nodename == "lazaret":
    # Number one inside is not touched by what it has not asked for: we are still here afterwards.
    for number in [signal.SIGKILL, signal.SIGTERM]:
        try:
            os.kill(1, number)
        except PermissionError:
            pass
    time.sleep(0.1)
