//! Objects to a sensitive action in a session of which too much came from outside.
//!
//! Threat: what a page or a mail says acts through the agent. The session's user may confirm the action.

use model::{Decision, Objection};
use policy::Confirmed;

use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;

/// The code by which a door knows that it is to ask the user.
pub const TAINT_BLOCKED: &str = "taint_blocked";

pub(crate) struct TaintBudget;

impl Guard<Proposed> for TaintBudget {
    fn id(&self) -> Rule {
        Rule::TaintBudget
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        let Some(why) = proposed.over_budget() else { return Vec::new() };
        if proposed.confirmed() != Confirmed::Nothing {
            return Vec::new();
        }
        vec![
            Objection::new(self.id(), Decision::StepUp, TAINT_BLOCKED, why)
                .with_remedy("ask the user; their yes counts for this action in this session"),
        ]
    }
}
