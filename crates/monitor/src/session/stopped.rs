//! A call that was stopped: what it says of the session, and who may lift it.

use model::Decision;

use super::Session;
use crate::change::Change;
use crate::confirm::Pending;
use crate::proposed::Proposed;
use crate::question;
use crate::risk::Outcome;
use crate::taint;
use crate::verdict::Verdict;

impl Session {
    /// A call was stopped: it counts, and it may wait for the user.
    pub(crate) fn stopped(&mut self, proposed: &Proposed, verdict: &Verdict, now: i64) -> Change {
        self.calls += 1;
        self.stopped += 1;
        let outcome = if self.may_be_an_attack(proposed, verdict) {
            Outcome::Stopped
        } else {
            Outcome::Declined
        };
        self.risk.observe(&proposed.observation().clone().with_outcome(outcome));
        if verdict.decision == Decision::StepUp {
            self.confirmations.stopped(Pending {
                action: proposed.kind().as_str().to_owned(),
                call: Some(proposed.digest()),
                owner: self.who.user.clone(),
                session: self.who.session.clone(),
                blocked_at: now,
                grounds: question::grounds(proposed, &verdict.objections),
            });
        }
        Change { risk: Some(self.risk.snapshot().clone()), ..self.counted() }
    }

    /// Can somebody outside be behind a call that was stopped? Whoever has read nothing from outside and is refused
    /// something has made a mistake; a question to a person is none of the agent's doing; but a value that such content
    /// chose, and a secret that would have left, speak for themselves.
    fn may_be_an_attack(&self, proposed: &Proposed, verdict: &Verdict) -> bool {
        if !proposed.held().is_empty() || proposed.traced().has_foreign_value() {
            return true;
        }
        verdict.decision == Decision::Deny && taint::is_outside(self.flags())
    }
}
