//! Why the labels of a workspace could not be read or kept.

use std::io;
use std::path::{Path, PathBuf};

use super::related::RELATED_MAX;

/// Why the labels of a workspace could not be read or kept. The session must not go on then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// Not a directory.
    #[error("the workspace `{}` is no directory", path.display())]
    NoDirectory {
        /// What was named.
        path: PathBuf,
    },
    /// The agent could reach the host's copy of the labels.
    #[error("the workspace `{}` and the host's own labels in `{}` must lie apart", path.display(), store.display())]
    HoldsStore {
        /// The workspace.
        path: PathBuf,
        /// The registry's directory.
        store: PathBuf,
    },
    /// More workspaces lie around and inside of this one than are looked at.
    #[error("more than {RELATED_MAX} other workspaces share files with `{}`", path.display())]
    TooManyInside {
        /// The workspace.
        path: PathBuf,
    },
    /// The host's copy cannot be understood. It is not overwritten.
    #[error("the host's labels in `{}` cannot be read: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Somebody changed a file while a person made up their mind.
    #[error("`{}` is no longer what you looked at; look at it again", path.escape_debug())]
    Changed {
        /// The file.
        path: String,
    },
    /// The disk.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl WorkspaceError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self::Io { path: path.to_owned(), error }
    }
}
