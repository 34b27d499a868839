//! The kind of a call: the same tool, the same deed, the same place and the same arguments, but for what is only said.
//! A person may say yes to it, and then it is this that the yes is bound to. Commands say everything by their words:
//! of a kind are only the same ones.

use aegx::{Digest, Sorted};
use model::{Objection, Role};
use serde::{Deserialize, Serialize};

use crate::preview::preview;
use crate::proposed::Proposed;
use crate::provenance::{Label, Sink};
use crate::question::Grounds;
use crate::rule::Rule;

/// What these ask about is asked about each time.
const EACH_TIME: [Rule; 2] = [Rule::CredentialScope, Rule::ObeyedFile];
/// How much of an argument is shown, in characters.
const ARGUMENT_CHARS_SHOWN: usize = 200;

/// The kind of a call, as a person is shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownKind {
    /// The hash of user, agent, tool, deed, place and arguments.
    pub digest: String,
    /// The place: commands, hosts, paths, who gets something, and the arguments that are the same each time.
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
    let each_time = |it: &Objection| EACH_TIME.iter().any(|rule| it.rule == rule.as_str());
    if named.unread || named.cut || is_open || objections.iter().any(each_time) {
        return None;
    }
    let commands = named.commands.iter().cloned();
    let hosts = named.hosts.iter().map(ToString::to_string);
    let paths = named.paths.iter().map(ToString::to_string);
    let mut place: Vec<String> =
        commands.chain(hosts).chain(paths).chain(named.recipients.iter().cloned()).collect();
    if place.is_empty() {
        return None;
    }
    let arguments = arguments(proposed, runs);
    let who = proposed.who();
    let fixed = [
        who.user.as_str(),
        who.agent.as_str(),
        proposed.kind().as_str(),
        proposed.understood().tool(),
    ];
    let programs = named.programs.iter().map(String::as_str);
    let values = arguments.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    let mut hasher = aegx::Hasher::new();
    for part in
        fixed.into_iter().chain(programs).chain(place.iter().map(String::as_str)).chain(values)
    {
        // Lengths first, so that no part can end in another.
        hasher.update(&part.len().to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let digest: Digest = hasher.finish();
    let roles = &proposed.understood().call.flow.roles;
    let seen = arguments.iter().filter(|(name, _)| roles.get(name) != Some(&Role::Secret));
    place.extend(
        seen.map(|(name, value)| format!("{name}: {}", preview(value, ARGUMENT_CHARS_SHOWN))),
    );
    let grounds = grounds(proposed, objections);
    Some(ShownKind { digest: digest.to_hex().as_str().to_owned(), place, grounds })
}

/// The arguments that are the same in each of its kind, in one order and one spelling: all but what is only said or a
/// secret, and of what `runs` something all.
fn arguments(proposed: &Proposed, runs: bool) -> Vec<(String, String)> {
    let asked = &proposed.understood().call;
    let is_said =
        |name: &str| matches!(asked.flow.roles.get(name), Some(Role::Content | Role::Secret));
    let of = asked.call.args().iter().filter(|(name, _)| runs || !is_said(name));
    let mut all: Vec<_> =
        of.map(|(name, value)| (name.clone(), Sorted(value).to_string())).collect();
    all.sort();
    all
}

/// What a call is stopped for, without the values that differ from call to call: who gets something and what is
/// acted on are the same in each of its kind, and what a text ordered is asked about each time.
fn grounds(proposed: &Proposed, objections: &[Objection]) -> Grounds {
    let roles = &proposed.understood().call.flow.roles;
    let counts = |it: &&Sink| {
        let is_place = matches!(roles.get(&it.param), Some(Role::Destination | Role::Target));
        let is_ordered = matches!(
            it.label,
            Label::Flagged(_)
                | Label::Ordered(_)
                | Label::Doubted
                | Label::Several(_)
                | Label::Wider
                | Label::Instead
        );
        !it.label.is_chosen() && (is_place || is_ordered)
    };
    let values = proposed.traced().sinks.iter().filter(counts).map(Grounds::value);
    let objections = objections.iter().map(|it| Grounds::objection(&it.rule, &it.code));
    objections.chain(values).fold(Grounds::default(), Grounds::and)
}
