//! The two calls on which durability rests, in one place so that tests can make them fail.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::FileExt;

/// Writes and syncs segment files.
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
