//! What answers must not give away, as the settings choose.

use std::path::Path;

use scan::leak::Registry;

use crate::admission::{self, AdmissionError};

/// What answers are compared with by the settings in `home` (`answers` in `config.yaml`), where a session has no prompt of
/// its own.
///
/// # Errors
/// If the settings are not understood.
pub fn guarded(home: &Path) -> Result<Option<Registry>, AdmissionError> {
    Ok(admission::settings(home)?.and_then(|it| it.answers().registry()))
}
