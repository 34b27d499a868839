//! Who bounds the memory of a cage where no group of the kernel's does.
//!
//! The kernel's limit of a process counts what it reserves, too. Programs that are built to find wrong accesses (ASan, TSan)
//! reserve terabytes of addresses and use a few of them, so that they do not start below any such limit. In a tree of its
//! own the first process sees all others of the cage, and ends those that really use too much: it looks so often
//! that little can be taken in between.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::first::Tree;
use super::kernel_limits::Bounds;

/// Who bounds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// A group, of all processes together.
    Group,
    /// The first process of the cage, of each process.
    Watched,
    /// The kernel's limit of each process, where the first process would see the whole machine.
    Limit,
}

impl Memory {
    pub(crate) fn of(tree: &Tree, bounds: Bounds) -> Self {
        match tree {
            _ if bounds.group_of_memory => Self::Group,
            Tree::Own => Self::Watched,
            Tree::Made(_) | Tree::Host(_) => Self::Limit,
        }
    }
}

/// How long nobody looks, at least and at most.
const PAUSE_MIN: Duration = Duration::from_millis(3);
const PAUSE_MAX: Duration = Duration::from_millis(100);
/// Bytes that a process is taken to fill in a millisecond at most; several threads of it at once.
const BYTES_PER_MS: u64 = 8 << 20;

/// Looks at what processes use, and ends those that use too much.
pub(crate) struct Watch {
    bytes_max: u64,
}

impl Watch {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { bytes_max }
    }

    /// Ends every process that uses too much; says how soon to look again.
    pub(crate) fn look(&mut self) -> Duration {
        let mut most = 0;
        let Ok(entries) = fs::read_dir("/proc") else { return PAUSE_MIN };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|it| it.parse().ok()).and_then(Pid::from_raw)
            else {
                continue;
            };
            let used = used(&entry.path());
            if used > self.bytes_max && !is_first(pid) {
                // It may have ended a moment ago.
                let _gone = kill_process(pid, Signal::KILL);
            }
            most = most.max(used);
        }
        let left = self.bytes_max.saturating_sub(most);
        Duration::from_millis(left / BYTES_PER_MS).clamp(PAUSE_MIN, PAUSE_MAX)
    }
}

fn is_first(pid: Pid) -> bool {
    pid == rustix::process::getpid()
}

/// What the process of this folder uses. Its first thread may have ended before the others, and then says nothing.
fn used(process: &Path) -> u64 {
    let of = |at: PathBuf| fs::read_to_string(at.join("status")).ok().and_then(|it| own_bytes(&it));
    let of_threads = || {
        let threads = fs::read_dir(process.join("task")).ok()?;
        threads.filter_map(Result::ok).find_map(|it| of(it.path()))
    };
    of(process.to_owned()).or_else(of_threads).unwrap_or(0)
}

/// What a process uses that is its own, on disk too, without what it shares with files and others.
fn own_bytes(status: &str) -> Option<u64> {
    let kib = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|it| it.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    kib("RssAnon:")?.checked_add(kib("VmSwap:").unwrap_or(0))?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_whose_first_thread_has_ended_uses_what_the_others_use() {
        let dir = tempfile::tempdir().unwrap();
        let write = |at: &str, text: &str| {
            let at = dir.path().join(at);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::io::Write::write_all(&mut fs::File::create(at).unwrap(), text.as_bytes()).unwrap();
        };
        write("status", "Name:\tx\nState:\tZ (zombie)\n");
        write("task/7/status", "Name:\tx\nState:\tZ (zombie)\n");
        assert_eq!(used(dir.path()), 0);
        write("task/9/status", "Name:\tx\nRssAnon:\t 300 kB\n");
        assert_eq!(used(dir.path()), 300 * 1024);
    }

    #[test]
    fn what_a_process_uses_is_what_is_there_and_its_own() {
        let status = "Name:\tx\nVmSize:\t 21474836480 kB\nRssAnon:\t     300 kB\nRssFile:\t 7 kB\n";
        assert_eq!(own_bytes(status), Some(300 * 1024));
        assert_eq!(own_bytes(&format!("{status}VmSwap:\t 200 kB\n")), Some(500 * 1024));
        // Of one that has ended nothing is there any more.
        for gone in ["", "Name:\tx\n", "RssAnon:\n", "RssAnon: many kB\n"] {
            assert_eq!(own_bytes(gone), None, "{gone}");
        }
    }
}
