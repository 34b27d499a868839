//! The two older formats that share the name: AER 0.1.x and the unified 0.2.0.
//!
//! Both store the same fields and differ in what they hash. They are read, verified and converted
//! to format A, never written.
//!
//! ```text
//! detect -> recipe -> verify (manifest, records with audit log beside, blobs) -> Report
//!                  -> convert, after verify
//! ```

mod audit_log;
mod convert;
mod detect;
mod entry;
mod form;
mod manifest;
mod notes;
mod recipe;
mod record;
mod records;
mod text_lines;
mod time;
mod verify;
mod witness;

pub use convert::{ConvertError, Converted, Trust, convert};
pub use entry::LegacyEntry;
pub use manifest::{Filters, LegacyManifest};
pub use record::{LegacyMeta, LegacyPayload, LegacyPrincipal, LegacyRecord, LegacyType, Taint};
pub use time::Time;

use crate::archive::Rules;
use crate::note::VerifierKey;
use crate::source::Source;
use crate::verify::{Progress, Report};
use detect::Family;

/// Verifies a bundle of whichever format it is.
///
/// With [`Rules::Compat`] the verdict is that of the format's own program; with [`Rules::Strict`]
/// everything is refused besides that can be seen to be wrong. What a format cannot protect stands
/// in [`Report::notes`].
#[must_use]
pub fn verify_any(source: &Source, rules: Rules, progress: &Progress<'_>) -> Report {
    verify_any_signed(source, rules, None, progress)
}

/// As [`verify_any`]; with a `key` the bundle must be signed with it as a whole, which those of the
/// older formats never are.
#[must_use]
pub fn verify_any_signed(
    source: &Source,
    rules: Rules,
    key: Option<&VerifierKey>,
    progress: &Progress<'_>,
) -> Report {
    match detect::family(source) {
        Family::Aegx => crate::verify::verify_signed(source, rules, key, progress),
        Family::Legacy => verify::verify(source, detect::recipe(source), rules, key, progress),
    }
}

#[cfg(test)]
mod tests;
