//! The kind of a call: the same tool, the same deed and the same place, whatever else it says. A person may say
//! yes to it, and then it is this that the yes is bound to.

use aegx::Digest;
use model::{Objection, Role};
use serde::{Deserialize, Serialize};

use crate::proposed::Proposed;
use crate::provenance::{Label, Sink};
use crate::question::Grounds;

/// The kind of a call, as a person is shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownKind {
    /// The hash of user, agent, tool, deed and place.
    pub digest: String,
    /// The place: commands, hosts, paths, who gets something.
    pub place: Vec<String>,
    /// What a call of this kind was stopped for.
    pub grounds: Grounds,
}

/// The kind of this call, if it has one that a person can say yes to. What names no place, what could not be
/// read whole, and what runs code or other programs is one of a kind.
pub(crate) fn of(proposed: &Proposed, objections: &[Objection]) -> Option<ShownKind> {
    let named = proposed.named();
    let runs = !named.programs.is_empty();
    let is_open = runs && (named.commands.is_empty() || named.classes.contains("execute"));
    if named.unread || named.cut || is_open {
        return None;
    }
    let commands = named.commands.iter().cloned();
    let hosts = named.hosts.iter().map(ToString::to_string);
    let paths = named.paths.iter().map(ToString::to_string);
    let place: Vec<String> =
        commands.chain(hosts).chain(paths).chain(named.recipients.iter().cloned()).collect();
    if place.is_empty() {
        return None;
    }
    let who = proposed.who();
    let fixed = [
        who.user.as_str(),
        who.agent.as_str(),
        proposed.kind().as_str(),
        proposed.understood().tool(),
    ];
    let programs = named.programs.iter().map(String::as_str);
    let mut hasher = aegx::Hasher::new();
    for part in fixed.into_iter().chain(programs).chain(place.iter().map(String::as_str)) {
        // Lengths first, so that no part can end in another.
        hasher.update(&part.len().to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let digest: Digest = hasher.finish();
    let grounds = grounds(proposed, objections);
    Some(ShownKind { digest: digest.to_hex().as_str().to_owned(), place, grounds })
}

/// What a call is stopped for, without the values that differ from call to call: who gets something and what is
/// acted on are the same in each of its kind, and what a text ordered is asked about each time.
fn grounds(proposed: &Proposed, objections: &[Objection]) -> Grounds {
    let roles = &proposed.understood().call.flow.roles;
    let counts = |it: &&Sink| {
        let is_place = matches!(roles.get(&it.param), Some(Role::Destination | Role::Target));
        let is_ordered = matches!(it.label, Label::Flagged(_) | Label::Ordered(_) | Label::Doubted);
        !it.label.is_chosen() && (is_place || is_ordered)
    };
    let values = proposed.traced().sinks.iter().filter(counts).map(Grounds::value);
    let objections = objections.iter().map(|it| Grounds::objection(&it.rule, &it.code));
    objections.chain(values).fold(Grounds::default(), Grounds::and)
}
