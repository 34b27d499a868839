//! What the policy says of a call.

use std::sync::Arc;

use model::{Decision, Objection, Taint};

/// A yes. Only [`crate::Policy::decide`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    rule: Arc<str>,
    taint: Taint,
}

/// What the policy says of a call: perhaps a grant, and what it has against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The permission, if a rule gives one. Without it the call is denied.
    pub grant: Option<Grant>,
    /// What stands against the call, in the order of the rules. Where there is no grant, the last
    /// one says so.
    pub objections: Vec<Objection>,
}

impl Grant {
    pub(crate) fn new(rule: Arc<str>, taint: Taint) -> Self {
        Self { rule, taint }
    }

    /// The id of the rule that permits; the first one, if there are several.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The flags that what comes back will carry, whatever else is known of it.
    #[must_use]
    pub fn taint(&self) -> Taint {
        self.taint
    }
}

impl Verdict {
    /// The strictest of everything: no grant is a denial, each objection counts.
    #[must_use]
    pub fn decision(&self) -> Decision {
        let silent = if self.grant.is_some() { Decision::Allow } else { Decision::Deny };
        self.objections.iter().map(|it| it.decision).fold(silent, Decision::max)
    }

    /// The id of the rule that decides: the first of the strictest objections, or the grant's.
    #[must_use]
    pub fn rule(&self) -> &str {
        let decision = self.decision();
        let strictest = self.objections.iter().find(|it| it.decision == decision);
        match (strictest, &self.grant) {
            (Some(objection), _) => &objection.rule,
            (None, Some(grant)) => grant.rule(),
            (None, None) => crate::DEFAULT_DENY,
        }
    }
}
