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
        let admission = proposed.admission();
        let Admission::Layered { global, manifest, user, origin, .. } = admission else {
            return Vec::new();
        };
        let asked = proposed.understood();
        let tool = Tool::new(proposed.who().agent.as_str(), asked.tool(), asked.kind())
            .running_commands(proposed.commands().iter().any(|it| it.is_certain));
        let args = asked.call.call.args();
        let layers = Layers { global, manifest, user };
        let objects = |sub_agent| {
            let request = Request { tool: &tool, args, origin: *origin, sub_agent };
            access::decide(&layers, &request).err()
        };
        admission.callers().into_iter().find_map(objects).into_iter().collect()
    }
}
