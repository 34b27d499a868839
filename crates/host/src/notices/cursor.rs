//! How far notifications were drained.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file of the state directory.
const FILE: &str = "notifications.json";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 10;

/// The place in the journal up to which somebody has seen the notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drained {
    /// The first record that nobody was told of.
    pub next: u64,
}

/// Why the place cannot be read or kept.
#[derive(Debug, thiserror::Error)]
#[error("`{path}`: {error}")]
pub struct CursorError {
    path: String,
    error: io::Error,
}

impl Drained {
    /// Reads the place in the state directory `home`. Where the file is damaged everything is told again, and the caller
    /// learns of it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(home: &Path) -> Result<Self, CursorError> {
        let path = home.join(FILE);
        let failed = |error| CursorError { path: path.display().to_string(), error };
        let bytes = files::private::read_if_there(&path, FILE_BYTES_MAX).map_err(failed)?;
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))
    }

    /// Keeps the place.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(self, home: &Path) -> Result<(), CursorError> {
        let path = home.join(FILE);
        let failed = |error| CursorError { path: path.display().to_string(), error };
        let text = serde_json::to_vec(&self).map_err(|error| failed(error.into()))?;
        files::private::replace(&path, &text).map_err(failed)
    }
}
