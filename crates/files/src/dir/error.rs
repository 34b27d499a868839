//! Why something could not be done in a confined directory.

use std::io;

use rustix::io::Errno;

use crate::{PathRefused, Relative};

/// Why something could not be done in a confined directory. Nothing was done then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirError {
    /// Nothing there.
    #[error("there is no `{path}`")]
    NotFound {
        /// What was named.
        path: Relative,
    },
    /// Something is there that must not be.
    #[error("there is already `{with}`")]
    Exists {
        /// What was named.
        path: Relative,
        /// What is there: the same name, or one that some disks take for the same.
        with: String,
    },
    /// A link, at its end or on the way.
    #[error("`{path}` is a link or leads over one; links are not followed")]
    IsLink {
        /// What was named.
        path: Relative,
    },
    /// A folder.
    #[error("`{path}` is a folder")]
    IsFolder {
        /// What was named.
        path: Relative,
    },
    /// Something on the way is no folder.
    #[error("`{path}` is no folder, or leads over something that is none")]
    NoFolder {
        /// What was named.
        path: Relative,
    },
    /// A pipe, a socket, a device.
    #[error("`{path}` is no plain file")]
    NoFile {
        /// What was named.
        path: Relative,
    },
    /// A hard link.
    #[error("`{path}` has another name, which may lie outside (a hard link); make a copy of it")]
    OtherNames {
        /// What was named.
        path: Relative,
    },
    /// Over the limit.
    #[error("`{path}` has more than the {bytes_max} bytes that are read")]
    TooLong {
        /// What was named.
        path: Relative,
        /// The limit.
        bytes_max: u64,
    },
    /// No path.
    #[error(transparent)]
    Path(#[from] PathRefused),
    /// The disk.
    #[error("`{path}`: {error}")]
    Io {
        /// What was named.
        path: Relative,
        /// What it said.
        error: io::Error,
    },
}

impl DirError {
    pub(super) fn of(path: &Relative, error: Errno) -> Self {
        let path = path.clone();
        match error {
            Errno::NOENT => Self::NotFound { path },
            Errno::EXIST => Self::Exists { with: path.to_string(), path },
            // With `NOFOLLOW`, with `RESOLVE_NO_SYMLINKS`, and out of the base.
            Errno::LOOP | Errno::MLINK | Errno::XDEV => Self::IsLink { path },
            Errno::ISDIR => Self::IsFolder { path },
            Errno::NOTDIR => Self::NoFolder { path },
            // A socket, a device without a driver.
            Errno::NXIO | Errno::NODEV => Self::NoFile { path },
            error => Self::Io { path, error: error.into() },
        }
    }

    pub(super) fn io(path: &Relative, error: io::Error) -> Self {
        Self::Io { path: path.clone(), error }
    }
}
