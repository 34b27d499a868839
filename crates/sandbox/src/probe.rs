//! What this machine offers for a cage. Pure reads: nothing is started and nothing is made, so that whoever asks changes
//! nothing. What only trying can tell is told by whoever tried.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
#[cfg(target_os = "linux")]
use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};

use crate::audit::{Audit, Status};
#[cfg(target_os = "linux")]
use crate::cage::has_clone3;

/// One thing that a cage can stand on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possibility {
    /// Which.
    pub id: &'static str,
    /// Is it there? `Weak`: a cage does without, with one wall less.
    pub status: Status,
    /// What was seen.
    pub what: String,
    /// What to do; empty if it is there.
    pub advice: &'static str,
}

/// What is asked of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// `/`, or a prepared tree.
    pub root: &'a Path,
    /// Where programs are looked for: the variable `PATH`.
    pub path: Option<&'a OsStr>,
    /// Does root ask? What is forbidden to others is not to it.
    pub as_root: bool,
    /// What came of making a user namespace, if somebody tried.
    pub tried: Option<bool>,
    /// Which version of landlock the kernel has ([`landlock_abi`]).
    pub landlock: Option<i32>,
}

/// All that this system may have, in the order of the ladder.
#[must_use]
pub fn probe(question: &Question<'_>) -> Vec<Possibility> {
    match cfg!(target_os = "linux") {
        true => of_linux(question),
        false => vec![seatbelt(question)],
    }
}

fn of_linux(question: &Question<'_>) -> Vec<Possibility> {
    vec![
        user_namespaces(question),
        landlock(question),
        seccomp(question),
        cgroups(question),
        bubblewrap(question),
    ]
}

/// The newest version of landlock that this project knows what to do with more of: TCP ports.
const LANDLOCK_NETWORK: i32 = 4;

fn user_namespaces(question: &Question<'_>) -> Possibility {
    let setting = |path: &str| {
        let text = fs::read_to_string(question.root.join("proc/sys").join(path)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let there = fs::symlink_metadata(question.root.join("proc/self/ns/user")).is_ok();
    let others = !question.as_root;
    let apparmor = setting("kernel/apparmor_restrict_unprivileged_userns") == Some(1) && others;
    let (status, what, advice) = match question.tried {
        Some(true) => (Status::Pass, "one was made", ""),
        _ if !there => (Status::Fail, "the kernel has none", "use a kernel with CONFIG_USER_NS"),
        _ if setting("user/max_user_namespaces") == Some(0) => {
            (Status::Fail, "none may be made", "sysctl user.max_user_namespaces=10000")
        }
        _ if setting("kernel/unprivileged_userns_clone") == Some(0) && others => {
            (Status::Fail, "only root may make one", "sysctl kernel.unprivileged_userns_clone=1")
        }
        _ if apparmor => (
            Status::Fail,
            "AppArmor takes their capabilities away",
            "give the program an AppArmor profile with `userns,`, or install bubblewrap, which has one",
        ),
        Some(false) => (
            Status::Fail,
            "making one failed, though no setting forbids it",
            "look for a seccomp filter around this process: containers often have one",
        ),
        None => (Status::Pass, "nothing that can be read forbids them", ""),
    };
    Possibility { id: "user_namespaces", status, what: what.to_owned(), advice }
}

fn landlock(question: &Question<'_>) -> Possibility {
    let (status, what, advice) = match question.landlock {
        Some(abi) if abi >= LANDLOCK_NETWORK => (Status::Pass, format!("version {abi}"), ""),
        Some(abi) => (
            Status::Weak,
            format!("version {abi}: files alone"),
            "a kernel of 6.7 or later restricts TCP as well",
        ),
        None => (
            Status::Fail,
            "the kernel has none, or it is not enabled".to_owned(),
            "add landlock to the kernel's lsm= list; kernels have it since 5.13",
        ),
    };
    Possibility { id: "landlock", status, what, advice }
}

fn seccomp(question: &Question<'_>) -> Possibility {
    let actions = question.root.join("proc/sys/kernel/seccomp/actions_avail");
    let actions = fs::read_to_string(actions).unwrap_or_default();
    let has = |wanted: &str| actions.split_whitespace().any(|it| it == wanted);
    let (status, what, advice) = if has("errno") && has("kill_process") {
        (Status::Pass, "filters can be set", "")
    } else {
        (Status::Fail, "the kernel does not filter", "use a kernel with CONFIG_SECCOMP_FILTER")
    };
    Possibility { id: "seccomp", status, what: what.to_owned(), advice }
}

fn cgroups(question: &Question<'_>) -> Possibility {
    const ADVICE: &str = "start it with `systemd-run --user --scope -p Delegate=yes …`; without, \
                          rlimits bound each process for itself";
    const OLDER: &str =
        "boot with cgroups of version 2 alone (`systemd.unified_cgroup_hierarchy=1`)";
    let without = |missing: &[&str]| match missing.is_empty() {
        true => String::new(),
        false => format!(" without {}", missing.join(", ")),
    };
    let (status, what, advice) = match delegated(question.root) {
        Some(missing) if missing.is_empty() && is_shared(question.root) => {
            (Status::Weak, "delegated to us, but other processes are in it, too".to_owned(), ADVICE)
        }
        Some(missing) if missing.is_empty() => (Status::Pass, "delegated to us".to_owned(), ""),
        Some(missing) => (Status::Weak, format!("delegated{}", without(&missing)), ADVICE),
        // A cage says of these that it is slow to make one, and does so where it has to.
        None => match delegated_apart(question.root) {
            Some(missing) => {
                let what = format!("of version 1 alone{}: slow to make", without(&missing));
                (Status::Weak, what, OLDER)
            }
            None => (Status::Weak, "not delegated to us".to_owned(), ADVICE),
        },
    };
    Possibility { id: "cgroups", status, what, advice }
}

/// Our own cgroup of version 2, if we can see it.
fn unified(root: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let path = text.lines().find_map(|it| it.strip_prefix("0::/"))?;
    // Outside of what we can see.
    if path.split('/').any(|it| it == "..") {
        return None;
    }
    Some(root.join("sys/fs/cgroup").join(path))
}

/// Which controllers are missing in our own cgroup, if it is ours to divide.
fn delegated(root: &Path) -> Option<Vec<&'static str>> {
    let own = unified(root)?;
    for file in ["cgroup.procs", "cgroup.subtree_control", ""] {
        access(own.join(file), Access::WRITE_OK).ok()?;
    }
    let controllers = fs::read_to_string(own.join("cgroup.controllers")).ok()?;
    let there = |wanted: &str| controllers.split_whitespace().any(|it| it == wanted);
    Some(["memory", "pids", "cpu"].into_iter().filter(|it| !there(it)).collect())
}

/// Are other processes in our cgroup? Then it cannot be divided: we step aside, but they do not.
fn is_shared(root: &Path) -> bool {
    let Some(own) = unified(root) else { return false };
    // The topmost of all has no type, and may be divided whoever is in it.
    let is_topmost = !own.join("cgroup.type").exists();
    let processes = fs::read_to_string(own.join("cgroup.procs")).unwrap_or_default();
    let ourselves = std::process::id().to_string();
    !is_topmost && processes.lines().any(|it| it != ourselves)
}

/// The same where each controller has a tree of its own, as older systems have it.
fn delegated_apart(root: &Path) -> Option<Vec<&'static str>> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let writable = |controller: &str| {
        let path = text.lines().find_map(|line| {
            let (names, path) = line.split_once(':')?.1.split_once(":/")?;
            names.split(',').any(|it| it == controller).then_some(path)
        });
        path.filter(|it| !it.split('/').any(|it| it == "..")).is_some_and(|path| {
            let own = root.join("sys/fs/cgroup").join(controller).join(path);
            access(own, Access::WRITE_OK).is_ok()
        })
    };
    let missing: Vec<&str> =
        ["memory", "pids", "cpu"].into_iter().filter(|it| !writable(it)).collect();
    (missing.len() < 3).then_some(missing)
}

fn bubblewrap(question: &Question<'_>) -> Possibility {
    let found = program(question.path, &["bwrap"]);
    let (status, what, advice) = match &found {
        Some(path) => (Status::Pass, path.display().to_string(), ""),
        None => (
            Status::Weak,
            "not installed".to_owned(),
            "not needed; where AppArmor restricts user namespaces, `apt install bubblewrap` helps",
        ),
    };
    Possibility { id: "bubblewrap", status, what, advice }
}

/// What a cage of macOS is made of.
#[must_use]
pub fn seatbelt(question: &Question<'_>) -> Possibility {
    let at = question.root.join("usr/bin/sandbox-exec");
    let (status, what, advice) = match fs::metadata(&at) {
        Ok(_) => (Status::Pass, at.display().to_string(), ""),
        Err(error) => (
            Status::Fail,
            format!("`{}`: {error}", at.display()),
            "it is a part of macOS; where neither it nor Linux is, no command is run",
        ),
    };
    Possibility { id: "seatbelt", status, what, advice }
}

/// The first program of one of these names in an absolute directory of `path`.
#[must_use]
pub fn program(path: Option<&OsStr>, names: &[&str]) -> Option<PathBuf> {
    let runs = |it: &PathBuf| {
        fs::metadata(it).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    let dirs: Vec<PathBuf> = std::env::split_paths(path?).filter(|it| it.is_absolute()).collect();
    names.iter().find_map(|name| dirs.iter().map(|it| it.join(name)).find(runs))
}

/// Is this process in a cage of ours? There calls are filtered for good, and the two do not exist whose arguments a filter
/// cannot see, though the kernel has them.
#[cfg(target_os = "linux")]
#[must_use]
pub fn is_in_a_cage(found: &Audit) -> bool {
    let holds =
        |id: &str| found.findings().iter().any(|it| it.id == id && it.status == Status::Pass);
    let open = openat2(CWD, "/", OFlags::PATH, Mode::empty(), ResolveFlags::empty());
    let absent = !has_clone3() && matches!(open, Err(Errno::NOSYS));
    holds("seccomp") && holds("no_new_privs") && absent
}

/// On other systems a cage cannot be told from inside.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_in_a_cage(_found: &Audit) -> bool {
    false
}

/// Which version of landlock the running kernel has; none if it has none or it is not enabled.
#[cfg(target_os = "linux")]
#[must_use]
pub fn landlock_abi() -> Option<i32> {
    /// `LANDLOCK_CREATE_RULESET_VERSION`: asks, and makes nothing.
    const VERSION: libc::c_uint = 1;
    // JUSTIFICATION: the crate `landlock` tells what it can use, and only to who creates a ruleset.
    #[expect(unsafe_code, reason = "a system call that no safe wrapper offers")]
    // SAFETY: with this flag the kernel reads neither of the first two arguments, which must be null and zero.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    i32::try_from(answer).ok().filter(|it| *it > 0)
}

/// Other systems have no landlock.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn landlock_abi() -> Option<i32> {
    None
}
