//! Why a file was refused.

use std::fmt;

/// Why a file was refused. Whoever it is about (an agent, the users) is refused with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The line in the file, from 1, where that is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl FileError {
    pub(super) fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    pub(super) fn whole(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for FileError {}
