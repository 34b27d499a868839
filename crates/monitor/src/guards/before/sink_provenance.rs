//! Objects to arguments that untrusted content chose, and to acts that nobody asked for.
//!
//! Threat: an address, an id or a command from a page becomes where something goes or what is done.

use model::Objection;

use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;

pub(crate) struct SinkProvenance;

impl Guard<Proposed> for SinkProvenance {
    fn id(&self) -> Rule {
        Rule::SinkProvenance
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        proposed.traced().objections.clone()
    }
}
