//! Objects to a tool that one of the five layers does not let pass.
//!
//! Threat: an agent or a user has more than the host, the manifest, the sandbox, the users file or the
//! list of operations gives them.

use model::Objection;

use crate::guards::Guard;
use crate::proposed::Proposed;

pub(crate) struct LayeredAccess;

impl Guard<Proposed> for LayeredAccess {
    fn id(&self) -> &'static str {
        "layered-access"
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        proposed.access().into_iter().cloned().collect()
    }
}
