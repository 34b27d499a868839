//! What developers type all day is not asked about.

use std::path::Path;

use serde_json::Value;
use shell::{Decision, read};

/// Of the everyday commands, in percent.
const ALLOWED_MIN: usize = 99;
/// Of what agents run that write programs, in percent: some of it deletes, or goes to other machines.
const AGENT_ALLOWED_MIN: usize = 95;

#[test]
fn everyday_commands_are_allowed_without_a_question() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell/everyday.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut asked = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let command = case["text"].as_str().unwrap();
        let reading = read(command);
        assert_ne!(reading.decision, Decision::Deny, "{command}: {:?}", reading.findings);
        if reading.decision != Decision::Allow {
            asked.push(format!("{command}: {:?}", reading.findings));
        }
    }
    let all = text.lines().count();
    assert!(all > 350);
    assert!(asked.len() * 100 <= all * (100 - ALLOWED_MIN), "{}", asked.join("\n"));
}

#[test]
fn what_agents_run_is_mostly_allowed_without_a_question() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell/agent.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut asked = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let command = case["text"].as_str().unwrap();
        let reading = read(command);
        if reading.decision != Decision::Allow {
            asked.push(format!("{command}: {:?}", reading.findings));
        }
    }
    let all = text.lines().count();
    assert!(all > 400);
    assert!(asked.len() * 100 <= all * (100 - AGENT_ALLOWED_MIN), "{}", asked.join("\n"));
}
