//! Who reads the user's words, as the settings choose.

use std::path::Path;
use std::sync::Arc;

use ::intent::Encoder;
use model::IntentReader;

use crate::admission::{self, AdmissionError};

/// The reader of the user's words that the settings in `home` choose (`intent` in `config.yaml`), beside the tables.
///
/// # Errors
/// If the settings are not understood.
pub fn reader(home: &Path) -> Result<Option<Arc<dyn IntentReader>>, AdmissionError> {
    let readers = admission::settings(home)?.map(|it| it.readers()).unwrap_or_default();
    Ok(readers.encoder.then(|| Arc::new(Encoder::new()) as Arc<dyn IntentReader>))
}
