//! One way out, which is recorded when it has ended, however it ends.

use std::sync::Arc;
use std::time::Instant;

use aegx::Digest;
use egress::{Carried, EgressEvent, Outcome};
use evidence::Journal;
use model::Caller;
use monitor::Refusal;

/// One way out. Dropped, it is recorded.
pub(crate) struct Hop {
    pub(crate) journal: Arc<Journal>,
    pub(crate) who: Caller,
    /// The decision by which it happens, once there is one.
    pub(crate) decision: Option<Digest>,
    pub(crate) event: EgressEvent,
    pub(crate) carried: Arc<Carried>,
    pub(crate) at: Instant,
}

impl Hop {
    /// The gate refused it.
    pub(crate) fn stopped(&mut self, refusal: &Refusal) {
        if let Refusal::Stopped(verdict) = refusal {
            self.decision = Some(verdict.record);
        }
        let rule = refusal.rule().to_owned();
        self.event.outcome = Outcome::Refused { rule, reason: "the gate refused it".to_owned() };
    }
}

impl Drop for Hop {
    fn drop(&mut self) {
        self.event.address = self.carried.address();
        self.event.sent_bytes = self.carried.sent();
        self.event.received_bytes = self.carried.received();
        self.event.took = self.at.elapsed();
        // If the disk fails now, the next request is refused.
        let _ = self.event.note(&self.journal, &self.who, self.decision);
    }
}
