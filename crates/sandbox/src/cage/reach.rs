//! Directories of a workspace, reached by no link, and opened where a command has closed them to us.
//!
//! A command is the same user as we are. It may take away what we need to look into a directory, and give it back to
//! itself in the next run.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, chmodat, fstat, openat};
use rustix::io::Errno;

/// What the owner of a directory needs in order to see and change it.
const OF_THE_OWNER: Mode = Mode::RWXU;

/// A handle for names below it. Where the kernel has handles that read nothing, no right to read is needed.
#[cfg(target_os = "linux")]
const HANDLE: OFlags = OFlags::PATH.union(OF_DIRECTORIES);
#[cfg(not(target_os = "linux"))]
const HANDLE: OFlags = OFlags::RDONLY.union(OF_DIRECTORIES);
const OF_DIRECTORIES: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A handle on a directory that no link leads to.
///
/// # Errors
/// What the system says. What a command has closed to us is opened before.
pub(crate) fn open_dir(at: &Path) -> io::Result<OwnedFd> {
    match in_one_step(at) {
        Err(Errno::ACCESS) => Ok(name_by_name(at)?),
        opened => Ok(opened?),
    }
}

/// Gives its owner, whom the command is as well, every right on a directory.
///
/// # Errors
/// It is somebody else's.
pub(crate) fn open_up(dir: &OwnedFd) -> io::Result<()> {
    Ok(open_for_owner(dir)?)
}

#[cfg(target_os = "linux")]
fn in_one_step(at: &Path) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    openat2(CWD, at, HANDLE, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// The kernel cannot do it in one step.
#[cfg(not(target_os = "linux"))]
fn in_one_step(at: &Path) -> rustix::io::Result<OwnedFd> {
    name_by_name(at)
}

fn name_by_name(at: &Path) -> rustix::io::Result<OwnedFd> {
    let mut dir = openat(CWD, "/", HANDLE, Mode::empty())?;
    for part in at.components() {
        let name = match part {
            Component::RootDir => continue,
            Component::Normal(name) => name,
            Component::Prefix(_) | Component::CurDir | Component::ParentDir => {
                return Err(Errno::INVAL);
            }
        };
        dir = match openat(&dir, name, HANDLE, Mode::empty()) {
            Err(Errno::ACCESS) => {
                open_below(&dir, name)?;
                openat(&dir, name, HANDLE, Mode::empty())?
            }
            opened => opened?,
        };
    }
    Ok(dir)
}

/// A handle that reads nothing needs no right on the directory itself, only on the one above.
#[cfg(target_os = "linux")]
fn open_below(dir: &OwnedFd, _name: &std::ffi::OsStr) -> rustix::io::Result<()> {
    open_for_owner(dir)
}

#[cfg(not(target_os = "linux"))]
fn open_below(dir: &OwnedFd, name: &std::ffi::OsStr) -> rustix::io::Result<()> {
    let _not_needed = open_for_owner(dir);
    let mode =
        Mode::from_raw_mode(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
    chmodat(dir, name, mode | OF_THE_OWNER, AtFlags::SYMLINK_NOFOLLOW)
}

/// By its handle: whoever puts a link in its place meanwhile opens nothing else by that.
fn open_for_owner(dir: &OwnedFd) -> rustix::io::Result<()> {
    let mode = Mode::from_raw_mode(fstat(dir)?.st_mode);
    if mode.contains(OF_THE_OWNER) {
        return Ok(());
    }
    change(dir, mode | OF_THE_OWNER)
}

/// A handle that reads nothing changes nothing either, but it has a name.
#[cfg(target_os = "linux")]
fn change(dir: &OwnedFd, mode: Mode) -> rustix::io::Result<()> {
    use std::os::fd::AsRawFd;
    chmodat(CWD, format!("/proc/self/fd/{}", dir.as_raw_fd()), mode, AtFlags::empty())
}

#[cfg(not(target_os = "linux"))]
fn change(dir: &OwnedFd, mode: Mode) -> rustix::io::Result<()> {
    rustix::fs::fchmod(dir, mode)
}
