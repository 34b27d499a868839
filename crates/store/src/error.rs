//! Why a store cannot be opened or does not work.

use std::path::Path;

/// Why a store cannot be opened. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system.
    #[error("`{path}`: {error}")]
    Io {
        /// What was to be opened.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// Written by a newer version of the program.
    #[error(
        "`{path}` has version {found} and this program knows versions up to {known}: use the \
         newer program"
    )]
    Newer {
        /// The database.
        path: String,
        /// Its version.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// Somebody else's database.
    #[error("`{path}` is a database, but none of this program: {why}")]
    Foreign {
        /// The database.
        path: String,
        /// What it has that ours have not.
        why: String,
    },
    /// Not readable as a database, or not whole.
    #[error("`{path}` is damaged: {why}; put back a copy of it, or move it away and lose it")]
    Damaged {
        /// The database.
        path: String,
        /// What SQLite found.
        why: String,
    },
    /// SQLite.
    #[error("`{path}` cannot be used: {error}")]
    Database {
        /// The database.
        path: String,
        /// What it says.
        error: rusqlite::Error,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path, error: std::io::Error) -> Self {
        Self::Io { path: path.display().to_string(), error }
    }

    pub(crate) fn database(path: &Path, error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let path = path.display().to_string();
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged { path, why: error.to_string() },
            _ => Self::Database { path, error },
        }
    }
}

/// The store does not work. What was asked of it must not be taken as done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store does not work: {reason}")]
pub struct Broken {
    /// What it said.
    pub reason: String,
}

impl Broken {
    pub(crate) fn new(reason: impl std::fmt::Display) -> Self {
        Self { reason: reason.to_string() }
    }
}

impl From<rusqlite::Error> for Broken {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(error)
    }
}

impl From<Broken> for monitor::StateError {
    fn from(broken: Broken) -> Self {
        Self::Broken { reason: broken.reason }
    }
}

impl From<Broken> for monitor::approvals::ApprovalError {
    fn from(broken: Broken) -> Self {
        Self::State(broken.into())
    }
}
