//! Objects to a call that would complete what earlier calls of the session began.
//!
//! Threat: each step is harmless alone: read a secret, then send.

use model::Objection;

use crate::guards::Guard;
use crate::proposed::Proposed;

pub(crate) struct RiskAcrossCalls;

impl Guard<Proposed> for RiskAcrossCalls {
    fn id(&self) -> &'static str {
        "risk-across-calls"
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        proposed.risk().objections(proposed.observation())
    }
}
