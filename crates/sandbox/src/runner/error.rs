//! Why a command of an agent did not run to its end.

use std::io;

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such cage here. Nothing ran.
    #[error("{0}")]
    Refused(String),
    /// The launcher could not be started, or did not understand. Nothing ran.
    #[error("the launcher: {0}")]
    Launcher(io::Error),
    /// The cage broke while the command ran. Everything in it was ended.
    #[error("the cage broke: {0}")]
    Broke(String),
}

impl RunError {
    /// May the command have done something?
    #[must_use]
    pub fn has_begun(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Launcher(_) => false,
            Self::Broke(_) => true,
        }
    }
}
