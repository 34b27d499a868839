# what: what the user may watch is not used up
# expect: EMFILE left
# on: namespaces
# The kernel counts watches of a user on the whole machine.
with open("/proc/sys/fs/inotify/max_user_instances") as file:
    most = int(file.read())
made = 0
try:
    while made < most:
        libc.inotify_init1(0) >= 0 or os.open("/proc/self/nothing", 0)
        made += 1
except OSError:
    pass
if env["LADDER"] == "bubblewrap" or made <= most // 2:
    held("watches", "left")
else:
    escaped(f"{made} of {most} watches were taken")
