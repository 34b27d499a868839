//! Removing all of what somebody else filled: folders that were closed, deep ones, links that lead away.
//!
//! INVARIANT (Confined): every name is taken below the handle of the folder in which it was found, and no link is followed.
//! A folder that lies deeper than one step is first moved up to the top of what goes away: so two handles are enough,
//! however deep somebody built.
//!
//! Threat: a command closes its folders (`chmod 0`), and whoever has to remove them, to delete an account or to begin at
//! all, cannot.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

/// Names of one folder that are held at once.
const NAMES_AT_ONCE_MAX: usize = if cfg!(test) { 64 } else { 4096 };
/// Entries of one tree that are removed. Whoever makes more meanwhile is not followed for ever.
const ENTRIES_MAX: u64 = 100_000_000;
/// Names that are tried for a folder that is moved up.
const NAME_TRIES_MAX: u32 = 1000;

/// Removes what is at `path`, a folder with all that is in it, and gives how many entries lay beneath it. Nothing is
/// there: nothing is done. A link at `path` goes itself; links on the way to it are the host's own.
///
/// It goes on where something stays, so that as little as possible does.
///
/// # Errors
/// If something of it is still there.
pub fn remove_tree(path: &Path) -> io::Result<u64> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no name"));
    };
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = match rustix::fs::open(parent, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(0),
        parent => parent?,
    };
    let mut removal = Removal::default();
    if is_folder(parent.as_fd(), name)? == Some(true) {
        let top = open_up(parent.as_fd(), name)?;
        removal.empty(top.as_fd())?;
        unlink(parent.as_fd(), name, AtFlags::REMOVEDIR)?;
    } else {
        unlink(parent.as_fd(), name, AtFlags::empty())?;
    }
    Ok(removal.removed)
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// One tree that goes away.
#[derive(Default)]
struct Removal {
    removed: u64,
    moved: u32,
}

impl Removal {
    /// Removes everything in `top`.
    fn empty(&mut self, top: BorrowedFd<'_>) -> io::Result<()> {
        loop {
            let (before, mut failed) = (self.removed, None);
            let names = names(top)?;
            if names.is_empty() {
                return Ok(());
            }
            for name in &names {
                if let Err(error) = self.take(top, name) {
                    failed = failed.or(Some(error));
                }
            }
            if self.removed > ENTRIES_MAX {
                return Err(io::Error::other(format!("there are more than {ENTRIES_MAX} entries")));
            }
            if self.removed == before {
                let error = failed.unwrap_or_else(|| io::ErrorKind::DirectoryNotEmpty.into());
                return Err(error);
            }
        }
    }

    /// Removes one entry of `top`. The folders in a folder are moved up, and are met there.
    fn take(&mut self, top: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        match is_folder(top, name)? {
            None => return Ok(()),
            Some(false) => unlink(top, name, AtFlags::empty())?,
            Some(true) => {
                let folder = open_up(top, name)?;
                loop {
                    let names = names(folder.as_fd())?;
                    if names.is_empty() {
                        break;
                    }
                    for name in &names {
                        self.lift(top, folder.as_fd(), name)?;
                    }
                }
                unlink(top, name, AtFlags::REMOVEDIR)?;
            }
        }
        self.removed = self.removed.saturating_add(1);
        Ok(())
    }

    /// Takes an entry out of a folder of `top`: it is removed, or moved up if it is a folder.
    fn lift(
        &mut self,
        top: BorrowedFd<'_>,
        folder: BorrowedFd<'_>,
        name: &OsStr,
    ) -> io::Result<()> {
        match is_folder(folder, name)? {
            None => Ok(()),
            Some(false) => {
                unlink(folder, name, AtFlags::empty())?;
                self.removed = self.removed.saturating_add(1);
                Ok(())
            }
            Some(true) => {
                // Only an open folder can be moved: the way up is written in it.
                drop(open_up(folder, name)?);
                self.move_up(top, folder, name)
            }
        }
    }

    fn move_up(
        &mut self,
        top: BorrowedFd<'_>,
        folder: BorrowedFd<'_>,
        name: &OsStr,
    ) -> io::Result<()> {
        for _ in 0..NAME_TRIES_MAX {
            self.moved = self.moved.wrapping_add(1);
            let new = format!(".going-{:08x}", self.moved);
            match rustix::fs::renameat_with(folder, name, top, &new, RenameFlags::NOREPLACE) {
                // Somebody has this name there already, or had it.
                Err(Errno::EXIST | Errno::INTR) => {}
                Err(Errno::NOENT) => return Ok(()),
                moved => return Ok(moved?),
            }
        }
        Err(io::Error::other("no name is free"))
    }
}

/// Is it a folder? None if it is gone.
fn is_folder(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<bool>> {
    match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        found => Ok(Some(FileType::from_raw_mode(found?.st_mode).is_dir())),
    }
}

/// Opens a folder that may be closed to us, and opens it up. What was found there is what is changed: a link that takes
/// its place meanwhile is none.
fn open_up(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let open = || rustix::fs::openat(at, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
    let is_open = |fd: &OwnedFd| {
        rustix::fs::fstat(fd).is_ok_and(|it| Mode::from_raw_mode(it.st_mode).contains(Mode::RWXU))
    };
    match open() {
        Ok(fd) if is_open(&fd) => return Ok(fd),
        Ok(fd) => {
            // Whoever may write all the same goes on.
            let _not_ours = rustix::fs::fchmod(&fd, Mode::RWXU);
            return Ok(fd);
        }
        Err(Errno::ACCESS) => open_closed(at, name)?,
        Err(error) => return Err(error.into()),
    }
    Ok(open()?)
}

/// Opens up a folder that cannot be opened for reading, by a handle that is none for reading.
#[cfg(target_os = "linux")]
fn open_closed(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(at, name, flags, Mode::empty())?;
    // The handle stands for exactly what was opened, whatever has its name by now.
    let handle = format!("/proc/self/fd/{}", fd.as_raw_fd());
    Ok(rustix::fs::chmod(handle, Mode::RWXU)?)
}

#[cfg(not(target_os = "linux"))]
fn open_closed(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::chmodat(at, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Some of the names in a folder; none only if there are none.
fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let mut found = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            found.push(OsStr::from_bytes(name).to_owned());
        }
        if found.len() >= NAMES_AT_ONCE_MAX {
            break;
        }
    }
    Ok(found)
}

/// Takes a name away, unless somebody else was faster.
fn unlink(at: BorrowedFd<'_>, name: &OsStr, flags: AtFlags) -> io::Result<()> {
    match rustix::fs::unlinkat(at, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
