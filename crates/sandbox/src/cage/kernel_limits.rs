//! Limits of a whole namespace, which the kernel is told in its files, and limits in words.

use super::ladder::Hold;
use super::settings::Limits;

/// Where the number of processes in a namespace is bounded.
const PID_MAX: &str = "/proc/sys/kernel/pid_max";
/// The Linux since which it is a namespace's own. Before, it is the whole machine's, and root may write it from within a
/// namespace, too.
const PID_MAX_OWN_SINCE: (u32, u32) = (6, 14);
/// The smallest number that the kernel takes there.
const PID_MAX_MIN: u32 = 301;

/// Bounds the processes of a namespace that this process is the first of. The limit of the user does not hold for
/// root, this one does.
pub(crate) fn processes(limits: &Limits) -> bool {
    let wanted = limits.processes.max(PID_MAX_MIN);
    pid_max_is_own() && write_existing(PID_MAX, &wanted.to_string()).is_ok()
}

/// Does nothing but a cgroup bound the number of our processes?
pub(crate) fn need_a_group() -> bool {
    rustix::process::getuid().is_root() && !pid_max_is_own()
}

fn pid_max_is_own() -> bool {
    let system = rustix::system::uname();
    version(&system.release().to_string_lossy()).is_some_and(|it| it >= PID_MAX_OWN_SINCE)
}

/// The first two numbers of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|it: char| !it.is_ascii_digit());
    let mut next = || numbers.next().and_then(|it| it.parse().ok());
    Some((next()?, next()?))
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

/// What bounds processes and memory, which is not the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// A group bounds the number of processes.
    pub(crate) group_of_processes: bool,
    /// The namespace does.
    pub(crate) namespace: bool,
    /// A group bounds memory, all of it.
    pub(crate) group_of_memory: bool,
}

/// In words: only what holds.
pub(crate) fn told(limits: &Limits, bounds: Bounds) -> Hold {
    told_to(rustix::process::getuid().is_root(), limits, bounds)
}

fn told_to(is_root: bool, limits: &Limits, bounds: Bounds) -> Hold {
    let processes = match (is_root, bounds.group_of_processes, bounds.namespace) {
        // The limit of the user.
        (false, _, _) | (true, true, _) => limits.processes,
        // For root the kernel takes no smaller one.
        (true, false, true) => limits.processes.max(PID_MAX_MIN),
        (true, false, false) => {
            let why = "nothing but a cgroup limits the number of root's processes here";
            return Hold::Missing(why.to_owned());
        }
    };
    let (files, mib) = (limits.open_files, limits.memory_bytes >> 20);
    let memory = match bounds.group_of_memory {
        true => String::new(),
        false => format!(
            ", {mib} MiB of memory of each process; what processes share and all of it together is not bounded"
        ),
    };
    Hold::Held(format!("{processes} processes, {files} open files{memory}"))
}

/// Writes to a file of the kernel's.
pub(crate) fn write_existing(at: impl AsRef<std::path::Path>, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().write(true).open(at)?;
    // In one piece: the kernel reads what one write brings.
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_is_told() {
        let limits = Limits { processes: 10, ..Limits::default() };
        let none = Bounds { group_of_processes: false, namespace: false, group_of_memory: false };
        let said = |is_root, bounds| match told_to(is_root, &limits, bounds) {
            Hold::Held(how) => how,
            Hold::Missing(why) => format!("no: {why}"),
        };
        assert!(said(false, none).starts_with("10 processes, 4096 open files, 4096 MiB of"));
        assert!(said(false, none).contains("share"), "{}", said(false, none));
        assert!(said(true, none).starts_with("no: nothing but a cgroup"));
        // The least that a namespace takes.
        assert!(said(true, Bounds { namespace: true, ..none }).starts_with("301 processes"));
        let group = Bounds { group_of_processes: true, group_of_memory: true, ..none };
        assert_eq!(said(true, group), "10 processes, 4096 open files");
    }

    #[test]
    fn a_setting_of_the_whole_machine_is_left_alone() {
        let is_own = |release: &str| version(release).is_some_and(|it| it >= PID_MAX_OWN_SINCE);
        for release in ["6.14.0", "6.14-rc1", "6.18.44-generic", "7.0.0", "10.1"] {
            assert!(is_own(release), "{release}");
        }
        // What cannot be read is taken to be old.
        for release in [
            "6.1.0-54-amd64",
            "6.12.107+deb13-amd64",
            "6.2",
            "2.6.140",
            "",
            "6",
            "six.14",
            "99999999999.1",
        ] {
            assert!(!is_own(release), "{release}");
        }
    }
}
