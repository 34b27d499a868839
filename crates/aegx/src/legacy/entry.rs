//! Audit entries as the two older formats store them.

use serde::{Deserialize, Serialize};

use super::time::Time;

/// An entry as its line says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LegacyEntry {
    /// Position, from 0.
    pub idx: u64,
    /// When it was appended.
    pub ts: Time,
    /// The record it is about.
    pub record_id: String,
    /// `entry_hash` of the entry before; 64 zeros for the first.
    pub prev_hash: String,
    /// Hash of the four fields above.
    pub entry_hash: String,
}
