//! Limits of a whole namespace, which the kernel is told in its files, and limits in words.

use super::ladder::Hold;
use super::settings::Limits;

/// Where the number of processes in a namespace is bounded, since Linux 6.14.
const PID_MAX: &str = "/proc/sys/kernel/pid_max";
/// The smallest number that the kernel takes there.
const PID_MAX_MIN: u32 = 301;

/// Bounds the processes of a namespace that this process is the first of. The limit of the user does not hold for
/// root, this one does.
pub(crate) fn processes(limits: &Limits) -> bool {
    let before = std::fs::read_to_string(PID_MAX);
    let wanted = limits.processes.max(PID_MAX_MIN);
    let wrote = write_existing(PID_MAX, &wanted.to_string());
    // On older kernels this file is the whole machine's, and a namespace has no right to it.
    before.is_ok() && wrote.is_ok()
}

/// Leaves half of what the user may watch to everybody outside: the kernel counts watches of a user, wherever they are.
/// Only in a namespace of users of its own.
pub(crate) fn watches() {
    for what in ["instances", "watches"] {
        let all = std::fs::read_to_string(format!("/proc/sys/fs/inotify/max_user_{what}"));
        let most = all.ok().and_then(|it| it.trim().parse::<u32>().ok());
        let at = format!("/proc/sys/user/max_inotify_{what}");
        // On a kernel without it there is nothing to use up.
        let _not_there = most.map(|it| write_existing(&at, &(it / 2).to_string()));
    }
}

/// In words.
pub(crate) fn told(limits: &Limits, processes_are_held: bool) -> Hold {
    let files = limits.open_files;
    if rustix::process::getuid().is_root() && !processes_are_held {
        return Hold::Missing("the number of processes is not limited for root".to_owned());
    }
    Hold::Held(format!("{} processes, {files} open files", limits.processes))
}

/// Writes to a file of the kernel's.
pub(crate) fn write_existing(at: impl AsRef<std::path::Path>, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().write(true).open(at)?;
    // In one piece: the kernel reads what one write brings.
    file.write_all(text.as_bytes())
}
