//! A taint tag: the origin that follows content wherever it is kept.

use crate::{Source, Taint};

/// Names where tainted content came in. Kept with memory rows, files and turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaintTag {
    /// The kind of door.
    pub source: Source,
    /// The flags.
    pub taint: Taint,
    /// The url, file or name, shortened for people.
    pub origin: String,
    /// When, in seconds since 1970.
    pub unix_seconds: i64,
    /// Id of the record by which it came in, as hex; empty where there is none.
    pub record: String,
}
