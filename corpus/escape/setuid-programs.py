# what: no program runs as somebody else, and none is left that would
# expect: EPERM ENOSYS failed
import shutil
import subprocess
shutil.copyfile("/bin/su" if os.path.exists("/bin/su") else "/bin/sh", "mine")
SET = 0o4755
attempt("chmod", lambda: os.chmod("mine", SET))
for mode in [0o2755, 0o2711, 0o6755, 0o3755]:
    attempt(f"chmod {mode:o}", lambda: os.chmod("mine", mode))
    attempt(f"open {mode:o}", lambda: os.open("new", os.O_WRONLY | os.O_CREAT, mode))


def by_descriptor():
    fd = os.open("mine", os.O_RDONLY)
    os.fchmod(fd, SET)


attempt("fchmod", by_descriptor)
attempt("fchmodat", lambda: call(268 if X86_64 else 53, -100, b"mine", SET))
attempt("fchmodat2", lambda: call(452, -100, b"mine", SET, 0))
attempt("with high bits", lambda: call(268 if X86_64 else 53, -100, b"mine", (1 << 32) | SET))
attempt("open", lambda: os.open("new", os.O_WRONLY | os.O_CREAT, SET))
attempt("a nameless file", lambda: os.open(".", os.O_WRONLY | os.O_TMPFILE, SET))
attempt("mknod", lambda: os.mknod("new", 0o100000 | SET))
if X86_64:
    attempt("the old open", lambda: call(2, b"new", os.O_WRONLY | os.O_CREAT, SET))
    attempt("creat", lambda: call(85, b"new", SET))
    attempt("the old chmod", lambda: call(90, b"mine", SET))
    attempt("the old mknod", lambda: call(133, b"new", 0o100000 | SET, 0))
attempt("openat2", lambda: call(437, -100, b"new", struct.pack("3Q", os.O_WRONLY | os.O_CREAT, SET, 0), 24))
for file in ["mine", "new"]:
    if os.path.exists(file) and os.stat(file).st_mode & 0o6000:
        escaped(f"{file} runs as its owner or group")
for words in [["su", "-c", "id", "nobody"], ["mount", "-t", "tmpfs", "none", env["WS"]], ["sudo", "-n", "true"], ["unshare", "-Ur", "true"], ["nsenter", "-t", "1", "-m", "true"]]:
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        held(words[0], "failed")
        continue
    if done.returncode == 0:
        escaped(f"{words}: {done.stdout}")
    else:
        held(words[0], "failed")
