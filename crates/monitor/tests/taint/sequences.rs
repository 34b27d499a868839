//! Sequences of the seed and of the studied system, on the budget alone.

use std::collections::BTreeMap;

use aegx::Digest;
use model::{Profile, Source};
use monitor::confirm::{ConfirmDelta, Confirmations, Grant};
use monitor::taint::{Budget, Rules, Threshold, label};
use serde_json::{Value, json};

use crate::taint::corpus::{cases, prose, text};

#[test]
fn every_sequence_holds() {
    let cases = cases("taint_budget_sequences.json");
    assert!(cases.len() > 30);
    for case in cases {
        let input = &case["input"];
        let threshold = Threshold::from_share(input["threshold"].as_f64().unwrap()).unwrap();
        let names = input["sensitive"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        let rules = Rules::new(threshold, names, |_| true).unwrap();
        assert_eq!(run(&rules, &input["steps"]), case["expected"], "{}", case["name"]);
    }
}

fn run(rules: &Rules, steps: &Value) -> Value {
    let mut sessions: BTreeMap<&str, (Budget, Confirmations)> = BTreeMap::new();
    let mut outcomes = Vec::new();
    for (number, step) in steps.as_array().unwrap().iter().enumerate() {
        let (budget, confirmed) = sessions.entry(text(step, "session")).or_default();
        match text(step, "op") {
            "record" => {
                let tainted = step["tainted"].as_bool().unwrap();
                let label = label(if tainted { Source::Web } else { Source::User }, "", 0);
                let delta = match step["token_count"].as_u64() {
                    Some(tokens) => budget.delta_tokens(&label, tokens),
                    None => {
                        let chars = usize::try_from(step["chars"].as_u64().unwrap()).unwrap();
                        budget.delta(&label, &prose(chars, number))
                    }
                };
                budget.apply(&delta);
            }
            "override" => {
                confirmed.apply(&ConfirmDelta::Granted(Grant::for_action(text(step, "action"), 0)));
            }
            "check" => {
                let action = text(step, "action");
                let checked = budget.check(rules, action);
                outcomes.push(match checked {
                    Ok(()) => json!({"allowed": true}),
                    Err(_) if confirmed.covers(action, Digest::ZERO, 0) => json!({"allowed": true}),
                    Err(blocked) => json!({"allowed": false, "ratio": blocked.ratio_millionths}),
                });
            }
            other => panic!("no step `{other}`"),
        }
    }
    outcomes.into_iter().map(shares).collect()
}

/// Millionths as the share that the corpus says.
fn shares(mut outcome: Value) -> Value {
    if let Some(millionths) = outcome["ratio"].as_u64() {
        let share = f64::from(u32::try_from(millionths).unwrap()) / 1e6;
        outcome["ratio"] = if millionths == 1_000_000 { json!(1) } else { json!(share) };
    }
    outcome
}

#[test]
fn profiles_have_their_thresholds() {
    for case in cases("profile_thresholds.json") {
        let profile = Profile::parse(text(&case["input"], "profile")).unwrap();
        let expected = case["expected"]["threshold"].as_f64().unwrap();
        assert_eq!(Threshold::from(profile), Threshold::from_share(expected).unwrap());
    }
}
