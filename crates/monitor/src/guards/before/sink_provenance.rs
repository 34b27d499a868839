//! Objects to arguments that untrusted content chose, and to acts that nobody asked for.
//!
//! Threat: an address, an id or a command from a page becomes where something goes or what is done.

use model::Objection;

use crate::guards::Guard;
use crate::proposed::Proposed;

pub(crate) struct SinkProvenance;

impl Guard<Proposed> for SinkProvenance {
    fn id(&self) -> &'static str {
        "sink-provenance"
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        proposed.traced().objections.clone()
    }
}
