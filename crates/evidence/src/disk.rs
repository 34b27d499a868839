//! The calls on which durability rests, in one place so that tests can make them fail, and take back
//! what was not synced.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use files::private;

/// Writes and syncs segment files, and what lies beside them.
pub trait Disk: Send + Sync {
    /// Writes some of `bytes` at `offset`, at least one unless it fails.
    ///
    /// # Errors
    /// What the system says.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Returns when what was written is on the medium.
    ///
    /// # Errors
    /// What the system says. Nobody may trust the file afterwards.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// As [`Disk::sync`], for a file whose length changed too.
    ///
    /// # Errors
    /// As [`Disk::sync`].
    fn sync_all(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// As [`Disk::sync`], for room that is made in advance and holds nothing yet.
    ///
    /// # Errors
    /// As [`Disk::sync`].
    fn sync_room(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Appends a line to a file, durably.
    ///
    /// # Errors
    /// What the system says.
    fn append_line(&self, path: &Path, line: &[u8]) -> io::Result<()> {
        private::append_line(path, line)
    }

    /// Gives a file its name, durably.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        private::sync_parent(to)
    }

    /// Removes a file if it is there, durably.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, path: &Path) -> io::Result<()> {
        private::remove(path)?;
        private::sync_parent(path)
    }
}

/// The system's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.write_at(bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }
}

/// Writes all of `bytes` at `offset`.
pub(crate) fn write_all(disk: &dyn Disk, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
        match disk.write_at(file, rest, offset + done as u64) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => done += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
