//! Objects to acts in a session that has taken in words of a sandboxed tool server, unless the user chose everything in them.
//!
//! Threat: the confused deputy. A server that nobody trusts answers a harmless question with a wish, and the agent, who may do
//! more than the server, does it. Looking stays open, and so does the server itself: it hears no more than it would anyway.

use model::{Decision, Group, Objection};

use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::provenance::Label;
use crate::rule::Rule;

pub(crate) struct SandboxedServer;

impl Guard<Proposed> for SandboxedServer {
    fn id(&self) -> Rule {
        Rule::SandboxedServer
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        let Some(first) = proposed.sandboxed().first() else { return Vec::new() };
        if !acts(proposed) || is_of_its_own(proposed) || is_chosen(proposed) {
            return Vec::new();
        }
        let why = format!(
            "the session holds what the sandboxed tool server `{first}` said, and nothing may be done because of that"
        );
        let objection = Objection::new(self.id(), Decision::Deny, "confused_deputy", why);
        vec![objection.with_remedy(
            "let the user name exactly what is to be done, or do it in a session without this server",
        )]
    }
}

/// Does it change something, or let something out?
fn acts(proposed: &Proposed) -> bool {
    let groups = proposed.kind().groups();
    proposed.kind().is_call()
        && (groups.contains(&Group::Changing) || groups.contains(&Group::Outward))
}

/// Is it a call of the only server whose words are here?
fn is_of_its_own(proposed: &Proposed) -> bool {
    let tool = proposed.understood().tool();
    let is_its = |server: &String| {
        let rest = tool.strip_prefix("mcp__").and_then(|it| it.strip_prefix(server.as_str()));
        rest.is_some_and(|it| it.starts_with("__"))
    };
    proposed.sandboxed().len() == 1 && proposed.sandboxed().iter().all(is_its)
}

/// Did the user or the operator choose every value that decides something?
fn is_chosen(proposed: &Proposed) -> bool {
    let sinks = &proposed.traced().sinks;
    let is_theirs = |it: &Label| matches!(it, Label::User | Label::Operator | Label::ListedTrusted);
    !sinks.is_empty() && sinks.iter().all(|it| is_theirs(&it.label))
}
