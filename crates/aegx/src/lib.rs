//! AEGX evidence bundles: format, writer, verifier. Knows nothing of Lazaret.

pub mod archive;
pub mod assigned;
pub mod audit;
pub mod bundle;
pub mod bundle_note;
pub mod canon;
pub mod checkpoint;
pub mod digest;
#[doc(hidden)]
pub mod fuzzing;
pub mod inclusion;
pub mod legacy;
pub mod manifest;
pub mod merkle;
mod normal;
pub mod note;
mod plain;
pub mod record;
mod record_ids;
pub mod seal;
mod sorted;
pub mod source;
pub mod timestamp;
pub mod verify;

pub use archive::Rules;
pub use audit::AuditEntry;
pub use digest::{Digest, Hasher};
pub use legacy::{verify_any, verify_any_signed};
pub use manifest::Manifest;
pub use record::{Draft, DraftError, Payload, Principal, Record, RecordType};
pub use record_ids::record_ids;
pub use sorted::{Sorted, SortedObject};
pub use source::Source;
pub use verify::{Code, Finding, Format, Progress, Report, verify, verify_signed};
