//! Objects to a call that would complete what earlier calls of the session began.
//!
//! Threat: each step is harmless alone: read a secret, then send.

use model::Objection;

use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;

pub(crate) struct RiskAcrossCalls;

impl Guard<Proposed> for RiskAcrossCalls {
    fn id(&self) -> Rule {
        Rule::RiskAcrossCalls
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        proposed.risk().objections(proposed.observation())
    }
}
