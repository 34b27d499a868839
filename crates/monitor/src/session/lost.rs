//! Calls that happen elsewhere, and those that never come back.

use model::{Source, Taint};

use super::Session;
use crate::change::Change;
use crate::provenance::orders_to_assistant;
use crate::risk::{Observation, Outcome};
use crate::taint;
use crate::understood::Understood;

impl Session {
    /// A call was let through that happens elsewhere. If nothing more is heard of it, the session counts
    /// as tainted; one that does already needs no mark.
    pub(crate) fn mark_begun(&mut self) -> Option<Change> {
        if self.flags().contains(Taint::UNTRUSTED) {
            return None;
        }
        Some(self.take(Change { begun: true, ..self.counted() }))
    }

    /// A call never came back: nobody knows what the agent saw of its output. `asked` is not known of a
    /// call that a process left behind.
    pub(crate) fn lose(
        &mut self,
        asked: Option<&Understood>,
        was_marked: bool,
        now: i64,
    ) -> Change {
        if let Some(asked) = asked {
            self.risk.observe(&Observation::proposed(&asked.effect).with_outcome(Outcome::Done));
        }
        let label = taint::label(Source::Tool, "an output that was never seen", now);
        let change = Change {
            came_back: was_marked,
            taint: self.taint.delta(&label, ""),
            provenance: Some(self.ledger.said(
                label.source,
                &label.origin,
                "",
                &orders_to_assistant,
            )),
            risk: asked.map(|_| self.risk.snapshot().clone()),
            ..self.counted()
        };
        self.take_all_but_provenance(&change);
        change
    }

    /// The calls that were under way when the process died.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
