# what: settings of the kernel are not opened for writing
# expect: EROFS EACCES ENOENT EPERM EISDIR
# Nothing is written, even where it could be.
for path in ["/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
             "/proc/sys/kernel/pid_max", "/proc/sys/user/max_user_namespaces", "/proc/sys/vm/drop_caches", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/fs/binfmt_misc/register",
             "/proc/irq/default_smp_affinity", "/proc/mtrr", "/proc/1/oom_score_adj", "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups",
             "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/module/apparmor/parameters/mode", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs",
             "/sys/fs/cgroup/pids/cgroup.procs", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/release_agent", "/sys/kernel/debug", "/sys/firmware/efi/efivars"]:
    attempt(path, lambda: os.open(path, os.O_WRONLY))
for path in ["/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/kernel/debug", "/sys/fs/cgroup/pids"]:
    attempt(f"add to {path}", lambda: os.mkdir(f"{path}/lazaret-escape"))
