//! Settings that run programs, programs that are fetched, agents that are given more; and work that is none of it.

use std::path::Path;

use serde_json::Value;
use shell::{Decision, read};

#[test]
fn what_runs_programs_is_asked_about_and_the_work_around_it_is_not() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell/fresh.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let command = case["text"].as_str().unwrap();
        let reading = read(command);
        let is_asked = reading.decision != Decision::Allow;
        if is_asked != (case["expect"] == "flag") {
            wrong.push(format!("{}: {command}: {:?}", case["expect"], reading.findings));
        }
    }
    let all = text.lines().count();
    assert!(all > 400);
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}
