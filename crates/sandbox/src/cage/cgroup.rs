//! Limits of all processes of a cage together, where the system has let us have a group of our own.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::kernel_limits::write_existing;
use super::settings::Limits;

/// Where groups are, by custom.
const ROOT: &str = "/sys/fs/cgroup";
/// How the name of a cage's group begins.
const NAME: &str = "lazaret-";
/// The kernel counts processor time in periods of this many microseconds.
const PERIOD_US: u64 = 100_000;
/// How often a group is tried to be taken away: its processes take a moment to be gone.
const REMOVALS_MAX: u32 = 50;
const REMOVAL_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// A group, taken away when this goes.
pub(crate) struct Group {
    dirs: Vec<PathBuf>,
    /// What a new process is born into; the older kind of group has no such thing.
    pub(crate) born_into: Option<OwnedFd>,
    pub(crate) holds_processes: bool,
    /// Where we have gone ourselves, to make room.
    room: Option<Room>,
}

/// A group for this process alone, beside that of the cage: one that hands limits down may hold no process itself.
struct Room {
    parent: PathBuf,
    dir: PathBuf,
}

impl Group {
    /// A group with these limits, or why there is none.
    ///
    /// To put a process into a group of version 1 takes the kernel longer than all the rest of a cage (some 15 ms):
    /// these are only made where nothing else would do.
    pub(crate) fn make(limits: &Limits, is_needed: bool) -> Result<Self, String> {
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let name = format!("{NAME}{}", std::process::id());
        let has_older = older_path(&own, "memory").is_some() && older_path(&own, "pids").is_some();
        Self::unified(&own, &name, limits).or_else(|new| match (has_older, is_needed) {
            (false, _) => Err(new),
            (true, true) => Self::older(&own, &name, limits).map_err(|old| format!("{new}; {old}")),
            (true, false) => {
                Err(format!("{new}; one of version 1 is slow, and made if it is required"))
            }
        })
    }

    /// The one tree of version 2.
    fn unified(own: &str, name: &str, limits: &Limits) -> Result<Self, String> {
        let parent = to_divide(Path::new(ROOT), own)?;
        let told = |what: &str, error: std::io::Error| format!("{what}: {error}");
        sweep(&parent);
        let room = hand_down(&parent)?;
        let dir = parent.join(name);
        fs::create_dir(&dir).map_err(|error| told("make a cgroup", error))?;
        let mut group = Self::at(vec![dir.clone()]);
        group.room = room;
        let set = |file: &str, value: String| {
            write_existing(dir.join(file), &value).map_err(|error| told(file, error))
        };
        set("memory.max", limits.memory_bytes.to_string())?;
        // Swapped out, it would not count.
        let _no_swap_here = set("memory.swap.max", "0".to_owned());
        set("pids.max", limits.processes.to_string())?;
        if let Some(percent) = limits.cpu_percent {
            write_existing(parent.join("cgroup.subtree_control"), "+cpu")
                .map_err(|error| told("hand down cpu", error))?;
            set("cpu.max", format!("{} {PERIOD_US}", quota_us(percent)))?;
        }
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let fd = rustix::fs::open(&dir, flags, Mode::empty()).map_err(|it| it.to_string())?;
        group.born_into = Some(fd);
        Ok(group)
    }

    /// The separate trees of version 1.
    fn older(own: &str, name: &str, limits: &Limits) -> Result<Self, String> {
        let mut group = Self::at(Vec::new());
        let mut wanted = vec![
            ("memory", "memory.limit_in_bytes", limits.memory_bytes.to_string()),
            ("pids", "pids.max", limits.processes.to_string()),
        ];
        // Its period is the same by default.
        let quota = limits.cpu_percent.map(quota_us);
        wanted.extend(quota.map(|it| ("cpu", "cpu.cfs_quota_us", it.to_string())));
        for (controller, file, value) in wanted {
            let path = older_path(own, controller)
                .ok_or_else(|| format!("there is no cgroup for {controller}"))?;
            let parent = Path::new(ROOT).join(controller).join(path);
            sweep(&parent);
            let dir = parent.join(name);
            fs::create_dir(&dir).map_err(|error| format!("make a cgroup: {error}"))?;
            group.dirs.push(dir.clone());
            write_existing(dir.join(file), &value).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(group)
    }

    fn at(dirs: Vec<PathBuf>) -> Self {
        Self { dirs, born_into: None, holds_processes: true, room: None }
    }

    /// Puts a process into it that was not born into it.
    pub(crate) fn take(&self, pid: rustix::process::Pid) -> std::io::Result<()> {
        if self.born_into.is_some() {
            return Ok(());
        }
        let pid = pid.as_raw_nonzero().to_string();
        self.dirs.iter().try_for_each(|it| write_existing(it.join("cgroup.procs"), &pid))
    }

    /// Has the kernel ended processes of it for want of memory?
    pub(crate) fn was_full(&self) -> bool {
        self.dirs.iter().any(|dir| was_full(dir))
    }
}

/// The time of one period that a cage may take, of all processors together.
fn quota_us(percent: u32) -> u64 {
    u64::from(percent) * PERIOD_US / 100
}

fn was_full(dir: &Path) -> bool {
    // Version 2 and version 1 write the same word into different files.
    ["memory.events", "memory.oom_control"].iter().any(|file| {
        let text = fs::read_to_string(dir.join(file)).unwrap_or_default();
        let ended = text.lines().find_map(|it| it.strip_prefix("oom_kill "));
        ended.is_some_and(|it| it.trim() != "0")
    })
}

/// Where we are in the tree of one controller of version 1.
fn older_path<'a>(own: &'a str, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let (names, path) = line.split_once(':')?.1.split_once(":/")?;
        names.split(',').any(|it| it == controller).then_some(path)
    })
}

/// Our own group in the tree of version 2, if memory and processes can be divided there.
fn to_divide(root: &Path, own: &str) -> Result<PathBuf, String> {
    const NONE: &str = "there is no cgroup of version 2";
    let path = own.lines().find_map(|it| it.strip_prefix("0::/")).ok_or(NONE)?;
    let parent = root.join(path);
    let controllers = fs::read_to_string(parent.join("cgroup.controllers")).map_err(|_| NONE)?;
    let there = |wanted: &str| controllers.split_whitespace().any(|it| it == wanted);
    let missing: Vec<&str> = ["memory", "pids"].into_iter().filter(|it| !there(it)).collect();
    match missing.is_empty() {
        true => Ok(parent),
        false => Err(format!("{} not delegated to us; {}", missing.join(" and "), advice())),
    }
}

/// How to be started in a group that is ours to divide.
fn advice() -> &'static str {
    match rustix::process::getuid().is_root() {
        true => "start it in one of its own: systemd-run --scope -p Delegate=yes",
        false => "start it in one of its own: systemd-run --user --scope -p Delegate=yes",
    }
}

/// Lets groups below this one have limits. If this process is the only one in it, it steps aside.
fn hand_down(parent: &Path) -> Result<Option<Room>, String> {
    let control = parent.join("cgroup.subtree_control");
    let told = |error: std::io::Error| format!("hand down memory and pids: {error}");
    match write_existing(&control, HANDED_DOWN) {
        Ok(()) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {}
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(format!("our cgroup is not ours to divide; {}", advice()));
        }
        Err(error) => return Err(told(error)),
    }
    let own = std::process::id().to_string();
    let others = fs::read_to_string(parent.join("cgroup.procs")).map_err(told)?;
    if others.lines().any(|it| it != own) {
        return Err(format!("other processes are in our cgroup, too; {}", advice()));
    }
    let dir = parent.join(format!("{NAME}{own}-self"));
    fs::create_dir(&dir).map_err(told)?;
    let room = Room { parent: parent.to_owned(), dir };
    write_existing(room.dir.join("cgroup.procs"), &own).map_err(told)?;
    write_existing(&control, HANDED_DOWN).map_err(told)?;
    Ok(Some(room))
}

/// What a cage's group is given limits of.
const HANDED_DOWN: &str = "+memory +pids";

impl Drop for Room {
    /// Back to where we were, so that the next cage finds it as this one did.
    fn drop(&mut self) {
        let own = std::process::id().to_string();
        let _kept =
            write_existing(self.parent.join("cgroup.subtree_control"), "-memory -pids -cpu");
        let _kept = write_existing(self.parent.join("cgroup.subtree_control"), "-memory -pids");
        let _kept = write_existing(self.parent.join("cgroup.procs"), &own);
        let _kept = fs::remove_dir(&self.dir);
    }
}

/// Takes away groups whose makers were killed. One that still holds a process stays: the kernel sees to that.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let maker = name
            .to_str()
            .and_then(|it| it.strip_prefix(NAME))
            .map(|it| it.strip_suffix("-self").unwrap_or(it))
            .and_then(|it| it.parse::<u32>().ok());
        if maker.is_some_and(|it| !Path::new("/proc").join(it.to_string()).exists()) {
            let _in_use = fs::remove_dir(entry.path());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for dir in &self.dirs {
            for _ in 0..REMOVALS_MAX {
                match fs::remove_dir(dir) {
                    Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(REMOVAL_PAUSE);
                    }
                    Ok(()) | Err(_) => break,
                }
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "test files need not be atomic")]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_delegated_is_named_with_what_to_do() -> std::io::Result<()> {
        let root = tempfile::tempdir()?;
        let own = "0::/user.slice/a.scope\n";
        let group = root.path().join("user.slice/a.scope");
        assert!(to_divide(root.path(), own).is_err_and(|it| it.contains("no cgroup of version 2")));
        fs::create_dir_all(&group)?;
        for (controllers, missing) in [
            ("", "memory and pids not delegated"),
            ("cpu pids\n", "memory not delegated"),
            ("cpuset memory hugetlb\n", "pids not delegated"),
        ] {
            fs::write(group.join("cgroup.controllers"), controllers)?;
            let why = to_divide(root.path(), own).err().unwrap_or_default();
            assert!(why.starts_with(missing) && why.contains("Delegate=yes"), "{why}");
        }
        fs::write(group.join("cgroup.controllers"), "cpu memory pids\n")?;
        assert_eq!(to_divide(root.path(), own), Ok(group));
        assert!(to_divide(root.path(), "4:memory:/user.slice/a.scope\n").is_err());
        Ok(())
    }

    #[test]
    fn a_tree_of_version_1_is_found_by_its_controller() {
        let own = "5:cpu,cpuacct:/a\n4:memory:/user.slice/b\n1:name=systemd:/c\n0::/d\n";
        assert_eq!(older_path(own, "memory"), Some("user.slice/b"));
        assert_eq!(older_path(own, "cpuacct"), Some("a"));
        assert_eq!(older_path(own, "pids"), None);
        assert_eq!(older_path("0::/d\n", "memory"), None);
    }

    #[test]
    fn that_memory_was_used_up_is_read_from_either_version() -> std::io::Result<()> {
        for (file, text, was) in [
            ("memory.events", "low 0\nmax 12\noom 1\noom_kill 0\noom_group_kill 0\n", false),
            ("memory.events", "max 12\noom 1\noom_kill 3\noom_group_kill 0\n", true),
            ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", false),
            ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", true),
        ] {
            let dir = tempfile::tempdir()?;
            assert!(!was_full(dir.path()));
            fs::write(dir.path().join(file), text)?;
            assert_eq!(was_full(dir.path()), was, "{file}: {text}");
        }
        Ok(())
    }

    #[test]
    fn only_groups_of_makers_that_are_gone_are_swept() -> std::io::Result<()> {
        let parent = tempfile::tempdir()?;
        let own = std::process::id();
        // Above what any kernel gives.
        let gone = u32::MAX;
        let stay = [format!("{NAME}{own}"), format!("{NAME}{own}-self"), "other-1".to_owned()];
        let go = [format!("{NAME}{gone}"), format!("{NAME}{gone}-self")];
        for name in stay.iter().chain(&go) {
            fs::create_dir(parent.path().join(name))?;
        }
        sweep(parent.path());
        assert!(stay.iter().all(|it| parent.path().join(it).exists()));
        assert!(!go.iter().any(|it| parent.path().join(it).exists()));
        Ok(())
    }
}
