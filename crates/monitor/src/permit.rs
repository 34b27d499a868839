//! The proof that an effect was judged, recorded and allowed.

use aegx::Digest;
use model::{Caller, TaintTag};

/// Holds the effect itself, so that what runs is what was judged. Not `Clone`: one permit, one run.
///
/// INVARIANT (OneGate): made only by the pipeline, after a durable record, and spent once.
#[must_use]
#[derive(Debug)]
pub struct Permit<E> {
    effect: E,
    who: Caller,
    tag: Option<TaintTag>,
    record: Digest,
}

impl<E> Permit<E> {
    /// The effect that was permitted; the permit is gone.
    pub fn spend(self) -> E {
        self.effect
    }

    /// The effect, to look at.
    #[must_use]
    pub fn effect(&self) -> &E {
        &self.effect
    }

    /// For whom it happens, as the connection said.
    #[must_use]
    pub fn who(&self) -> &Caller {
        &self.who
    }

    /// What everything carries that this session writes; none if the session is clean.
    #[must_use]
    pub fn tag(&self) -> Option<&TaintTag> {
        self.tag.as_ref()
    }

    /// Id of the record of the decision.
    #[must_use]
    pub fn record(&self) -> Digest {
        self.record
    }
}
