//! When the changes of a session have grown, one is put in place of all.

use super::Session;
use crate::change::Change;
use crate::state::Summary;

/// Changes of so many bytes are kept before one is put in their place.
const COMPACT_BYTES_MIN: usize = 128 << 10;

impl Session {
    /// Everything, as one change of an empty session.
    pub(crate) fn snapshot(&self) -> Change {
        Change {
            taint: self.taint.snapshot(),
            ledger: Some(Box::new(self.ledger.clone())),
            // What has expired does no harm: it is not used.
            confirm: self.confirmations.snapshot(i64::MIN).collect(),
            risk: Some(self.risk.snapshot().clone()),
            turn_of_others: self.is_of_others,
            calls: self.calls,
            stopped: self.stopped,
            sandboxed: self.sandboxed.iter().cloned().collect(),
            prompt: self.kept_prompt(),
            parent: self.parent.as_ref().map(|it| it.as_str().to_owned()),
            record: self.newest.map(|it| it.to_hex().as_str().to_owned()),
            ..Change::default()
        }
    }

    /// So many bytes were kept. Is it time to keep one change in place of all?
    pub(crate) fn has_kept(&mut self, bytes: usize) -> bool {
        self.bytes_kept = self.bytes_kept.saturating_add(bytes);
        // A call under way is kept as a change of its own.
        self.in_flight == 0 && self.bytes_kept > COMPACT_BYTES_MIN.max(self.snapshot_bytes)
    }

    /// One change of so many bytes stands in place of all.
    pub(crate) fn was_compacted(&mut self, bytes: usize) {
        self.bytes_kept = 0;
        self.snapshot_bytes = bytes;
    }

    /// What lists show of it.
    pub(crate) fn summary(&self) -> Summary {
        Summary {
            taint: self.flags(),
            tainted_tokens: self.taint.budget().tainted_tokens(),
            clean_tokens: self.taint.budget().clean_tokens(),
            origin: self.taint.tag().map(|it| it.origin).unwrap_or_default(),
            calls: self.calls,
            stopped: self.stopped,
        }
    }
}
