//! What people have said yes to, until it is used or too old.

use aegx::Digest;
use model::Source;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::understand::{Confirmation, Message, Pending, understand};
use crate::question::Grounds;

/// How long a yes to one call can be used.
pub const CALL_GRANT_SECONDS: i64 = 600;
/// How long a yes to an action holds in its session.
pub const ACTION_GRANT_SECONDS: i64 = 12 * 60 * 60;
/// Things of one session that wait for an answer at a time.
pub const PENDING_MAX: usize = 16;
/// Answers of one session that are kept; the oldest makes room.
pub const GRANTS_MAX: usize = 64;

/// A person's yes, in one session: to an action there, or to one call and once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    action: String,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex")]
    call: Option<Digest>,
    expires_at: i64,
    /// What spoke against the call when the person said yes; nothing if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grounds: Option<Grounds>,
}

impl Grant {
    /// Yes to this call, once.
    #[must_use]
    pub fn for_call(action: &str, call: Digest, now: i64) -> Self {
        let expires_at = now.saturating_add(CALL_GRANT_SECONDS);
        Self { action: action.to_owned(), call: Some(call), expires_at, grounds: None }
    }

    /// Yes to this action, whatever the call, for the rest of the session.
    #[must_use]
    pub fn for_action(action: &str, now: i64) -> Self {
        let expires_at = now.saturating_add(ACTION_GRANT_SECONDS);
        Self { action: action.to_owned(), call: None, expires_at, grounds: None }
    }

    /// The same for these grounds and no others.
    #[must_use]
    pub fn on(self, grounds: Option<Grounds>) -> Self {
        Self { grounds, ..self }
    }

    /// Does it lift all of this?
    pub(crate) fn lifts(&self, grounds: &Grounds) -> bool {
        self.grounds.as_ref().is_none_or(|it| grounds.are_within(it))
    }

    /// The call, if it is for one.
    #[must_use]
    pub fn call(&self) -> Option<Digest> {
        self.call
    }

    fn covers(&self, action: &str, call: Digest, now: i64) -> bool {
        self.action == action && self.call.is_none_or(|it| it == call) && now < self.expires_at
    }
}

/// A change of what was confirmed, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmDelta {
    /// A person said yes.
    Granted(Grant),
    /// A yes to one call was used up.
    Spent(Grant),
}

/// What waits for the user of one session, and what they said yes to.
///
/// What waits is not kept over a restart: then the agent tries again and is stopped again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confirmations {
    pending: Vec<Pending>,
    /// More was stopped than is kept, so that no yes can be told to belong to one of them.
    crowded: bool,
    grants: Vec<Grant>,
}

impl Confirmations {
    /// Something was stopped and waits.
    pub fn stopped(&mut self, pending: Pending) {
        let same = |it: &&mut Pending| it.action == pending.action && it.call == pending.call;
        if let Some(again) = self.pending.iter_mut().find(same) {
            *again = pending;
        } else if self.pending.len() < PENDING_MAX {
            self.pending.push(pending);
        } else {
            self.crowded = true;
        }
    }

    /// This call does not wait any more: a person has said yes to it elsewhere.
    pub fn answered(&mut self, action: &str, call: Digest) {
        self.pending.retain(|it| !(it.action == action && it.call == Some(call)));
    }

    /// What waits, oldest first.
    #[must_use]
    pub fn pending(&self) -> &[Pending] {
        &self.pending
    }

    /// Listens to a message. After a word of the user nothing waits any more, unless it was a yes
    /// of which it is not clear to what; then they are asked and may say.
    ///
    /// With a yes comes the change to keep; it is not applied.
    pub fn hear(&mut self, message: &Message<'_>) -> (Confirmation, Option<ConfirmDelta>) {
        let mut understood = understand(message, &self.pending);
        if self.crowded && matches!(understood, Confirmation::Yes(_)) {
            understood = Confirmation::Ambiguous;
        }
        let granted = match understood {
            Confirmation::Yes(index) => self.pending.get(index).map(|it| granted(it, message.at)),
            Confirmation::No | Confirmation::Ambiguous | Confirmation::None => None,
        };
        let users = message.source == Source::User
            && self.pending.iter().all(|it| it.owner == *message.user);
        if users && understood != Confirmation::Ambiguous {
            self.pending.clear();
            self.crowded = false;
        }
        (understood, granted)
    }

    /// Is there a yes for this call? It is not used up; [`take`](Self::take) it before acting.
    #[must_use]
    pub fn covers(&self, action: &str, call: Digest, now: i64) -> bool {
        self.grants.iter().any(|it| it.covers(action, call, now))
    }

    /// Is there a yes to all calls of this action?
    #[must_use]
    pub fn covers_action(&self, action: &str, now: i64) -> bool {
        let live = |it: &&Grant| it.action == action && now < it.expires_at;
        self.grants.iter().filter(live).any(|it| it.call.is_none())
    }

    /// Finds the yes for this call, that for the call itself first. Keep and apply
    /// [`ConfirmDelta::Spent`] of it before acting, or it would count again.
    #[must_use]
    pub fn take(&self, action: &str, call: Digest, now: i64) -> Option<ConfirmDelta> {
        let mut found: Vec<_> =
            self.grants.iter().filter(|it| it.covers(action, call, now)).collect();
        found.sort_by_key(|it| it.call.is_none());
        found.first().map(|it| ConfirmDelta::Spent((*it).clone()))
    }

    /// Applies a change. A yes to an action is not used up by [`ConfirmDelta::Spent`].
    pub fn apply(&mut self, delta: &ConfirmDelta) {
        match delta {
            ConfirmDelta::Granted(grant) => {
                self.grants.retain(|it| (&it.action, it.call) != (&grant.action, grant.call));
                if self.grants.len() >= GRANTS_MAX {
                    self.grants.remove(0);
                }
                self.grants.push(grant.clone());
            }
            ConfirmDelta::Spent(grant) if grant.call.is_some() => {
                self.grants.retain(|it| (&it.action, it.call) != (&grant.action, grant.call));
            }
            ConfirmDelta::Spent(_) => {}
        }
    }

    /// What is still to be kept at `now`, as changes of an empty value.
    pub fn snapshot(&self, now: i64) -> impl Iterator<Item = ConfirmDelta> {
        let live = self.grants.iter().filter(move |it| now < it.expires_at);
        live.cloned().map(ConfirmDelta::Granted)
    }
}

fn granted(pending: &Pending, now: i64) -> ConfirmDelta {
    ConfirmDelta::Granted(match pending.call {
        Some(call) => Grant::for_call(&pending.action, call, now).on(Some(pending.grounds.clone())),
        None => Grant::for_action(&pending.action, now),
    })
}

mod hex {
    use super::{Deserialize, Deserializer, Digest, Error, Serializer};

    pub(super) fn serialize<S: Serializer>(it: &Option<Digest>, out: S) -> Result<S::Ok, S::Error> {
        match it {
            Some(digest) => out.collect_str(digest),
            None => out.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Digest>, D::Error> {
        // A hash that cannot be read must not become a yes to every call.
        let text = String::deserialize(from)?;
        let digest = Digest::from_hex(text.as_bytes());
        digest.map(Some).ok_or_else(|| D::Error::custom("the call is no hash"))
    }
}

#[cfg(test)]
mod tests {
    use model::{SessionId, UserId};

    use super::*;

    fn pending(action: &str, call: Option<Digest>) -> Pending {
        let session = SessionId::parse("s").unwrap();
        let owner = UserId::parse("ann").unwrap();
        let grounds = Grounds::default();
        Pending { action: action.to_owned(), call, session, owner, blocked_at: 0, grounds }
    }

    fn hear(it: &mut Confirmations, user: &str, source: Source, text: &str) -> Confirmation {
        let session = SessionId::parse("s").unwrap();
        let user = UserId::parse(user).unwrap();
        let message = Message { text, session: &session, source, user: &user, at: 10 };
        let (understood, delta) = it.hear(&message);
        delta.iter().for_each(|delta| it.apply(delta));
        understood
    }

    fn one() -> Digest {
        Digest::of(b"1")
    }

    #[test]
    fn a_yes_to_a_call_is_for_that_call_and_once() {
        let mut it = Confirmations::default();
        it.stopped(pending("oauth_call", Some(one())));
        assert_eq!(hear(&mut it, "ann", Source::User, "yes"), Confirmation::Yes(0));
        assert!(!it.covers("oauth_call", Digest::of(b"2"), 10));
        assert!(!it.covers("skill_propose", one(), 10));
        assert!(!it.covers("oauth_call", one(), 10 + CALL_GRANT_SECONDS));
        let spent = it.take("oauth_call", one(), 10).unwrap();
        it.apply(&spent);
        assert_eq!(it.take("oauth_call", one(), 10), None);
    }

    #[test]
    fn a_yes_to_an_action_holds_for_the_action() {
        let mut it = Confirmations::default();
        it.stopped(pending("oauth_call", None));
        assert_eq!(hear(&mut it, "ann", Source::User, "yes"), Confirmation::Yes(0));
        for call in [one(), Digest::of(b"2")] {
            let spent = it.take("oauth_call", call, 20).unwrap();
            it.apply(&spent);
        }
        assert!(it.covers("oauth_call", one(), 20) && !it.covers("skill_propose", one(), 20));
        let half_a_day = 43_200;
        assert!(it.covers("oauth_call", one(), 9 + half_a_day));
        assert!(!it.covers("oauth_call", one(), 10 + half_a_day));
    }

    #[test]
    fn only_the_first_word_after_the_block_counts() {
        let mut it = Confirmations::default();
        it.stopped(pending("oauth_call", None));
        // Others may talk in between; it neither confirms nor ends the waiting.
        assert_eq!(hear(&mut it, "bob", Source::User, "yes"), Confirmation::None);
        assert_eq!(hear(&mut it, "ann", Source::Agent, "yes"), Confirmation::None);
        assert_eq!(it.pending().len(), 1);
        assert_eq!(hear(&mut it, "ann", Source::User, "what is it?"), Confirmation::None);
        assert_eq!(hear(&mut it, "ann", Source::User, "yes"), Confirmation::None);
        assert!(!it.covers("oauth_call", one(), 10));
    }

    #[test]
    fn a_yes_without_an_object_may_be_completed() {
        let mut it = Confirmations::default();
        it.stopped(pending("oauth_call", None));
        it.stopped(pending("skill_propose", None));
        assert_eq!(hear(&mut it, "ann", Source::User, "yes"), Confirmation::Ambiguous);
        assert_eq!(hear(&mut it, "ann", Source::User, "yes, the skill"), Confirmation::Yes(1));
        assert!(it.covers("skill_propose", one(), 10) && !it.covers("oauth_call", one(), 10));
    }

    #[test]
    fn two_calls_of_one_action_are_two_questions_and_one_that_is_tried_again_is_one() {
        let mut it = Confirmations::default();
        it.stopped(pending("oauth_call", Some(one())));
        it.stopped(pending("oauth_call", Some(one())));
        assert_eq!(it.pending().len(), 1);
        it.stopped(pending("oauth_call", Some(Digest::of(b"2"))));
        it.stopped(pending("skill_propose", Some(one())));
        assert_eq!(it.pending().len(), 3);
        assert_eq!(hear(&mut it, "ann", Source::User, "yes, the email"), Confirmation::Ambiguous);
        assert!(!it.covers("oauth_call", one(), 10));
    }

    #[test]
    fn too_many_questions_cannot_be_answered_by_a_word() {
        let mut it = Confirmations::default();
        for number in 0..=PENDING_MAX {
            it.stopped(pending(&format!("tool{number}"), None));
        }
        assert_eq!(hear(&mut it, "ann", Source::User, "yes, tool3"), Confirmation::Ambiguous);
        assert_eq!(hear(&mut it, "ann", Source::User, "no"), Confirmation::No);
        it.stopped(pending("oauth_call", None));
        assert_eq!(hear(&mut it, "ann", Source::User, "yes"), Confirmation::Yes(0));
    }

    #[test]
    fn changes_read_back_and_a_broken_hash_is_no_grant() {
        for grant in
            [Grant::for_call("oauth_call", one(), 5), Grant::for_action("skill_propose", 5)]
        {
            let delta = ConfirmDelta::Granted(grant);
            let text = serde_json::to_string(&delta).unwrap();
            assert_eq!(serde_json::from_str::<ConfirmDelta>(&text).unwrap(), delta);
        }
        for bad in ["null", "\"\"", "\"xyz\"", "7"] {
            let text = format!(r#"{{"granted":{{"action":"a","call":{bad},"expires_at":9}}}}"#);
            assert!(serde_json::from_str::<ConfirmDelta>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_yes_to_an_action_is_told_from_one_to_a_call() {
        let call = Digest::of(b"call");
        let mut said = Confirmations::default();
        said.apply(&ConfirmDelta::Granted(Grant::for_call("oauth_call", call, 0)));
        assert!(said.covers("oauth_call", call, 1) && !said.covers_action("oauth_call", 1));
        said.apply(&ConfirmDelta::Granted(Grant::for_action("oauth_call", 0)));
        assert!(said.covers_action("oauth_call", 1) && !said.covers_action("web_fetch", 1));
        assert!(!said.covers_action("oauth_call", ACTION_GRANT_SECONDS));
    }

    #[test]
    fn grants_are_bounded_and_old_ones_are_not_kept() {
        let mut it = Confirmations::default();
        for number in 0..=GRANTS_MAX {
            it.apply(&ConfirmDelta::Granted(Grant::for_action(&format!("tool{number}"), 0)));
        }
        assert!(!it.covers("tool0", one(), 1) && it.covers("tool1", one(), 1));
        assert_eq!(it.snapshot(0).count(), GRANTS_MAX);
        assert_eq!(it.snapshot(ACTION_GRANT_SECONDS).count(), 0);
    }
}
