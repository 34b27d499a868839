//! Reads what there is to read below a root. Nothing here judges, and nothing here fails: what is not there is `None`.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::namespaces::{Namespace, Own, Seen, whose};
use super::process::{Limits, Process};

/// No file here is longer; of one that is, nothing is believed.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// So many interfaces are looked at.
const INTERFACES_MAX: usize = 256;

/// Something that says that this is a container. Anybody can say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// What was found: a file, a variable, a word.
    pub seen: &'static str,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The process's own status.
    pub process: Process,
    /// Whose each namespace is.
    pub namespaces: Vec<(Namespace, Own)>,
    /// What says that this is a container.
    pub markers: Vec<Marker>,
    /// Is the root of all paths read-only?
    pub readonly_root: Option<bool>,
    /// Bounds on what is used.
    pub limits: Limits,
    /// The security modules of the kernel, if it says which.
    pub modules: Option<Vec<String>>,
    /// How a security module confines the process, in its own words: `docker-default (enforce)`.
    pub label: Option<String>,
}

impl Facts {
    /// Reads below `root`.
    #[must_use]
    pub fn read(root: &Path, variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = |path: &str| read(&root.join(path));
        let cgroup = text("proc/self/cgroup");
        let limits = Limits::parse(&text("proc/self/limits").unwrap_or_default());
        let modules = text("sys/kernel/security/lsm");
        let modules = modules.map(|it| it.trim().split(',').map(str::to_owned).collect());
        Self {
            process: Process::parse(&text("proc/self/status").unwrap_or_default()),
            namespaces: namespaces(root),
            markers: markers(root, cgroup.as_deref(), variable),
            readonly_root: text("proc/self/mountinfo").and_then(|it| readonly_root(&it)),
            limits: bounded_by_cgroup(limits, root, cgroup.as_deref()),
            modules,
            label: text("proc/self/attr/current")
                .map(|it| it.trim_matches(['\0', '\n', ' ']).to_owned())
                .filter(|it| !it.is_empty()),
        }
    }

    /// Whose a namespace is.
    #[must_use]
    pub fn whose(&self, kind: Namespace) -> Own {
        let found = self.namespaces.iter().find(|it| it.0 == kind);
        found.map_or(Own::Unknown, |it| it.1)
    }
}

fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    // A pipe that somebody put there is not waited for.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    let whole = u64::try_from(bytes.len()).is_ok_and(|it| it <= FILE_BYTES_MAX);
    whole.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn namespaces(root: &Path) -> Vec<(Namespace, Own)> {
    let link = |process: &str, kind: Namespace| {
        let path = root.join("proc").join(process).join("ns").join(kind.as_str());
        std::fs::read_link(path).ok().map(|it| it.to_string_lossy().into_owned())
    };
    let paired = paired(root);
    let judge = |kind: Namespace, pid_is_own: bool| {
        let (own, first) = (link("self", kind), link("1", kind));
        whose(kind, &Seen { own: own.as_deref(), first: first.as_deref(), paired }, pid_is_own)
    };
    let pid_is_own = judge(Namespace::Pid, false) == Own::Yes;
    Namespace::ALL.map(|kind| (kind, judge(kind, pid_is_own))).to_vec()
}

/// Is every interface but `lo` the end of a pair that has its other end elsewhere?
fn paired(root: &Path) -> Option<bool> {
    let devices = read(&root.join("proc/self/net/dev"))?;
    let names = devices.lines().skip(2).filter_map(|it| it.split_once(':')).map(|it| it.0.trim());
    let mut all = true;
    for name in names.filter(|it| *it != "lo").take(INTERFACES_MAX) {
        let number = |file: &str| -> Option<u64> {
            // A name of an interface has neither `/` nor is it `..`; this text need not be the kernel's.
            let plain = !name.contains('/') && !matches!(name, "" | "." | "..");
            let path = root.join("sys/class/net").join(name).join(file);
            plain.then(|| read(&path)?.trim().parse().ok())?
        };
        all &= number("iflink")? != number("ifindex")?;
    }
    Some(all)
}

/// INVARIANT: these are words and never a reason to believe in a wall.
fn markers(
    root: &Path,
    cgroup: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<Marker> {
    const FILES: &[&str] = &["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
    const WORDS: &[&str] = &["docker", "kubepods", "containerd", "libpod", "lxc", "garden"];
    const VARIABLES: &[&str] = &["KUBERNETES_SERVICE_HOST", "container", "CONTAINER_RUNTIME"];
    let there = |path: &str| {
        let found = std::fs::symlink_metadata(root.join(path.trim_start_matches('/')));
        found.is_ok_and(|it| it.is_file())
    };
    let files = FILES.iter().filter(|it| there(it));
    let words = WORDS.iter().filter(|it| cgroup.is_some_and(|text| text.contains(**it)));
    let variables = VARIABLES.iter().filter(|it| variable(it).is_some_and(|it| !it.is_empty()));
    files.chain(words).chain(variables).map(|seen| Marker { seen }).collect()
}

/// What the last mount at `/` says: it lies above the others.
///
/// `36 35 98:0 /root / rw,noatime shared:1 - ext3 /dev/root rw,errors=continue`
fn readonly_root(mountinfo: &str) -> Option<bool> {
    let mut found = None;
    for line in mountinfo.lines() {
        let mut fields = line.split(' ').skip(4);
        let (Some("/"), Some(of_mount)) = (fields.next(), fields.next()) else { continue };
        // Before the dash stand any number of fields; behind it type, source and the options of the file system.
        let of_system = fields.skip_while(|it| *it != "-").nth(3).unwrap_or_default();
        let readonly = |options: &str| options.split(',').any(|it| it == "ro");
        found = Some(readonly(of_mount) || readonly(of_system));
    }
    found
}

fn bounded_by_cgroup(limits: Limits, root: &Path, cgroup: Option<&str>) -> Limits {
    let Some(cgroup) = cgroup else { return limits };
    // `0::/path` is the one hierarchy; `4:memory:/path` is one of the older many.
    let of = |wanted: &str| {
        cgroup.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, names, path) = (fields.next()?, fields.next()?, fields.next()?);
            let found = if wanted.is_empty() {
                names.is_empty()
            } else {
                names.split(',').any(|it| it == wanted)
            };
            found
                .then(|| path.trim_start_matches('/'))
                .filter(|it| !it.split('/').any(|it| it == ".."))
        })
    };
    let value = |wanted: &str, mount: &str, file: &str| {
        let path = of(wanted)?;
        let base = root.join(mount);
        // In a cgroup namespace the path begins at the mount; without one the mount may be what the path names.
        read(&base.join(path).join(file)).or_else(|| read(&base.join(file)))
    };
    let pids = value("", "sys/fs/cgroup", "pids.max")
        .or_else(|| value("pids", "sys/fs/cgroup/pids", "pids.max"));
    let memory = value("", "sys/fs/cgroup", "memory.max")
        .or_else(|| value("memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes"));
    limits.and_cgroup(pids.as_deref(), memory.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_at_the_root_counts() {
        let rw = "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw";
        let ro = "9 1 0:50 / / ro,relatime shared:1 master:2 - overlay overlay rw,lowerdir=/a";
        let system = "9 1 0:50 / / rw - erofs /dev/loop0 ro";
        assert_eq!(readonly_root(rw), Some(false));
        assert_eq!(readonly_root(&format!("{rw}\n{ro}\n")), Some(true));
        assert_eq!(readonly_root(&format!("{ro}\n{rw}\n")), Some(false));
        assert_eq!(readonly_root(system), Some(true));
        assert_eq!(readonly_root("9 1 0:50 / /ro ro - x x ro\n"), None);
        assert_eq!(readonly_root("errors=remount-ro"), None);
        assert_eq!(readonly_root("1 0 8:1 / / rw,errors=remount-ro - ext4 a rw"), Some(false));
    }
}
