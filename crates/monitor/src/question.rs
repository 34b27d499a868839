//! What a person is shown of a call that waits for them: short, and with nothing in it that could act
//! on a terminal or hide what stands beside it.

use std::collections::BTreeSet;

use aegx::Digest;
use aegx::verify::printable;
use model::{Objection, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approvals::{ExactCall, QUESTION_SECONDS, Question};
use crate::preview::{PREVIEW_CHARS_MAX, preview};
use crate::proposed::Proposed;
use crate::provenance::Sink;

/// How much of an argument is shown, in characters. The others are not pushed out of sight by it.
const ARG_CHARS_MAX: usize = 1000;
/// How many reasons are shown.
const REASONS_MAX: usize = 20;
/// How many values are shown with where they came from.
const VALUES_MAX: usize = 20;

/// What a person is shown. What came from a call is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The tool, or the action of the host.
    pub tool: String,
    /// All its arguments, in order of their names.
    pub args: Vec<ShownArg>,
    /// Who or what would get something.
    pub destinations: Vec<String>,
    /// Why it was stopped, the strictest first.
    pub reasons: Vec<Reason>,
    /// Values that the user did not choose, and where they came from.
    pub values: Vec<ShownValue>,
    /// What of the outside came into the session last; empty while nothing has.
    pub origin: String,
    /// All that the call was stopped for, so that an answer is good for nothing else.
    #[serde(default)]
    pub grounds: Grounds,
}

/// What a call is stopped for: its objections, and the values that the user did not choose, each with
/// what is known of it. They are kept as hashes: they are compared, and a value may be long or secret.
///
/// INVARIANT (ShownThenLifted): a yes lifts only what it was given for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grounds(BTreeSet<String>);

impl Grounds {
    /// The grounds of an objection by a rule with a code.
    #[must_use]
    pub fn objection(rule: &str, code: &str) -> Self {
        Self::hashed(&["objection", rule, code])
    }

    /// All of both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Is there nothing in it that is not in `shown`?
    #[must_use]
    pub fn are_within(&self, shown: &Self) -> bool {
        self.0.is_subset(&shown.0)
    }

    fn value(sink: &Sink) -> Self {
        Self::hashed(&["value", &sink.param, &sink.atom, &sink.label.word()])
    }

    /// Each part with its length, so that no two lists of parts are one text.
    fn hashed(parts: &[&str]) -> Self {
        let text: String = parts.iter().map(|it| format!("{}:{it}", it.len())).collect();
        Self(BTreeSet::from([Digest::of(text.as_bytes()).to_hex().as_str().to_owned()]))
    }
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownArg {
    /// Its name.
    pub name: String,
    /// Its beginning.
    pub value: String,
    /// How many characters of it are not shown.
    pub hidden_chars: usize,
}

/// Why a call was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The rule or guard.
    pub rule: String,
    /// One sentence.
    pub why: String,
}

/// A value that the user did not choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownValue {
    /// The parameter.
    pub param: String,
    /// The value, shortened.
    pub value: String,
    /// What is known of it.
    pub label: String,
    /// Where it came from; empty if it was seen nowhere.
    pub source: String,
}

/// The question about a call that these objections stop.
pub(crate) fn of(proposed: &Proposed, objections: &[Objection], now: i64) -> Question {
    let who = proposed.who();
    Question {
        call: exact(proposed),
        user: who.user.clone(),
        agent: who.agent.clone(),
        shown: shown(proposed, objections),
        created: now,
        expires: now.saturating_add(QUESTION_SECONDS),
    }
}

/// Exactly this call.
pub(crate) fn exact(proposed: &Proposed) -> ExactCall {
    let session = proposed.who().session.clone();
    ExactCall { session, action: proposed.kind(), digest: proposed.digest() }
}

/// What this call is stopped for.
pub(crate) fn grounds(proposed: &Proposed, objections: &[Objection]) -> Grounds {
    let strange = proposed.traced().sinks.iter().filter(|it| !it.label.is_chosen());
    let objections = objections.iter().map(|it| Grounds::objection(&it.rule, &it.code));
    objections.chain(strange.map(Grounds::value)).fold(Grounds::default(), Grounds::and)
}

fn shown(proposed: &Proposed, objections: &[Objection]) -> Shown {
    let call = &proposed.understood().call;
    let role = |param: &str| call.flow.roles.get(param).copied();
    let mut args: Vec<ShownArg> =
        call.call.args().iter().map(|(name, value)| arg(name, value, role(name))).collect();
    args.sort_by(|one, other| one.name.cmp(&other.name));
    let sinks = || proposed.traced().sinks.iter();
    let destinations = sinks().filter(|it| role(&it.param) == Some(Role::Destination));
    let reasons = objections.iter().take(REASONS_MAX);
    let strange = sinks().filter(|it| !it.label.is_chosen());
    Shown {
        tool: printable(proposed.understood().tool()),
        args,
        destinations: destinations.take(VALUES_MAX).map(|it| short(&it.atom)).collect(),
        reasons: reasons
            .map(|it| Reason { rule: it.rule.to_string(), why: short(&it.for_person) })
            .collect(),
        values: strange.take(VALUES_MAX).map(value).collect(),
        origin: proposed.tag().map(|it| short(&it.origin)).unwrap_or_default(),
        grounds: grounds(proposed, objections),
    }
}

fn arg(name: &str, value: &Value, role: Option<Role>) -> ShownArg {
    let text = if role == Some(Role::Secret) {
        // INVARIANT (SecretsDoNotPrint): what is shown is also kept.
        "(a secret)".to_owned()
    } else {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    let beginning: String = text.chars().take(ARG_CHARS_MAX).collect();
    ShownArg {
        name: short(name),
        hidden_chars: text.chars().count() - beginning.chars().count(),
        value: printable(&beginning),
    }
}

fn value(sink: &Sink) -> ShownValue {
    ShownValue {
        param: short(&sink.param),
        value: short(&sink.atom),
        label: short(&sink.label.word()),
        source: sink.label.source().map(short).unwrap_or_default(),
    }
}

fn short(text: &str) -> String {
    printable(&preview(text, PREVIEW_CHARS_MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_argument_is_cut_and_cannot_act_on_a_terminal() {
        let shown = arg("body", &json!(format!("\u{1b}[2J\u{202e}{}", "x".repeat(2000))), None);
        assert!(shown.value.starts_with(r"\u{1b}[2J\u{202e}xxx"), "{}", shown.value);
        assert_eq!(shown.hidden_chars, 2005 - ARG_CHARS_MAX);
        let list = arg("to", &json!(["a@b.example"]), Some(Role::Destination));
        assert_eq!((list.value.as_str(), list.hidden_chars), (r#"["a@b.example"]"#, 0));
        let secret = arg("password", &json!("hunter2"), Some(Role::Secret));
        assert_eq!(secret.value, "(a secret)");
    }
}
