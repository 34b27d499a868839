//! Where worlds are made. Each has some six hundred files and links, and a disk takes most of the time of this program to
//! make and remove them. So where root may, most of them lie in memory, below the same directories; some stay on the disk.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Set where this program runs with its worlds in memory.
const IN_MEMORY: &str = "ESCAPE_IN_MEMORY";
/// Both are fresh inside, and what lies below them is a place like any other.
const ABOVE: [&str; 2] = ["/tmp", "/var/tmp"];
/// One world of so many lies on the disk all the same.
const ON_DISK_EVERY: u32 = 16;

/// Runs this program once more with these arguments, in a namespace of mounts in which there is room in memory; gives how it
/// ended. None if it runs there already, or cannot.
pub(crate) fn run_there(args: &[String]) -> Option<i32> {
    if std::env::var_os(IN_MEMORY).is_some() || !rustix::process::getuid().is_root() {
        return None;
    }
    let name = format!("escape-in-memory-{}", std::process::id());
    let dirs = ABOVE.map(|it| Path::new(it).join(&name));
    for it in &dirs {
        std::fs::create_dir(it).unwrap();
    }
    let script = "mount -t tmpfs -o mode=755 none \"$1\" && mount -t tmpfs -o mode=755 none \"$2\" || exit 77
        shift 2; exec \"$0\" \"$@\"";
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["-m", "--propagation", "private", "/bin/sh", "-c", script]);
    command.arg(std::env::current_exe().unwrap()).args(&dirs).args(args);
    let ended = command.env(IN_MEMORY, &name).status();
    for it in &dirs {
        let _not_empty = std::fs::remove_dir(it);
    }
    // Where nothing can be mounted, the disk has to do.
    ended.ok().and_then(|it| it.code()).filter(|it| *it != 77)
}

/// Where the world of this number is made.
pub(crate) fn place(number: u32) -> PathBuf {
    let above = Path::new(ABOVE[usize::from(!number.is_multiple_of(2))]);
    match std::env::var_os(IN_MEMORY) {
        Some(name) if !number.is_multiple_of(ON_DISK_EVERY) => above.join(name),
        Some(_) | None => above.to_owned(),
    }
}
