//! What lies in a directory, read without a heap: before a command begins, thousands of directories are.

use std::ffi::CStr;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, openat};

/// A directory by its path, which is no link itself.
pub(crate) fn open(dir: &Path) -> rustix::io::Result<OwnedFd> {
    openat(CWD, dir, HOW, Mode::empty())
}

/// One that lies in another.
#[cfg(target_os = "linux")]
pub(crate) fn open_below(dir: impl AsFd, name: &CStr) -> rustix::io::Result<OwnedFd> {
    openat(dir, name, HOW, Mode::empty())
}

const HOW: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Shows the entries of a directory until enough were seen, without itself and the one above.
///
/// # Errors
///
/// It cannot be read to its end; what was shown is there.
#[cfg(target_os = "linux")]
pub(crate) fn each(
    dir: &OwnedFd,
    mut show: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
) -> io::Result<()> {
    /// Bytes that the kernel tells at a time.
    const PIECE_BYTES: usize = 16 * 1024;
    let mut piece = [std::mem::MaybeUninit::uninit(); PIECE_BYTES];
    let mut entries = rustix::fs::RawDir::new(dir, &mut piece);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if !is_itself(entry.file_name()) && show(entry.file_name(), entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}

/// The same by way of the C library.
#[cfg(not(target_os = "linux"))]
pub(crate) fn each(
    dir: &OwnedFd,
    mut show: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(dir.as_fd())? {
        let entry = entry?;
        if !is_itself(entry.file_name()) && show(entry.file_name(), entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}

fn is_itself(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
