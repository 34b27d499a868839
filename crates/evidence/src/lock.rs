//! One writer per journal, across processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use crate::layout::Layout;
use crate::recovery::OpenError;
use files::private;

/// Held as long as the journal is open.
pub(crate) struct Lock {
    /// Says who holds it.
    file: File,
    /// The lock that counts: unlike the file it cannot be removed by who takes it for a leftover.
    segments: File,
}

/// A process id is shorter than this.
const HOLDER_BYTES_MAX: u64 = 32;
/// As many characters as the longest process id has.
const HOLDER_WIDTH: usize = 10;

impl Lock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(layout: &Layout) -> Result<Self, OpenError> {
        let path = layout.lock();
        let io = |error| OpenError::io(&path, error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = private::open_with(&path, &mut options).map_err(io)?;
        let segments = File::open(layout.segments()).map_err(io)?;
        let taken = is_taken(&file).map_err(io)?;
        // Where a directory cannot be locked the file alone has to do.
        if taken || is_taken(&segments).unwrap_or(false) {
            let mut holder = String::new();
            let _ = file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder);
            let holder = holder.trim().parse::<u32>().map(|pid| format!(" (process {pid})"));
            return Err(OpenError::Locked {
                dir: layout.root().display().to_string(),
                holder: holder.unwrap_or_default(),
            });
        }
        // Over what stood there, and as long: to cut the file first would cost more than the lock.
        let holder = format!("{:<HOLDER_WIDTH$}\n", std::process::id());
        file.write_all_at(holder.as_bytes(), 0).map_err(io)?;
        Ok(Self { file, segments })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child that is just being started still holds what it inherited.
        let _ = self.segments.unlock();
        let _ = self.file.unlock();
    }
}

/// Takes the lock, or answers that somebody else has it.
fn is_taken(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
