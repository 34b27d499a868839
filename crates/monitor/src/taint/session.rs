//! All that a session knows of taint, as one value.

use aegx::Digest;
use model::{Taint, TaintTag};

use super::{Blocked, Budget, Rules, TaintDelta, Tracker, is_outside};

/// Budget and tracker of one session, changed together and only by a [`TaintDelta`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTaint {
    budget: Budget,
    tracker: Tracker,
}

impl SessionTaint {
    /// What a content with this label would add. Make it durable, then [`apply`](Self::apply) it.
    ///
    /// An empty content from outside still marks the session.
    #[must_use]
    pub fn delta(&self, label: &TaintTag, text: &str) -> TaintDelta {
        self.budget.delta(label, text)
    }

    /// As [`delta`](Self::delta), for content of which only the length is known: files, pictures.
    #[must_use]
    pub fn delta_tokens(&self, label: &TaintTag, tokens: u64) -> TaintDelta {
        let at_least = u64::from(is_outside(label.taint));
        self.budget.delta_tokens(label, tokens.max(at_least))
    }

    /// As [`delta_tokens`](Self::delta_tokens), for content from outside that may be found again: the
    /// same content counts once.
    #[must_use]
    pub fn delta_found(&self, label: &TaintTag, tokens: u64, content: Digest) -> TaintDelta {
        self.budget.delta_found(label, tokens.max(1), content)
    }

    /// Adds a change.
    pub fn apply(&mut self, delta: &TaintDelta) {
        self.budget.apply(delta);
        self.tracker.apply(delta);
    }

    /// Takes in a content; returns the change.
    pub fn absorb(&mut self, label: &TaintTag, text: &str) -> TaintDelta {
        let delta = self.delta(label, text);
        self.apply(&delta);
        delta
    }

    /// May this action happen without a person?
    ///
    /// # Errors
    /// If it is sensitive and more of the session came from outside than the rules allow.
    pub fn check(&self, rules: &Rules, action: &str) -> Result<(), Blocked> {
        self.budget.check(rules, action)
    }

    /// Did anything come from outside?
    #[must_use]
    pub fn is_tainted(&self) -> bool {
        self.tracker.is_tainted()
    }

    /// All flags.
    #[must_use]
    pub fn taint(&self) -> Taint {
        self.tracker.taint()
    }

    /// What everything carries that the session writes; none while it is clean.
    #[must_use]
    pub fn tag(&self) -> Option<TaintTag> {
        self.tracker.tag()
    }

    /// The counts.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Everything, as one change of an empty session: what replaces all changes so far.
    #[must_use]
    pub fn snapshot(&self) -> TaintDelta {
        let mut delta = TaintDelta::default();
        self.budget.write_to(&mut delta);
        self.tracker.write_to(&mut delta);
        delta
    }

    /// What an agent begins with that this session delegates to: the same taint and the same share.
    #[must_use]
    pub fn for_child(&self) -> TaintDelta {
        let mut delta = self.snapshot();
        delta.inherited_tokens = delta.tainted_tokens;
        delta
    }

    /// What the session that delegated to this one takes back: what came in from outside since,
    /// and no credit. Given back twice it counts twice.
    #[must_use]
    pub fn for_parent(&self) -> TaintDelta {
        let mut delta = self.snapshot();
        delta.tainted_tokens = self.budget.own_tainted_tokens();
        delta.clean_quarters = 0;
        delta.inherited_tokens = 0;
        delta.peak_millionths = 0;
        delta.seen_clean.clear();
        delta
    }
}

#[cfg(test)]
mod tests {
    use model::{Profile, Source};

    use super::super::label;
    use super::*;

    #[test]
    fn a_snapshot_is_the_session() {
        let mut session = SessionTaint::default();
        for number in 0..40 {
            let source = if number % 3 == 0 { Source::User } else { Source::Web };
            let text = format!("content number {number} {}", "of some length ".repeat(8));
            session.absorb(&label(source, &format!("origin-{number}"), number), &text);
        }
        let mut again = SessionTaint::default();
        again.apply(&session.snapshot());
        assert_eq!(again, session);
    }

    #[test]
    fn an_empty_page_marks_the_session() {
        let mut session = SessionTaint::default();
        session.absorb(&label(Source::User, "", 0), "");
        assert!(!session.is_tainted());
        session.absorb(&label(Source::Web, "https://empty.example", 0), "");
        assert!(session.is_tainted());
        assert!(session.check(&Rules::of(Profile::Yolo), "oauth_call").is_err());
    }

    #[test]
    fn a_child_begins_as_its_parent_is_and_gives_back_what_it_fetched() {
        let mut parent = SessionTaint::default();
        parent.absorb(&label(Source::User, "", 0), &"please look this up ".repeat(100));
        let mut child = SessionTaint::default();
        child.apply(&parent.for_child());
        assert_eq!(child.budget().clean_tokens(), parent.budget().clean_tokens());
        child.absorb(&label(Source::Web, "https://a.example", 1), &"page text ".repeat(1000));
        child.absorb(&label(Source::System, "", 1), &"operator text ".repeat(1000));

        let clean = parent.budget().clean_tokens();
        parent.apply(&child.for_parent());
        assert!(parent.is_tainted());
        assert_eq!(parent.budget().clean_tokens(), clean);
        assert_eq!(parent.budget().tainted_tokens(), 2500);

        let mut second = SessionTaint::default();
        second.apply(&parent.for_child());
        assert!(second.is_tainted());
        assert_eq!(second.for_parent().tainted_tokens, 0);
    }
}
