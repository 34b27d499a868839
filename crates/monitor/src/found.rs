//! What lies where an agent works: content that it can read without a call.

use aegx::{Digest, Principal};
use evidence::Receipt;
use model::{Caller, SessionId, TaintTag};

use crate::monitor::Monitor;
use crate::refusal::Refusal;

/// Content that an agent can read without a call, such as marked files of its workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its label.
    pub tag: TaintTag,
    /// How much it is.
    pub tokens: u64,
    /// What it is: the same content counts once in a session, however often it is found.
    pub content: Digest,
}

impl Monitor {
    /// The agent can read this without a call, so it counts as read. Call it before the agent begins;
    /// the receipt proves that what was found is on record.
    ///
    /// # Errors
    /// If the session is not open here, or its labels cannot be kept: then it must not begin.
    pub fn find(&self, who: &Caller, found: &[Found], receipt: &Receipt) -> Result<(), Refusal> {
        let session = self.sessions().get(who)?;
        let mut session = session.lock()?;
        for it in found {
            let change = session.absorb_found(it, receipt.id());
            self.keep(&mut session, &change)?;
            self.tell_parents(&mut session, &change)?;
        }
        Ok(())
    }

    /// What everything carries that the session writes; none while it is clean.
    ///
    /// # Errors
    /// If it is not open here.
    pub fn tag(&self, who: &Caller) -> Result<Option<TaintTag>, Refusal> {
        Ok(self.sessions().get(who)?.lock()?.taint.tag())
    }

    /// Who drives a session in its turn: whatever works for it is theirs, too.
    ///
    /// # Errors
    /// If it is not open here.
    pub fn principal(&self, who: &Caller) -> Result<Principal, Refusal> {
        Ok(self.sessions().get(who)?.lock()?.principal())
    }

    /// Is a session of this id open here, whosever it is?
    #[must_use]
    pub fn is_open(&self, session: &SessionId) -> bool {
        self.sessions().find(session).is_some()
    }
}
