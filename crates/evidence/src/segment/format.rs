//! The lines of a segment that are not records or entries.

use aegx::Digest;
use aegx::merkle::{Frontier, FrontierError};
use serde::{Deserialize, Serialize};

/// First line of a segment: everything needed to verify it without the ones before.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// Number of the segment, from 0.
    pub(crate) segment: u64,
    /// Which journal it is of.
    pub(crate) journal: String,
    /// Index of its first record.
    pub(crate) first: u64,
    /// Hash of the entry before its first.
    pub(crate) head: String,
    /// The Merkle tree over all records before it, as its peaks.
    pub(crate) peaks: Vec<String>,
    /// Entries that were open when it began.
    pub(crate) open: Vec<OpenMark>,
}

/// An entry that was opened and not closed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenMark {
    /// `meta.seq` of the record that opened it.
    pub(crate) entry: u64,
    /// Its id.
    pub(crate) id: String,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// Its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
}

/// Last line of a full segment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seal {
    /// Number of the segment.
    pub(crate) sealed: u64,
    /// Records in it.
    pub(crate) count: u64,
    /// Hash of its last entry.
    pub(crate) head: String,
    /// Root of the Merkle tree over all records up to its last.
    pub(crate) root: String,
}

/// A seal with its newline is shorter than this.
pub(crate) const SEAL_BYTES_MAX: u64 = 512;
/// Above any header: peaks, and as many open entries as there can be.
pub(crate) const HEADER_BYTES_MAX: u64 = 1 << 20;
/// Above any number of a segment or a record, and so far below the end of the type that what
/// stands in a file can be added to without looking again.
pub(crate) const NUMBER_MAX: u64 = 1 << 62;

impl Header {
    pub(crate) fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }

    pub(crate) fn head_digest(&self) -> Option<Digest> {
        Digest::from_hex(self.head.as_bytes())
    }

    pub(crate) fn frontier(&self) -> Result<Frontier, FrontierError> {
        let peaks = self.peaks.iter().filter_map(|it| Digest::from_hex(it.as_bytes())).collect();
        Frontier::from_peaks(self.first, peaks)
    }
}

impl Seal {
    pub(crate) fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// The line before a batch that begins with record `idx`.
pub(crate) fn batch_line(idx: u64) -> String {
    format!("{{\"batch\":{idx}}}\n")
}
