//! What is done with what tools give back, as the settings choose.

use std::path::Path;

use scan::sanitize::Plans;

use crate::admission::{self, AdmissionError};

/// The plans that the settings in `home` make (`sanitize` in `config.yaml`).
///
/// # Errors
/// If the settings are not understood.
pub fn plans(home: &Path) -> Result<Plans, AdmissionError> {
    let settings = admission::settings(home)?;
    Ok(settings.map(|it| it.sanitize().plans()).unwrap_or_default())
}
