"""Stands between a client and a server on stdio and writes down every line: `> ` from the client, `< ` to it.

    tap.py FILE -- COMMAND...
"""
import subprocess
import sys
import threading

record = open(sys.argv[1], "ab", buffering=0)
lock = threading.Lock()
child = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def copy(mark, source, target):
    for line in source:
        with lock:
            record.write(mark + line)
        try:
            target.write(line)
            target.flush()
        except (BrokenPipeError, ValueError):
            break
    try:
        target.close()
    except BrokenPipeError:
        pass


back = threading.Thread(target=copy, args=(b"< ", child.stdout, sys.stdout.buffer))
back.start()
copy(b"> ", sys.stdin.buffer, child.stdin)
back.join()
sys.exit(child.wait())
