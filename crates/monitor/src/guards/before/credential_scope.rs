//! Objects to a call with keys that the agent's manifest does not grant, or grants only when a person was
//! asked.
//!
//! Threat: an agent uses keys that were meant for another agent, or for a moment when somebody looks.

use model::Objection;

use crate::guards::Guard;
use crate::proposed::Proposed;

pub(crate) struct CredentialScope;

impl Guard<Proposed> for CredentialScope {
    fn id(&self) -> &'static str {
        "credential-scope"
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        proposed.credentials().into_iter().cloned().collect()
    }
}
