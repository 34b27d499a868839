//! What a person has done with the journal while the gate that runs has it: the same as they would do themselves.

use std::path::Path;

use ::evidence::{ImportError, RetentionRule, import, retire};
use aegx::archive::ArchiveError;
use serde_json::{Value, json};

use super::{Control, Undone};

impl Control {
    /// Deletes old records; that they were deleted is recorded before.
    pub(super) fn retain(&self, before: i64) -> Result<Value, Undone> {
        let outcome = retire(&self.journal, RetentionRule { before });
        let outcome =
            outcome.map_err(|error| Undone { error: error.to_string(), refused: false })?;
        let records: u64 = outcome.segments.iter().map(|it| it.count).sum();
        Ok(json!({
            "ok": true,
            "segments": outcome.segments.len(), "records": records, "blobs": outcome.blobs,
        }))
    }

    /// Verifies a bundle of others and keeps it beside the journal.
    pub(super) fn import(&self, bundle: &Path) -> Result<Value, Undone> {
        let imported = import(&self.journal, bundle)
            .map_err(|error| Undone { error: error.to_string(), refused: is_refused(&error) })?;
        Ok(json!({
            "ok": true,
            "name": imported.name.to_string(), "head": imported.head, "records": imported.records,
            "known": imported.known,
        }))
    }
}

/// Is the bundle not taken in for what it is, and not for what happened here?
#[must_use]
pub fn is_refused(error: &ImportError) -> bool {
    !matches!(
        error,
        ImportError::Append(_)
            | ImportError::Io { .. }
            | ImportError::Archive(ArchiveError::Io { .. })
    )
}
