//! Why a command of an agent did not run to its end.

use std::io;

use super::aside::Aside;

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
    #[error("the cage broke: {why}")]
    Broke {
        /// Why.
        why: String,
        /// What the command had made where it would be obeyed.
        aside: Aside,
    },
}

impl RunError {
    /// The cage broke, and nobody knows what was set aside.
    pub(super) fn broke(why: impl ToString) -> Self {
        Self::Broke { why: why.to_string(), aside: Aside::default() }
    }

    /// What a command that had begun made where it would be obeyed; none if nothing ran.
    #[must_use]
    pub fn aside(&self) -> Option<&Aside> {
        match self {
            Self::Refused(_) | Self::Launcher(_) => None,
            Self::Broke { aside, .. } => Some(aside),
        }
    }
}
