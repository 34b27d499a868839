//! A text that reaches a session without a call.

use model::TaintTag;

use super::Session;
use crate::change::Change;
use crate::confirm::{Confirmation, Message};
use crate::provenance::orders_to_assistant;

impl Session {
    /// Takes in a text, which may be of a sandboxed server. What the user says may be an answer to what was stopped; the answer
    /// counts by [`Self::count_answer`], once the change is kept.
    pub(crate) fn absorb_heard(
        &mut self,
        (label, sandboxed): (&TaintTag, Option<&str>),
        text: &str,
        now: i64,
    ) -> (Change, Confirmation) {
        let message = Message {
            text,
            session: &self.who.session,
            user: &self.who.user,
            source: label.source,
            at: now,
        };
        let (understood, confirm) = self.confirmations.hear(&message);
        let confirm = confirm.into_iter().collect();
        let mut change =
            Change { taint: self.taint.delta(label, text), confirm, ..Change::default() };
        change.provenance =
            Some(self.ledger.said(label.source, &label.origin, text, &orders_to_assistant));
        change.record = Some(label.record.clone());
        change.sandboxed = sandboxed.map(str::to_owned).into_iter().collect();
        self.take_labels(&change);
        (change, understood)
    }

    /// Counts the yes of a change that is kept.
    pub(crate) fn count_answer(&mut self, kept: &Change) {
        for delta in &kept.confirm {
            self.confirmations.apply(delta);
        }
    }
}
