# what: shared memory, semaphores and queues of the host are not found
# expect: ENOENT EINVAL EACCES EPERM
# expect-host: EPERM EACCES
SHMGET, SHMAT, SEMGET, MSGGET, MQ_OPEN = (29, 30, 64, 68, 240) if X86_64 else (194, 196, 190, 186, 180)
attempt("shared memory", lambda: call(SHMGET, 0x1234567, 16, 0))
attempt("to attach", lambda: call(SHMAT, 987654, 0, 0))
attempt("semaphores", lambda: call(SEMGET, 0x1234567, 1, 0))
attempt("queues", lambda: call(MSGGET, 0x1234567, 0))
attempt("posix queues", lambda: call(MQ_OPEN, b"lazaret-escape-none", 0, 0, 0))
