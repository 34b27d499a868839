//! Several outputs of one turn that give orders: together they confirm what each only suggests.
//!
//! `CrossToolCorrelator`: two or more flagged outputs confirm an injection whatever each of
//! them scored; nothing is carried into the next turn.

use model::{Decision, Objection};
use serde::{Deserialize, Serialize};

use super::{ADVISORY_MAX, Classes, Flag, Observation};
use crate::rule::Rule;

const RULE: Rule = Rule::CrossToolCorrelator;
const CODE: &str = "injection_confirmed";

/// Flagged outputs that confirm an injection.
const CONFIRMED_AT: usize = 2;
/// Flagged outputs that are told apart; more change nothing.
const OUTPUTS_MAX: usize = 8;

/// The flagged outputs of this turn, by fingerprint: an output that is read twice counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Correlator(Vec<u64>);

impl Correlator {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Was it new?
    pub(super) fn observe(&mut self, flag: Flag) -> bool {
        let new = !self.0.contains(&flag.content);
        if new && self.0.len() < OUTPUTS_MAX {
            self.0.push(flag.content);
        }
        new
    }

    pub(super) fn is_confirmed(&self) -> bool {
        self.0.len() >= CONFIRMED_AT
    }

    pub(super) fn merge(&mut self, child: &Self) {
        self.0.extend(&child.0);
        self.bound();
    }

    /// Each once, and not too many of them.
    pub(super) fn bound(&mut self) {
        self.0.sort_unstable();
        self.0.dedup();
        self.0.truncate(OUTPUTS_MAX);
    }
}

/// In a turn with a confirmed injection, what was taken from a flagged output does not happen, and
/// rights change only with a person's word. Work on other sources goes on.
pub(super) fn objection(proposed: &Observation) -> Option<Objection> {
    let name = proposed.name();
    if proposed.from_flagged {
        let why = format!("`{name}` would follow an output that gives orders, one of several");
        let remedy = "let the person ask for it in a new message";
        return Some(Objection::new(RULE, Decision::Deny, CODE, why).with_remedy(remedy));
    }
    if proposed.classes.contains(Classes::SCOPE_CHANGE) {
        let why = format!("`{name}` would change rights in a turn in which outputs give orders");
        let remedy = "let the person approve this change";
        return Some(Objection::new(RULE, ADVISORY_MAX, CODE, why).with_remedy(remedy));
    }
    None
}
