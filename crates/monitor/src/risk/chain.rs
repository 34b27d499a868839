//! Attacks in steps within one turn: each step looks harmless, the order does not.
//!
//! `RiskChainAccumulator`. A chain completes only in order and within a turn, it stops the
//! call that would complete it, and reading alone never is a chain.

use model::{Decision, Objection};
use serde::{Deserialize, Serialize};

use super::{Classes, Observation};
use crate::rule::Rule;

const RULE: Rule = Rule::RiskChain;

/// The chains that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// A sensitive file was read, and now something would leave.
    ExfilReadThenSend,
    /// A credential was read, and now something would leave.
    CredThenEgress,
    /// Rights were changed, and now they would be changed again.
    ScopeEscalation,
}

/// What happened in this turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chain {
    /// Of this session, of its parent before it began, and in the answers of its children.
    seen: Classes,
    /// Of this session alone.
    own: Classes,
}

impl Chain {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn observe(&mut self, classes: Classes) {
        self.seen |= classes;
        self.own |= classes;
    }

    /// The chain that a call of these classes would complete; the worst one if there are several.
    pub(super) fn completed_by(&self, next: Classes) -> Option<Pattern> {
        let within = next.contains(Classes::SENDS_ITS_READ);
        let reads = if within { self.seen.union(next) } else { self.seen };
        let sends = next.contains(Classes::EGRESS);
        if sends && reads.contains(Classes::SENSITIVE_READ) {
            Some(Pattern::ExfilReadThenSend)
        } else if sends && reads.contains(Classes::CREDENTIAL_READ) {
            Some(Pattern::CredThenEgress)
        } else if self.seen.intersection(next).contains(Classes::SCOPE_CHANGE) {
            Some(Pattern::ScopeEscalation)
        } else {
            None
        }
    }

    pub(super) fn forget_own(&mut self) {
        self.own = Classes::NONE;
    }

    /// The answer of a child, to which this session's delegation has led, may hold what the child
    /// has read. Told once: what is told again in a later turn would make a chain across turns.
    pub(super) fn answered_by(&mut self, child: &mut Self) {
        let own = std::mem::take(&mut child.own);
        self.observe(own.intersection(Classes::READS));
    }
}

impl Pattern {
    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExfilReadThenSend => "exfil_read_then_send",
            Self::CredThenEgress => "cred_then_egress",
            Self::ScopeEscalation => "scope_escalation",
        }
    }

    /// The call is stopped. What was read cannot be unread, so nobody may wave the first two
    /// through; the person's next message begins a new turn. Rights are asked for one by one.
    const fn decision(self) -> Decision {
        match self {
            Self::ExfilReadThenSend | Self::CredThenEgress => Decision::Deny,
            Self::ScopeEscalation => Decision::StepUp,
        }
    }

    pub(super) fn objection(self, proposed: &Observation) -> Objection {
        let name = proposed.name();
        let (why, remedy) = match self {
            Self::ExfilReadThenSend => (
                format!("`{name}` would send something out after a sensitive file was read"),
                "send it before reading, or let the person ask for it in a new message",
            ),
            Self::CredThenEgress => (
                format!("`{name}` would send something out after a credential was read"),
                "send it before reading, or let the person ask for it in a new message",
            ),
            Self::ScopeEscalation => (
                format!("`{name}` would change rights again in the same turn"),
                "let the person approve this change",
            ),
        };
        Objection::new(RULE, self.decision(), self.as_str(), why).with_remedy(remedy)
    }
}
