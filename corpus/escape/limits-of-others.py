# what: limits, priority and processors of processes outside are not changed
# expect: ESRCH EPERM
victim = int(env["VICTIM"])
import resource
attempt("limits", lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (64, 64)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
if os.getppid() != 1:
    attempt("priority of the user", lambda: os.setpriority(os.PRIO_USER, os.getuid(), 0))
    attempt("priority of a group", lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(os.getppid()), 19))
attempt("processors", lambda: os.sched_setaffinity(victim, {0}))
attempt("scheduler", lambda: os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0)))
attempt("priority of its reading", lambda: call(251 if X86_64 else 30, 1, victim, 3 << 13))
