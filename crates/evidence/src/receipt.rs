//! What whoever appends gets: the proof that a record is durable, or why it is not.

use aegx::Digest;

use crate::journal::OPEN_ENTRIES_MAX;
use crate::queue::Closed;
use crate::record::RecordError;

/// Proof that a record is durable, unless the journal was opened
/// [`crate::Durability::DangerouslyUnsynced`]. Made by the journal only.
#[derive(Debug)]
pub struct Receipt {
    idx: u64,
    id: Digest,
    seq: u64,
}

impl Receipt {
    pub(crate) fn new(idx: u64, id: Digest, seq: u64) -> Self {
        Self { idx, id, seq }
    }

    /// Position in the journal.
    #[must_use]
    pub fn idx(&self) -> u64 {
        self.idx
    }

    /// Id of the record.
    #[must_use]
    pub fn id(&self) -> Digest {
        self.id
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }
}

/// Why something was not recorded. Whatever it was for must not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The record is at fault.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The disk failed, now or before; nothing more is written until a restart has checked it.
    #[error(
        "the journal takes no more records since a write or sync failed: {why}; restart to recover"
    )]
    Poisoned {
        /// The first failure.
        why: String,
    },
    /// Too much is going on at once.
    #[error("{OPEN_ENTRIES_MAX} entries are open already")]
    TooManyOpen,
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
}

impl From<Closed> for AppendError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}
