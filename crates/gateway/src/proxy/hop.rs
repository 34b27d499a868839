//! One way out, which is recorded when it has ended, however it ends.

use std::sync::Arc;
use std::time::Instant;

use aegx::Digest;
use egress::{AskError, Carried, EgressEvent, Outcome};
use evidence::Journal;
use model::Caller;
use monitor::Refusal;
use scan::net::Refused;

use super::answer::No;
use super::command::Command;

/// One way out. Dropped, it is recorded.
pub(crate) struct Hop {
    pub(crate) journal: Arc<Journal>,
    pub(crate) who: Caller,
    /// The command that asks, if it is one of an agent.
    pub(crate) command: Option<Arc<Command>>,
    /// The decision by which it happens, once there is one.
    pub(crate) decision: Option<Digest>,
    pub(crate) event: EgressEvent,
    pub(crate) carried: Arc<Carried>,
    pub(crate) at: Instant,
}

impl Hop {
    /// The gate refused it: what the program is told.
    pub(crate) fn stopped(&mut self, refusal: &Refusal) -> No {
        if let Refusal::Stopped(verdict) = refusal {
            self.decision = Some(verdict.record);
        }
        let rule = refusal.rule().to_owned();
        self.event.outcome = Outcome::Refused { rule, reason: "the gate refused it".to_owned() };
        No::by_gate(refusal)
    }

    /// The gate refused it before, to the same command.
    pub(crate) fn stopped_again(&mut self, no: No) -> No {
        let reason = "the gate has refused it to this command".to_owned();
        self.event.outcome = Outcome::Refused { rule: no.rule().to_owned(), reason };
        no
    }

    /// It leads where nothing leads to, or nothing is left to it.
    pub(crate) fn refused(&mut self, refused: Refused) -> No {
        let error = AskError::Refused(refused);
        self.event.failed(&error);
        No::by_egress(&error)
    }
}

impl Drop for Hop {
    fn drop(&mut self) {
        // However far it had come, what cut it off is how it ended.
        if let Some(refused) = self.carried.cut_off() {
            self.event.failed(&AskError::Refused(refused.clone()));
        }
        if let (Some(command), Outcome::Refused { rule, .. }) = (&self.command, &self.event.outcome)
        {
            command.was_turned_away(&self.event.host, rule);
        }
        self.event.address = self.carried.address();
        self.event.sent_bytes = self.carried.sent();
        self.event.received_bytes = self.carried.received();
        self.event.took = self.at.elapsed();
        // If the disk fails now, the next request is refused.
        let _ = self.event.note(&self.journal, &self.who, self.decision);
    }
}
