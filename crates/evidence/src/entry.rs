//! An entry: a record that opens, perhaps some in between, and exactly one that closes.

use std::ops::Deref;

use aegx::{Digest, RecordType};
use model::{AgentId, Kind, SessionId};
use serde_json::json;

use crate::journal::Journal;
use crate::receipt::{AppendError, Receipt};
use crate::record::{NewRecord, Phase};

/// One call's records, from opening to closing. It holds the journal by reference, or by `Arc`
/// where it outlives the function that opened it.
///
/// INVARIANT (OneClosing): exactly one closing record follows every opening one. `close` writes
/// it; if the entry is dropped unclosed, `Drop` writes `abandoned`; if the process dies, the next
/// start writes `interrupted`.
#[must_use]
pub struct OpenEntry<J: Deref<Target = Journal>> {
    journal: J,
    opening: Receipt,
    session: Option<SessionId>,
    agent: Option<AgentId>,
    closed: bool,
}

impl<J: Deref<Target = Journal>> OpenEntry<J> {
    pub(crate) fn new(
        journal: J,
        opening: Receipt,
        session: Option<SessionId>,
        agent: Option<AgentId>,
    ) -> Self {
        Self { journal, opening, session, agent, closed: false }
    }

    /// The record that opened it.
    #[must_use]
    pub fn opening(&self) -> &Receipt {
        &self.opening
    }

    /// Appends a record in between; the opening one becomes a parent of it.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn step(&mut self, new: NewRecord) -> Result<Receipt, AppendError> {
        self.write(new, Phase::Step { entry: self.opening.seq() })
    }

    /// Appends the closing record.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn close(mut self, new: NewRecord) -> Result<Receipt, AppendError> {
        let outcome = self.write(new, Phase::Close { entry: self.opening.seq() });
        // A malformed record leaves the entry open, and dropping it closes it after all. A journal
        // that failed takes nothing more; its next start closes the entry.
        self.closed = !matches!(outcome, Err(AppendError::Record(_)));
        outcome
    }

    fn write(&self, mut new: NewRecord, phase: Phase) -> Result<Receipt, AppendError> {
        new.parents.push(self.opening.id());
        new.session = new.session.or_else(|| self.session.clone());
        new.agent = new.agent.or_else(|| self.agent.clone());
        self.journal.write(new, phase)
    }

    /// Id of the opening record.
    #[must_use]
    pub fn id(&self) -> Digest {
        self.opening.id()
    }
}

impl<J: Deref<Target = Journal>> Drop for OpenEntry<J> {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        if let Ok(kind) = Kind::parse("abandoned") {
            let content = json!({ "status": "abandoned" });
            let record = NewRecord::of_host(RecordType::ToolResult, kind, content);
            // Nothing left to refuse: the call is already going away.
            let _ = self.write(record, Phase::Close { entry: self.opening.seq() });
        }
    }
}
