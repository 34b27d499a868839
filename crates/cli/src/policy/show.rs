//! How judgements and flaws are printed, for people and for programs.

use aegx::verify::printable;
use model::Objection;
use policy::{Matched, Rule};
use serde_json::{Value, json};

use super::folder::Flaw;
use super::judge::{Asked, Judged};
use super::live::Source;
use crate::failure::Exit;
use crate::output::{self, Paint};

/// Prints what is wrong; the policy is not usable.
pub(crate) fn flaws(flaws: &[Flaw], as_json: bool) -> Exit {
    for flaw in flaws {
        if as_json {
            let Flaw { file, line, rule, what } = flaw;
            output::json(&json!({"file": file, "line": line, "rule": rule, "error": what}));
        } else {
            output::error(&flaw.to_string());
        }
    }
    Exit::Usage
}

/// A rule in the list of rules.
pub(crate) fn rule(rule: &Rule, as_json: bool) -> bool {
    let (matches, skips) = rule.examples();
    if as_json {
        return output::json(&json!({
            "id": rule.id(),
            "pack": rule.pack(),
            "line": rule.line(),
            "decision": rule.decision().as_str(),
            "reason": rule.reason(),
            "effects": rule.kinds().iter().map(|it| it.as_str()).collect::<Vec<_>>(),
            "examples": {"match": matches, "skip": skips},
        }));
    }
    let place = format!("{}:{}", rule.pack(), rule.line());
    let (id, decision, reason) = (rule.id(), rule.decision().as_str(), rule.reason());
    output::line(&printable(&format!("{decision:<8} {id:<28} {place:<26} {reason}")))
}

/// Everything about a judgement.
pub(crate) fn judged(judged: &Judged<'_>) {
    let paint = Paint::for_stdout();
    let decision = judged.decision();
    let word = decision.as_str();
    let word = if decision.happens() { paint.good(word) } else { paint.bad(word) };
    output::line(&format!("{word}  by {}", printable(judged.rule())));
    for objection in judged.objections() {
        output::line(&printable(&format!(
            "  {} ({}): {}",
            objection.rule, objection.decision, objection.for_person
        )));
        if let Some(remedy) = &objection.remedy {
            output::line(&printable(&format!("    to pass: {remedy}")));
        }
    }
    output::line(&paint.strong("layers"));
    for (layer, asked) in &judged.layers {
        let said = match asked {
            Asked::Passes => "passes".to_owned(),
            Asked::Objects(objection) => format!("denies: {}", objection.for_person),
            Asked::NotThere(why) => format!("not asked: {why}"),
        };
        output::line(&printable(&format!("  {:<16} {said}", layer.rule())));
    }
    output::line(&paint.strong("rules"));
    for (rule, matched) in &judged.explained.rules {
        let why = match matched {
            Matched::No => continue,
            Matched::Failed(why) => format!("failed: {why}"),
            Matched::Yes | Matched::Lifted => rule.reason().to_owned(),
        };
        let (said, id, decision) = (matched.as_str(), rule.id(), rule.decision().as_str());
        output::line(&printable(&format!("  {said:<7} {decision:<8} {id:<28} {why}")));
    }
    let silent = judged.explained.rules.iter().filter(|(_, matched)| *matched == Matched::No);
    let silent: Vec<_> = silent.map(|(rule, _)| rule.id()).collect();
    if !silent.is_empty() {
        output::line(&paint.faint(&format!("  did not match: {}", silent.join(" "))));
    }
}

/// The same for programs, without `id`.
pub(crate) fn judged_json(judged: &Judged<'_>, source: &Source) -> Value {
    let verdict = &judged.explained.verdict;
    let deciding = judged.objections().find(|it| it.decision == judged.decision());
    let rules = judged.explained.rules.iter().map(|(rule, matched)| {
        let failed = match matched {
            Matched::Failed(why) => Some(why),
            Matched::No | Matched::Yes | Matched::Lifted => None,
        };
        json!({
            "id": rule.id(), "pack": rule.pack(), "line": rule.line(),
            "decision": rule.decision().as_str(), "matched": matched.as_str(), "error": failed,
        })
    });
    let layers = judged.layers.iter().map(|(layer, asked)| {
        let (passed, why) = match asked {
            Asked::Passes => (Some(true), None),
            Asked::Objects(objection) => (Some(false), Some(objection.for_person.clone())),
            Asked::NotThere(why) => (None, Some((*why).to_owned())),
        };
        json!({"layer": layer.rule(), "passed": passed, "reason": why})
    });
    json!({
        "decision": judged.decision().as_str(),
        "from": source.to_json(),
        "rule": judged.rule(),
        "reason": deciding.map(|it| &it.for_person),
        "remedy": deciding.and_then(|it| it.remedy.as_ref()),
        "grant": verdict.grant.as_ref().map(policy::Grant::rule),
        "adds_taint": verdict.grant.as_ref().map(|it| it.taint().iter_names().collect::<Vec<_>>()),
        "objections": judged.objections().map(objection).collect::<Vec<_>>(),
        "layers": layers.collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
    })
}

fn objection(it: &Objection) -> Value {
    json!({
        "rule": it.rule, "decision": it.decision.as_str(), "code": it.code,
        "reason": it.for_person, "remedy": it.remedy,
    })
}
