# What every attempt begins with. It runs inside the cage only; see README.md.
import ctypes
import errno
import os
import signal
import socket
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
env = os.environ


def held(what, why):
    print(f"held {what}: {why}", flush=True)


def escaped(what):
    print(f"ESCAPED {what}", flush=True)


def name(error):
    if isinstance(error, TimeoutError) and error.errno is None:
        return "TIMEOUT"
    if isinstance(error, MemoryError):
        return "ENOMEM"
    if isinstance(error, OSError):
        return errno.errorcode.get(error.errno, str(error.errno))
    return type(error).__name__


def attempt(what, act):
    """Whatever `act` brings back is an escape; an error is what is expected."""
    try:
        got = act()
    except (OSError, MemoryError) as error:
        held(what, name(error))
    else:
        # How much, and not what: a secret that was read is not shown by the test either.
        escaped(f"{what}: {len(got)} bytes" if isinstance(got, bytes) else f"{what}: {got!r:.100}")


def call(number, *args):
    """A raw system call."""
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(number), *[it if isinstance(it, (bytes, ctypes._SimpleCData, ctypes.Array, ctypes.Structure)) else ctypes.c_long(it) for it in args])
    if got == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return got


def read(path):
    with open(path, "rb") as file:
        return file.read(4096)


def write(path, flags=os.O_WRONLY | os.O_CREAT):
    fd = os.open(path, flags, 0o644)
    os.write(fd, b"written from inside\n")
    os.close(fd)
    return path


def children(act, count):
    """The same in a number of processes; returns how they ended."""
    started = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            try:
                act()
            finally:
                os._exit(1)
        started.append(pid)
    return [os.waitpid(pid, 0)[1] for pid in started]


X86_64 = os.uname().machine == "x86_64"
