//! Dangerous commands in disguises that lie one over the other.
//!
//! `corpus/shell/disguised.jsonl` was made by `corpus/shell/disguise.py` of the commands in
//! `corpus/shell/dangerous.jsonl`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use shell::{Decision, read};

/// Of the disguises, in percent: refused or asked about.
const STOPPED_MIN: f64 = 99.5;
/// Of the disguises of commands that are refused, in percent: refused. Data that is packed in ways
/// which nothing here can undo is asked about.
const REFUSED_MIN: f64 = 75.0;

#[test]
fn disguises_of_dangerous_commands_are_stopped() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell/disguised.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut plain: BTreeMap<String, Decision> = BTreeMap::new();
    let mut allowed = Vec::new();
    let (mut all, mut refusable, mut refused) = (0_u32, 0_u32, 0_u32);
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (command, hidden) =
            (case["command"].as_str().unwrap(), case["plain"].as_str().unwrap());
        let wanted = *plain.entry(hidden.to_owned()).or_insert_with(|| read(hidden).decision);
        assert_ne!(wanted, Decision::Allow, "{hidden}");
        let reading = read(command);
        all += 1;
        if reading.decision == Decision::Allow {
            allowed.push(format!("{hidden}: {command}"));
        }
        if wanted == Decision::Deny {
            refusable += 1;
            refused += u32::from(reading.decision == Decision::Deny);
        }
    }
    assert!(all >= 1_000);
    let share = |part: u32, all: u32| f64::from(part) * 100.0 / f64::from(all);
    let stopped = share(all - u32::try_from(allowed.len()).unwrap(), all);
    assert!(stopped >= STOPPED_MIN, "{stopped:.2} %:\n{}", allowed.join("\n"));
    let refused = share(refused, refusable);
    assert!(refused >= REFUSED_MIN, "{refused:.2} %");
}
