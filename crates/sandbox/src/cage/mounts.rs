//! The file tree inside, put together by the process that will live in it.
//!
//! Everything is opened before the old tree is left, and put in its place by handle: what a path meant when it was
//! looked at is what is mounted.

use std::fs;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags, mkdirat, openat2, statx,
};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
    mount_change, move_mount, open_tree, unmount,
};

use super::belongings;
use super::error::{CageError, Step};
use super::settings::Line;
use super::view::View;
use super::{hosts, sys};

/// Devices that every program expects, as they are outside.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
/// Names that lead to a process' own descriptors.
const DESCRIPTORS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];
/// Where what covers a secret lies, in the tree's own root.
const COVERS: &str = "/.lazaret";
/// Bytes of the root itself: it holds directories and links only.
const ROOT_BYTES: u64 = 1 << 20;
/// Files of a fresh filesystem: one for so many bytes, and so many at least. The kernel's own bound grows with the
/// machine, and an empty file takes memory, too.
const BYTES_PER_FILE: u64 = 4096;
const FILES_MIN: u64 = 4096;
const NO_PRIVILEGE: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID;
const READ_ONLY: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_RDONLY;
const NO_DEVICES: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NODEV;

/// Something that is ready to be put in its place.
struct Ready {
    mount: OwnedFd,
    at: PathBuf,
    is_dir: bool,
}

/// An empty tree, and what is to be put into it.
pub(crate) struct Bare {
    root: OwnedFd,
    all: Vec<Ready>,
    /// Files that are made inside, and what is in them.
    copies: Vec<(PathBuf, Vec<u8>)>,
}

/// Enters an empty tree. The old one lies over its root until [`leave_the_old`], which has to come before anything
/// runs that is not ours: `/..` leads there.
pub(crate) fn begin(view: &View, fresh_bytes: u64) -> Result<Bare, CageError> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .step("keep mounts to ourselves")?;
    // Before anything is hung up over where they lie.
    let copy = |at: &PathBuf| {
        let bytes = belongings::contents(at).step(format!("copy {}", at.display()))?;
        Ok::<_, CageError>((at.clone(), bytes))
    };
    let copies = view.copied.iter().map(copy).collect::<Result<_, _>>()?;
    let all = prepare(view, fresh_bytes)?;
    let root = filesystem("tmpfs", ROOT_BYTES, "755", NO_PRIVILEGE | NO_DEVICES)?;
    enter(&root)?;
    Ok(Bare { root, all, copies })
}

impl Bare {
    /// Puts everything in its place.
    pub(crate) fn furnish(self, view: &View) -> Result<(), CageError> {
        for (at, target) in &view.links {
            symlink(target, at).step(format!("link {}", at.display()))?;
        }
        let covers = Covers::make()?;
        for it in &self.all {
            // What lies beside a socket of ours is ours alone, or its user does not trust it.
            let parent = view.lines.iter().find(|line| line.at == it.at);
            if let Some(parent) = parent.and_then(|line| line.at.parent()) {
                let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
                made.step(format!("make {}", parent.display()))?;
            }
            place(it)?;
        }
        for parent in view.lines.iter().filter_map(|it| it.at.parent()) {
            // Nobody puts another directory in its place.
            keep(parent, READ_ONLY)?;
        }
        for (at, bytes) in &self.copies {
            copy(at, bytes)?;
        }
        for (at, target) in DESCRIPTORS {
            symlink(target, at).step(format!("link {at}"))?;
        }
        // Unless something below it was given.
        if !Path::new("/var/tmp").exists() {
            symlink("/tmp", "/var/tmp").step("link /var/tmp")?;
        }
        narrow(view, &covers)?;
        own_hosts()?;
        sys::restrict_mount(&self.root, u64::from(READ_ONLY.bits()), false)
            .step("make the root read-only")
    }
}

/// Opens everything that is to be seen.
fn prepare(view: &View, fresh_bytes: u64) -> Result<Vec<Ready>, CageError> {
    let hook = hook()?;
    let mut all = vec![
        Ready {
            // The kernel wants to see a whole /proc outside while it makes another: this comes before we leave. As
            // the owner of its files we could write to the machine's settings; read-only, nobody can.
            mount: filesystem("proc", 0, "", NO_PRIVILEGE | NO_DEVICES | READ_ONLY)?,
            at: PathBuf::from("/proc"),
            is_dir: true,
        },
        Ready {
            mount: filesystem("devpts", 0, "600", NO_PRIVILEGE)?,
            at: PathBuf::from("/dev/pts"),
            is_dir: true,
        },
    ];
    for name in DEVICES {
        let at = Path::new("/dev").join(name);
        all.push(bind(&at, NO_PRIVILEGE)?);
    }
    for at in &view.readable {
        all.push(bind(at, NO_PRIVILEGE | NO_DEVICES | READ_ONLY)?);
    }
    for at in &view.writable {
        all.push(bind(at, NO_PRIVILEGE | NO_DEVICES)?);
    }
    for Line { from, at } in &view.lines {
        let socket = bind(from, NO_PRIVILEGE | NO_DEVICES | READ_ONLY)?;
        all.push(Ready { at: at.clone(), ..socket });
    }
    // Last: they are hung up where something that is to be seen may lie.
    let bound = all.len();
    all.extend(fresh(view, fresh_bytes, hook)?);
    // What is fresh comes before what is put into it, what lies deeper later, so that nothing covers it, and what is
    // written after what is read.
    all.rotate_left(bound);
    all.sort_by_key(|it| it.at.components().count());
    Ok(all)
}

/// Any directory will do to hang something up for a moment, in a tree that is left for good.
fn hook() -> Result<&'static str, CageError> {
    let hook = ["/tmp", "/usr", "/etc"].into_iter().find(|it| Path::new(it).is_dir());
    hook.ok_or_else(|| CageError::step("make a tree", "nowhere to hang it up"))
}

/// A part of the outside, with what it must not be used for.
fn bind(at: &Path, attributes: MountAttrFlags) -> Result<Ready, CageError> {
    let step = || format!("show {}", at.display());
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    // Whoever may write above it could put a link there after we have looked.
    let mount = open_tree(open(at)?, "", flags).step(step())?;
    sys::restrict_mount(&mount, u64::from(attributes.bits()), true).step(step())?;
    let stat = rustix::fs::fstat(&mount).step(step())?;
    let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
    Ok(Ready { mount, at: at.to_owned(), is_dir })
}

/// The fresh places: directories of one filesystem, which bounds them together and is made once.
fn fresh(view: &View, bytes: u64, hook: &str) -> Result<Vec<Ready>, CageError> {
    let made = filesystem("tmpfs", bytes, "755", NO_PRIVILEGE | NO_DEVICES)?;
    // What hangs nowhere cannot be shown in parts.
    move_mount(&made, "", CWD, hook, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .step("hang up fresh places")?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let places = ["/var", "/run"].into_iter().map(PathBuf::from).chain(view.fresh.iter().cloned());
    let part = |(number, at): (usize, PathBuf)| {
        let step = || format!("make {}", at.display());
        let name = number.to_string();
        mkdirat(&made, &name, Mode::from_raw_mode(0o755)).step(step())?;
        let mount = open_tree(&made, &name, flags).step(step())?;
        Ok(Ready { mount, at, is_dir: true })
    };
    places.enumerate().map(part).collect()
}

/// A filesystem of the kernel's own, new.
fn filesystem(
    kind: &str,
    bytes: u64,
    mode: &str,
    attributes: MountAttrFlags,
) -> Result<OwnedFd, CageError> {
    let step = || format!("make a {kind}");
    let made = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).step(step())?;
    let set = |key: &str, value: &str| fsconfig_set_string(made.as_fd(), key, value).step(step());
    match kind {
        "tmpfs" => {
            set("size", &bytes.to_string())?;
            set("nr_inodes", &(bytes / BYTES_PER_FILE).max(FILES_MIN).to_string())?;
            set("mode", mode)?;
        }
        "devpts" => {
            set("mode", mode)?;
            set("ptmxmode", "666")?;
        }
        _ => {}
    }
    fsconfig_create(made.as_fd()).step(step())?;
    fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes).step(step())
}

/// Steps over into the new tree.
fn enter(root: &OwnedFd) -> Result<(), CageError> {
    let hook = hook()?;
    move_mount(root, "", CWD, hook, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .step("hang up the tree")?;
    rustix::process::chdir(hook).step("enter the tree")?;
    rustix::process::pivot_root(".", ".").step("change the root")
}

/// Lets the old tree go, which lies over the root: where this process still stands. The kernel takes its time, so that
/// others do their part meanwhile.
pub(crate) fn leave_the_old() -> Result<(), CageError> {
    unmount(".", UnmountFlags::DETACH).step("leave the old tree")?;
    rustix::process::chdir("/").step("enter the tree")
}

/// An empty file and an empty directory that nobody may open: each a mount of its own, to be put over secrets.
struct Covers {
    file: OwnedFd,
    dir: OwnedFd,
}

impl Covers {
    fn make() -> Result<Self, CageError> {
        let (file, dir) = (Path::new(COVERS).join("file"), Path::new(COVERS).join("dir"));
        fs::DirBuilder::new().mode(0o755).create(COVERS).step("make covers")?;
        fs::DirBuilder::new().mode(0o0).create(&dir).step("make covers")?;
        let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o0).open(&file);
        drop(made.step("make covers")?);
        // What they must not be used for is said once: those that are put over secrets have it from these.
        let mounted = |at: &Path| {
            let it = bind(at, NO_PRIVILEGE | NO_DEVICES | READ_ONLY)?;
            move_onto(&it.mount, &open(at)?).step("make covers")?;
            open(at)
        };
        Ok(Self { file: mounted(&file)?, dir: mounted(&dir)? })
    }

    /// Those that were made.
    fn of_this_tree() -> Result<Self, CageError> {
        let at = |name| open(&Path::new(COVERS).join(name));
        Ok(Self { file: at("file")?, dir: at("dir")? })
    }

    fn put_over(&self, at: &Path) -> Result<(), CageError> {
        let step = || format!("cover {}", at.display());
        let to = open(at)?;
        let stat = rustix::fs::fstat(&to).step(step())?;
        let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH;
        let cover = open_tree(if is_dir { &self.dir } else { &self.file }, "", flags);
        move_onto(&cover.step(step())?, &to).step(step())
    }
}

/// The cage has a name of its own, and no one outside knows it: its own list of hosts does.
fn own_hosts() -> Result<(), CageError> {
    let step = "make a list of hosts";
    let (list, at) = (Path::new(COVERS).join("hosts"), Path::new(hosts::LIST));
    // Where the system has none, or a link in its place, its way to find names is another one.
    if !at.symlink_metadata().is_ok_and(|it| it.is_file()) {
        return Ok(());
    }
    let outside = fs::read_to_string(at).unwrap_or_default();
    let mut made =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&list).step(step)?;
    made.write_all(hosts::own(&outside).as_bytes()).step(step)?;
    drop(made);
    let it = bind(&list, NO_PRIVILEGE | NO_DEVICES | READ_ONLY)?;
    move_onto(&it.mount, &open(at)?).step(step)
}

/// Puts one thing in its place.
fn place(it: &Ready) -> Result<(), CageError> {
    let step = || format!("place {}", it.at.display());
    if it.at.symlink_metadata().is_err() {
        let parent = it.at.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).step(step())?;
        if it.is_dir {
            fs::create_dir(&it.at).step(step())?;
        } else {
            fs::OpenOptions::new().write(true).create_new(true).open(&it.at).step(step())?;
        }
    }
    let to = open(&it.at)?;
    move_onto(&it.mount, &to).step(step())
}

/// Makes a file in a fresh place.
fn copy(at: &Path, bytes: &[u8]) -> Result<(), CageError> {
    let step = || format!("copy {}", at.display());
    fs::create_dir_all(at.parent().unwrap_or(Path::new("/"))).step(step())?;
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(at);
    made.step(step())?.write_all(bytes).step(step())
}

fn move_onto(mount: &OwnedFd, to: &OwnedFd) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", to, "", flags)
}

/// A place inside, reached without following any link.
fn open(at: &Path) -> Result<OwnedFd, CageError> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(CWD, at, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
        .step(format!("open {}", at.display()))
}

/// Pins, keeps and covers.
fn narrow(view: &View, covers: &Covers) -> Result<(), CageError> {
    for (list, attributes) in [(&view.pinned, MountAttrFlags::empty()), (&view.kept, READ_ONLY)] {
        for at in list {
            keep(at, attributes)?;
        }
    }
    view.covered.iter().try_for_each(|it| covers.put_over(it))
}

fn keep(at: &Path, attributes: MountAttrFlags) -> Result<(), CageError> {
    let it = bind(at, NO_PRIVILEGE | NO_DEVICES | attributes)?;
    move_onto(&it.mount, &open(at)?).step(format!("keep {}", at.display()))
}

/// Pins, keeps and covers again what has come off. The kernel takes a mount away as soon as somebody outside removes what it
/// lies on, or puts another file in its place, as editors and git do when they write.
pub(crate) fn put_back(view: &View) {
    for (list, attributes) in [(&view.pinned, MountAttrFlags::empty()), (&view.kept, READ_ONLY)] {
        for at in list.iter().filter(|it| has_come_off(it)) {
            // The one outside sees for itself that it was replaced, and tells.
            let _gone_again = keep(at, attributes);
        }
    }
    let mut off = view.covered.iter().filter(|it| has_come_off(it)).peekable();
    if off.peek().is_some()
        && let Ok(covers) = Covers::of_this_tree()
    {
        for at in off {
            let _gone_again = covers.put_over(at);
        }
    }
}

/// Is something there, and nothing of ours over it?
fn has_come_off(at: &Path) -> bool {
    let Ok(fd) = open(at) else { return false };
    let mount_root = StatxAttributes::MOUNT_ROOT;
    statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::empty()).is_ok_and(|it| {
        it.stx_attributes_mask.contains(mount_root) && !it.stx_attributes.contains(mount_root)
    })
}
