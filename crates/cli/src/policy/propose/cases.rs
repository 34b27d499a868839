//! Cases: calls that were seen and pass, and calls that nobody has seen and that are stopped. Each is judged before it is
//! written down.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::folder::Loaded;
use super::super::judge::{Call, judge};
use super::super::recorded::Found;
use super::rules::Stranger;

/// The most cases of calls that were seen.
const CASES_MAX: usize = 500;
/// Facts that say nothing of what is done, only of how it stood with the session then.
const PASSING: &[&str] = &[
    "asked_for",
    "confirmed",
    "over_budget",
    "risk",
    "taint",
    "taint_permille",
    "targets",
    "sinks",
];

/// The lines, each with its end.
pub(super) fn lines(found: &Found, loaded: &Loaded, strangers: &[Stranger]) -> Vec<String> {
    let mut lines: Vec<String> = strangers.iter().filter_map(|it| stopped(loaded, it)).collect();
    // The newest of those that did the same.
    let mut kinds: BTreeMap<String, &Map<String, Value>> = BTreeMap::new();
    for it in found.decisions.iter().filter(|it| it.decision.happens()) {
        let mut kind = it.facts.clone();
        kind.retain(|key, _| !PASSING.contains(&key.as_str()));
        kinds.insert(aegx::SortedObject(&kind).to_string(), &it.facts);
    }
    lines.extend(kinds.values().filter_map(|it| passes(loaded, it)).take(CASES_MAX));
    lines
}

/// A call that was seen, if the proposal lets it pass: what it does not, the summary tells.
fn passes(loaded: &Loaded, facts: &Map<String, Value>) -> Option<String> {
    let call = Call::read(facts).ok()?;
    judge(loaded, &call).decision().happens().then(|| line("seen", facts, "allow", None))
}

fn stopped(loaded: &Loaded, stranger: &Stranger) -> Option<String> {
    let facts = stranger.facts.as_object()?;
    let call = Call::read(facts).ok()?;
    let judged = judge(loaded, &call);
    let decision = judged.decision();
    // A rule of the program may be as strict and stand before it.
    let rule = Some(judged.rule()).filter(|it| *it == stranger.id);
    let name = format!("not seen: {}", stranger.id);
    (!decision.happens()).then(|| line(&name, facts, decision.as_str(), rule))
}

fn line(name: &str, facts: &Map<String, Value>, expect: &str, rule: Option<&str>) -> String {
    let mut case = json!({ "name": name, "facts": facts, "expect": expect });
    if let (Some(case), Some(rule)) = (case.as_object_mut(), rule) {
        case.insert("rule".to_owned(), rule.into());
    }
    format!("{}\n", aegx::Sorted(&case))
}
