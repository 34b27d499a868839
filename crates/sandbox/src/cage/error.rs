//! Why a cage could not be made.

use std::fmt;

use super::ladder::Rung;

/// Why a process was not started, or could not be followed to its end.
#[derive(Debug, thiserror::Error)]
pub enum CageError {
    /// What the operator requires cannot be had here.
    #[error("{rung} is required and cannot be had: {why}")]
    Required {
        /// What is required.
        rung: Rung,
        /// Why it is not there.
        why: String,
    },
    /// Neither namespaces nor landlock: there is nothing that holds files.
    #[error("no cage can be made here: {0}")]
    NoCage(String),
    /// The settings make no cage.
    #[error("{0}")]
    Settings(String),
    /// The program is not there or cannot be run.
    #[error("{program}: {why}")]
    Program {
        /// What was to be run.
        program: String,
        /// Why not.
        why: String,
        /// 127 if it was not found, 126 otherwise, as shells say.
        code: u8,
    },
    /// A step failed.
    #[error("{step}: {why}")]
    Step {
        /// What was being done.
        step: String,
        /// What the kernel said.
        why: String,
    },
}

impl CageError {
    pub(crate) fn step(step: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::Step { step: step.into(), why: why.to_string() }
    }
}

/// Names the step that failed.
pub(crate) trait Step<T> {
    fn step(self, step: impl Into<String>) -> Result<T, CageError>;
}

impl<T, E: fmt::Display> Step<T> for Result<T, E> {
    fn step(self, step: impl Into<String>) -> Result<T, CageError> {
        self.map_err(|error| CageError::step(step, error))
    }
}
