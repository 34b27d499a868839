//! What this machine offers, asked without the code that is tested.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use sandbox::cage::Rung;

/// Who makes the cage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum User {
    /// Whoever runs this test and is root.
    Root,
    /// An ordinary user; as root we become one with this number.
    Ordinary(Option<u32>),
}

impl User {
    /// A command of this user.
    pub(crate) fn command(self, program: &str) -> Command {
        let mut command = Command::new(program);
        if let Self::Ordinary(Some(id)) = self {
            command.uid(id).gid(id);
        }
        command
    }
}

/// Rungs that must hold for this user, because the machine has them.
pub(crate) fn offered(user: User) -> Vec<Rung> {
    let works = |words: &[&str]| {
        let mut command = user.command(words[0]);
        command.args(&words[1..]).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|it| it.success())
    };
    let mut offered = Vec::new();
    let all = ["--user", "--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup", "--fork"];
    if works(&[&["/usr/bin/unshare"], all.as_slice(), &["true"]].concat()) {
        offered.push(Rung::Namespaces);
    }
    // The version of landlock's interface, which is at least 1 where it is switched on.
    let ask = "import ctypes,sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)";
    if works(&["/usr/bin/python3", "-c", ask]) {
        offered.push(Rung::Landlock);
    }
    if works(&["/bin/grep", "-q", "errno", "/proc/sys/kernel/seccomp/actions_avail"]) {
        offered.push(Rung::Seccomp);
    }
    let own = "for c in memory pids; do p=$(sed -n \"s/^[0-9]*:\\([^:]*,\\)\\?$c\\(,[^:]*\\)\\?://p\" \
               /proc/self/cgroup); [ -n \"$p\" ] && [ -w /sys/fs/cgroup/$c$p/cgroup.procs ] || exit 1; done";
    if works(&["/bin/sh", "-c", own]) {
        offered.push(Rung::Cgroup);
    }
    offered
}
