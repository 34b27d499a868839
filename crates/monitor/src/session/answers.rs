//! What the person of a session has said yes to.

use aegx::Digest;
use policy::Confirmed;

use super::Session;
use crate::change::Change;
use crate::confirm::ConfirmDelta;
use crate::proposed::Proposed;
use crate::question::Grounds;

impl Session {
    /// What a person has said yes to that covers this call.
    pub(crate) fn confirmed(&self, action: &str, call: Digest, now: i64) -> Confirmed {
        match self.confirmations.take(action, call, now) {
            Some(ConfirmDelta::Spent(grant)) if grant.call().is_some() => Confirmed::Exactly,
            Some(ConfirmDelta::Spent(_) | ConfirmDelta::Granted(_)) => Confirmed::Kind,
            None => Confirmed::Nothing,
        }
    }

    /// The same without a yes to this very call.
    pub(crate) fn confirmed_in_kind(&self, action: &str, now: i64) -> Confirmed {
        if self.confirmations.covers_action(action, now) {
            Confirmed::Kind
        } else {
            Confirmed::Nothing
        }
    }

    /// Uses up the yes to exactly this call.
    pub(crate) fn use_confirmation(&mut self, proposed: &Proposed, now: i64) -> Change {
        let spent = self.confirmations.take(proposed.kind().as_str(), proposed.digest(), now);
        self.take(Change { confirm: spent.into_iter().collect(), ..Change::default() })
    }

    /// Does the yes to exactly this call lift all that speaks against it now?
    pub(crate) fn is_lifted(&self, proposed: &Proposed, grounds: &Grounds, now: i64) -> bool {
        match self.confirmations.take(proposed.kind().as_str(), proposed.digest(), now) {
            Some(ConfirmDelta::Spent(grant) | ConfirmDelta::Granted(grant)) => grant.lifts(grounds),
            None => false,
        }
    }

    /// What spoke against a call that waits for the user.
    pub(crate) fn grounds_of(&self, call: Digest) -> Option<Grounds> {
        let mut pending = self.confirmations.pending().iter();
        pending.find(|it| it.call == Some(call)).map(|it| it.grounds.clone())
    }

    /// A person has said yes to this call elsewhere.
    pub(crate) fn answered_elsewhere(&mut self, proposed: &Proposed) {
        self.confirmations.answered(proposed.kind().as_str(), proposed.digest());
    }
}
