//! Private files that are read: what can be wrong with one before its content is looked at.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The rights of everybody but the owner.
const OTHERS: u32 = 0o077;
/// A link at the name is not followed.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// What is wrong with a private file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// Not there.
    #[error("`{path}` is not there")]
    Missing {
        /// The file.
        path: String,
    },
    /// Others can get at it.
    #[error(
        "`{path}` can be read by others (mode {mode:o}); run `chmod 600 {path}`, and think of what was in it as seen"
    )]
    NotPrivate {
        /// The file.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// Somebody else's.
    #[error("`{path}` belongs to user {owner}, not to you")]
    NotOurs {
        /// The file.
        path: String,
        /// The owner's number.
        owner: u32,
    },
    /// It cannot be read.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        error: io::Error,
    },
}

impl FileFault {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.display().to_string();
        if error.kind() == io::ErrorKind::NotFound {
            return Self::Missing { path };
        }
        Self::Io { path, error }
    }
}

/// Opens a plain file that is ours alone.
pub(crate) fn open_private(path: &Path) -> Result<File, FileFault> {
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(NO_FOLLOW);
    let file = files::private::open_with(path, options).map_err(|it| FileFault::io(path, it))?;
    // Of the file that was opened, whatever stands at the name by now.
    let found = file.metadata().map_err(|it| FileFault::io(path, it))?;
    let (shown, mode) = (path.display().to_string(), found.permissions().mode() & 0o7777);
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(FileFault::NotOurs { path: shown, owner: found.uid() });
    }
    if mode & OTHERS != 0 {
        return Err(FileFault::NotPrivate { path: shown, mode });
    }
    Ok(file)
}
