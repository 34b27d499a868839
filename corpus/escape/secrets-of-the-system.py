# what: no secret of the system is read, by root neither
# expect: ENOENT EACCES EPERM ENOTDIR
import glob
for path in ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/security/opasswd",
             "/root/.ssh/id_rsa", "/var/lib/private/x", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ed25519_key",
             "/etc/mysql/debian.cnf", "/etc/postfix/sasl_passwd", "/etc/msmtprc", "/etc/sssd/sssd.conf", "/etc/apt/auth.conf",
             "/proc/kcore", "/proc/kmsg", "/proc/self/root/etc/shadow", "/proc/thread-self/cwd/../../../../../etc/shadow"]:
    attempt(path, lambda: read(path))
for path in ["/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d", "/root", "/var/lib/dpkg", "/etc/netplan", "/etc/gitlab-runner"]:
    attempt(f"list {path}", lambda: "seen" if os.listdir(path) else os.open("/nothing/here", 0))
