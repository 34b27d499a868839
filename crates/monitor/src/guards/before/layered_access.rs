//! Objects to a tool that one of the five layers does not let pass.
//!
//! Threat: an agent or a user has more than the host, the manifest, the sandbox, the users file or the
//! list of operations gives them.

use model::Objection;
use policy::access::{self, Layers, Request, Tool};

use crate::admission::Admission;
use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;

pub(crate) struct LayeredAccess;

impl Guard<Proposed> for LayeredAccess {
    fn id(&self) -> Rule {
        Rule::LayeredAccess
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        let Admission::Layered { global, manifest, user, origin } = proposed.admission() else {
            return Vec::new();
        };
        let asked = proposed.understood();
        let tool = Tool::new(proposed.who().agent.as_str(), asked.tool(), asked.kind());
        let args = asked.call.call.args();
        let request = Request { tool: &tool, args, origin: *origin, sub_agent: None };
        let layers = Layers { global, manifest, user };
        access::decide(&layers, &request).err().into_iter().collect()
    }
}
