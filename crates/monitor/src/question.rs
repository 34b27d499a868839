//! What a person is shown of a call that waits for them: short, the worst first, and what is left out is
//! counted. Whoever shows it on a terminal escapes it.

use std::collections::BTreeSet;

use aegx::Digest;
use model::{Objection, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approvals::{ExactCall, QUESTION_SECONDS, Question};
use crate::kind::{self, ShownKind};
use crate::preview::{PREVIEW_CHARS_MAX, preview};
use crate::proposed::Proposed;
use crate::provenance::{Label, Sink};

/// How much of the beginning of a long argument is shown, in characters. The others are not pushed out of
/// sight by it.
const HEAD_CHARS_MAX: usize = 700;
/// How much of its end, in characters.
const TAIL_CHARS_MAX: usize = 300;
/// How long an argument may be that says who gets something, in characters: it is shown whole or not at
/// all.
const DESTINATION_CHARS_MAX: usize = 4000;
/// How many may get something: they are all shown, or nobody is asked.
const DESTINATIONS_MAX: usize = 50;
/// How many reasons are shown. Each rule that objects is among them, or nobody is asked.
const REASONS_MAX: usize = 20;
/// How many values the user did not choose, each with where it came from: they are all shown, or nobody
/// is asked.
const VALUES_MAX: usize = 50;

/// What a person is shown, as it came: not fit for a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The tool, or the action of the host.
    pub tool: String,
    /// The sub-agent that wants it, if one does: its name, below those of the sub-agents that handed it its task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sub_agent: String,
    /// All its arguments, in order of their names.
    pub args: Vec<ShownArg>,
    /// Who or what would get something: all of them, the most suspicious first.
    pub destinations: Vec<String>,
    /// Why it was stopped, the strictest first.
    pub reasons: Vec<Reason>,
    /// How many more reasons there are, of the same rules.
    #[serde(default)]
    pub hidden_reasons: usize,
    /// Values that the user did not choose, and where they came from, the most suspicious first.
    pub values: Vec<ShownValue>,
    /// What of the outside came into the session last; empty while nothing has.
    pub origin: String,
    /// All that the call was stopped for, so that an answer is good for nothing else.
    #[serde(default)]
    pub grounds: Grounds,
    /// The kind of call, if a person may say yes to all of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ShownKind>,
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

    pub(crate) fn value(sink: &Sink) -> Self {
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
    /// Its beginning: the text itself, or JSON.
    pub value: String,
    /// Is it a text?
    #[serde(default)]
    pub is_text: bool,
    /// How many characters after the beginning are not shown.
    pub hidden_chars: usize,
    /// Its end, after those.
    #[serde(default)]
    pub tail: String,
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
///
/// # Errors
/// Why it cannot be put: nobody can be asked whether something may go to whom they are not shown.
pub(crate) fn of(
    proposed: &Proposed,
    objections: &[Objection],
    now: i64,
) -> Result<Question, String> {
    let who = proposed.who();
    Ok(Question {
        call: exact(proposed),
        user: who.user.clone(),
        agent: who.agent.clone(),
        shown: shown(proposed, objections)?,
        created: now,
        expires: now.saturating_add(QUESTION_SECONDS),
    })
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

fn shown(proposed: &Proposed, objections: &[Objection]) -> Result<Shown, String> {
    let call = &proposed.understood().call;
    let role = |param: &str| call.flow.roles.get(param).copied();
    let mut args = Vec::new();
    for (name, value) in call.call.args() {
        args.push(arg(name, value, role(name))?);
    }
    args.sort_by(|one, other| one.name.cmp(&other.name));
    let mut sinks: Vec<&Sink> = proposed.traced().sinks.iter().collect();
    sinks.sort_by_key(|it| suspicion(&it.label));
    let is_destination = |it: &&&Sink| role(&it.param) == Some(Role::Destination);
    let destinations: Vec<_> =
        sinks.iter().filter(is_destination).map(|it| short(&it.atom)).collect();
    if destinations.len() > DESTINATIONS_MAX {
        let count = destinations.len();
        return Err(format!("{count} would get something, at most {DESTINATIONS_MAX} are shown"));
    }
    let strange: Vec<_> = sinks.iter().filter(|it| !it.label.is_chosen()).collect();
    // INVARIANT (ShownThenLifted): a yes lifts all of the grounds, so all of them are shown.
    if strange.len() > VALUES_MAX {
        let count = strange.len();
        return Err(format!("{count} values were not chosen, at most {VALUES_MAX} are shown"));
    }
    Ok(Shown {
        tool: proposed.understood().tool().to_owned(),
        sub_agent: proposed.admission().sub_agents().join("/"),
        args,
        destinations,
        reasons: reasons(objections)?,
        hidden_reasons: objections.len().saturating_sub(REASONS_MAX),
        values: strange.iter().map(|it| value(it)).collect(),
        origin: proposed.tag().map(|it| short(&it.origin)).unwrap_or_default(),
        grounds: grounds(proposed, objections),
        kind: kind::of(proposed, objections),
    })
}

/// Why it was stopped: every rule, or nobody is asked.
fn reasons(objections: &[Objection]) -> Result<Vec<Reason>, String> {
    let rules: BTreeSet<_> = objections.iter().map(|it| (&it.rule, &it.code)).collect();
    if rules.len() > REASONS_MAX {
        let count = rules.len();
        return Err(format!("{count} rules object, at most {REASONS_MAX} are shown"));
    }
    let reason = |it: &Objection| Reason { rule: it.rule.to_string(), why: short(&it.for_person) };
    Ok(each_rule_first(objections).into_iter().take(REASONS_MAX).map(reason).collect())
}

/// One objection of each rule, and then the others: no rule is pushed out of sight by another one.
fn each_rule_first(objections: &[Objection]) -> Vec<&Objection> {
    let mut seen = BTreeSet::new();
    let (mut first, others): (Vec<_>, Vec<_>) =
        objections.iter().partition(|it| seen.insert((&it.rule, &it.code)));
    first.extend(others);
    first
}

/// The lower, the more a person should see it.
fn suspicion(label: &Label) -> u8 {
    match label {
        Label::Flagged(_) => 0,
        Label::Ordered(_) => 1,
        Label::Doubted | Label::Instead | Label::Several(_) | Label::Wider => 2,
        Label::ListedElsewhere(_) | Label::Mentioned(_) => 3,
        Label::Unseen => 4,
        Label::User
        | Label::Operator
        | Label::ListedTrusted
        | Label::Listed
        | Label::Composed
        | Label::Delegated(_) => 5,
    }
}

fn arg(name: &str, value: &Value, role: Option<Role>) -> Result<ShownArg, String> {
    if role == Some(Role::Secret) {
        // INVARIANT (SecretsDoNotPrint): what is shown is also kept.
        let value = "(a secret)".to_owned();
        let (is_text, hidden_chars, tail) = (false, 0, String::new());
        return Ok(ShownArg { name: short(name), value, is_text, hidden_chars, tail });
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let count = text.chars().count();
    let is_destination = role == Some(Role::Destination);
    if is_destination && count > DESTINATION_CHARS_MAX {
        let name = short(name);
        return Err(format!(
            "`{name}` says who would get something and has {count} characters, at most \
             {DESTINATION_CHARS_MAX} are shown"
        ));
    }
    let is_whole = is_destination || count <= HEAD_CHARS_MAX + TAIL_CHARS_MAX;
    let (head, tail) = if is_whole { (count, 0) } else { (HEAD_CHARS_MAX, TAIL_CHARS_MAX) };
    Ok(ShownArg {
        name: short(name),
        value: text.chars().take(head).collect(),
        is_text: value.is_string(),
        hidden_chars: count - head - tail,
        tail: text.chars().skip(count - tail).collect(),
    })
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
    preview(text, PREVIEW_CHARS_MAX).into_owned()
}

#[cfg(test)]
mod tests {
    use model::Decision;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_argument_shows_both_its_ends_and_says_what_is_between() {
        let long = format!("begin{}end", "x".repeat(2000));
        let shown = arg("body", &json!(long), Some(Role::Content)).unwrap();
        assert!(shown.value.starts_with("beginxxx") && shown.tail.ends_with("xxxend"));
        assert_eq!(shown.hidden_chars, 2008 - HEAD_CHARS_MAX - TAIL_CHARS_MAX);
        assert_eq!(shown.value.len() + shown.hidden_chars + shown.tail.len(), 2008);
        let whole = "x".repeat(HEAD_CHARS_MAX + TAIL_CHARS_MAX);
        let shown = arg("body", &json!(whole), Some(Role::Content)).unwrap();
        assert_eq!((shown.value, shown.hidden_chars, shown.tail.as_str()), (whole, 0, ""));
        let secret = arg("password", &json!("hunter2"), Some(Role::Secret)).unwrap();
        assert_eq!((secret.value.as_str(), secret.is_text), ("(a secret)", false));
    }

    #[test]
    fn many_objections_of_one_rule_do_not_hide_another_rule() {
        let of = |rule: &'static str| Objection::new(rule, Decision::StepUp, "code", "why");
        let mut all = vec![of("one"); REASONS_MAX];
        all.push(of("two"));
        let rules: Vec<_> = each_rule_first(&all).iter().map(|it| it.rule.clone()).collect();
        assert_eq!((rules.len(), &*rules[0], &*rules[1]), (REASONS_MAX + 1, "one", "two"));
    }

    #[test]
    fn every_rule_that_objects_is_shown_or_nobody_is_asked() {
        let of = |number: usize| {
            Objection::new(format!("rule-{number}"), Decision::StepUp, "code", "why")
        };
        let all: Vec<_> = (0..=REASONS_MAX).map(of).collect();
        assert_eq!(reasons(&all[1..]).unwrap().len(), REASONS_MAX);
        assert_eq!(reasons(&all).unwrap_err(), "21 rules object, at most 20 are shown");
    }

    #[test]
    fn grounds_are_those_of_one_rule_and_code() {
        let one = Grounds::objection("rule", "code");
        assert!(one.are_within(&one.clone().and(Grounds::objection("other", "code"))));
        for (rule, code) in [("other", "code"), ("rule", "other"), ("rulec", "ode")] {
            assert!(!one.are_within(&Grounds::objection(rule, code)), "{rule} {code}");
        }
    }

    #[test]
    fn who_gets_something_is_shown_whole_or_not_at_all() {
        let list = json!(["a@b.example"]);
        let shown = arg("to", &list, Some(Role::Destination)).unwrap();
        assert_eq!((shown.value.as_str(), shown.is_text), (r#"["a@b.example"]"#, false));
        let long = "x".repeat(DESTINATION_CHARS_MAX);
        let shown = arg("to", &json!(long), Some(Role::Destination)).unwrap();
        assert_eq!((shown.value, shown.hidden_chars, shown.tail), (long.clone(), 0, String::new()));
        let why = arg("to", &json!(long + "y"), Some(Role::Destination)).unwrap_err();
        assert!(why.contains("4001 characters, at most 4000 are shown"), "{why}");
    }
}
