//! What a session counts, and the newest that came into it.

use aegx::Digest;

use super::Session;
use crate::change::Change;

impl Session {
    /// A call was let through.
    pub(crate) fn let_through(&mut self) {
        self.calls += 1;
    }

    pub(super) fn counted(&self) -> Change {
        Change { calls: self.calls, stopped: self.stopped, ..Change::default() }
    }

    /// Something came in by this record.
    pub(crate) fn came_in_by(&mut self, record: Digest) {
        self.newest = Some(record);
    }
}
