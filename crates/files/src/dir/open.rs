//! Opening beneath a handle: by the kernel in one step where it can, else name by name, each below the
//! handle of the one before, which comes to the same, for links are refused everywhere.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::DirError;
use crate::Relative;

/// How often it is tried again when the kernel saw a rename on its way.
const TRIES_MAX: usize = 8;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens what is there. It is never made.
pub(super) fn beneath(base: &OwnedFd, path: &Relative, flags: OFlags) -> Result<OwnedFd, DirError> {
    resolve(base.as_fd(), path, flags).map_err(|error| DirError::of(path, error))
}

/// Opens a folder.
pub(super) fn folder(base: &OwnedFd, path: &Relative) -> Result<OwnedFd, DirError> {
    match resolve(base.as_fd(), path, FOLDER) {
        // The last name is a link, or what it leads over: both say so.
        Err(Errno::NOTDIR) if is_link(base, path) => Err(DirError::IsLink { path: path.clone() }),
        fd => fd.map_err(|error| DirError::of(path, error)),
    }
}

/// Only to say it better; nothing is decided by it.
fn is_link(base: &OwnedFd, path: &Relative) -> bool {
    let found = rustix::fs::statat(base, path.as_str(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    let kind = found.map(|it| rustix::fs::FileType::from_raw_mode(it.st_mode));
    kind.is_ok_and(|it| it.is_symlink())
}

/// Set once the kernel has said that it has no `openat2`, or somebody forbids it.
static BY_NAMES: AtomicBool = AtomicBool::new(!cfg!(target_os = "linux"));

fn resolve(base: BorrowedFd<'_>, path: &Relative, flags: OFlags) -> Result<OwnedFd, Errno> {
    if !BY_NAMES.load(Ordering::Relaxed) {
        match at_once(base, path, flags) {
            // Filters of system calls answer with either.
            Err(Errno::NOSYS | Errno::PERM) => BY_NAMES.store(true, Ordering::Relaxed),
            found => return found,
        }
    }
    by_names(base, path, flags)
}

#[cfg(target_os = "linux")]
fn at_once(base: BorrowedFd<'_>, path: &Relative, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let name = if path.as_str().is_empty() { "." } else { path.as_str() };
    let mut tries = 0;
    loop {
        match openat2(base, name, flags, Mode::empty(), how) {
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES_MAX => tries += 1,
            found => return found,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn at_once(base: BorrowedFd<'_>, path: &Relative, flags: OFlags) -> Result<OwnedFd, Errno> {
    by_names(base, path, flags)
}

/// INVARIANT (Confined): a [`Relative`] has no `..`, and none of its names is followed if it is a link.
fn by_names(base: BorrowedFd<'_>, path: &Relative, flags: OFlags) -> Result<OwnedFd, Errno> {
    let open = |at: BorrowedFd<'_>, name: &str, flags: OFlags| {
        let mut tries = 0;
        loop {
            match rustix::fs::openat(at, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
                Err(Errno::INTR) if tries < TRIES_MAX => tries += 1,
                found => return found,
            }
        }
    };
    let Some((folder, last)) = path.split_last() else { return open(base, ".", flags) };
    let mut at: Option<OwnedFd> = None;
    for name in folder.names() {
        let next = open(at.as_ref().map_or(base, AsFd::as_fd), name, FOLDER)?;
        at = Some(next);
    }
    open(at.as_ref().map_or(base, AsFd::as_fd), last, flags)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn both_ways_open_the_same_and_refuse_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("base");
        fs::create_dir_all(base.join("a/b")).unwrap();
        fs::File::create(base.join("a/b/f")).unwrap();
        fs::File::create(dir.path().join("out")).unwrap();
        symlink("..", base.join("up")).unwrap();
        symlink("/", base.join("root")).unwrap();
        symlink("a", base.join("inside")).unwrap();
        symlink("../out", base.join("file")).unwrap();
        let base = fs::File::open(&base).unwrap();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        for (path, opens) in [
            (".", true),
            ("a", true),
            ("a/b/f", true),
            ("a/x", false),
            ("a/b/f/x", false),
            ("up/out", false),
            ("root/etc/passwd", false),
            ("inside/b/f", false),
            ("inside", false),
            ("file", false),
        ] {
            let path = Relative::parse(path).unwrap();
            let one = at_once(base.as_fd(), &path, flags);
            let other = by_names(base.as_fd(), &path, flags);
            assert_eq!((one.is_ok(), other.is_ok()), (opens, opens), "{path}: {one:?} {other:?}");
        }
    }
}
