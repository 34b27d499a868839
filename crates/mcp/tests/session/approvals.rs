//! Approvals: what transcripts cannot say.

use crate::limits::{Bench, to_client};
use mcp::limits::APPROVALS_MAX;
use serde_json::{Value, json};
use std::collections::HashSet;

fn ask(id: usize, more: &Value) -> Value {
    let mut params = json!({"name": "echo", "arguments": {"n": id % 2}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[test]
fn states_are_random_and_the_oldest_makes_room() {
    let mut bench = Bench::listed(json!({"ask": {"echo": "May it?"}}));
    let mut states = Vec::new();
    for round in 0..=APPROVALS_MAX {
        let out = to_client(&bench.client(&ask(2 * round, &json!({}))));
        states.push(out[0]["result"]["requestState"].as_str().unwrap().to_owned());
    }
    assert_eq!(states.iter().collect::<HashSet<_>>().len(), APPROVALS_MAX + 1);
    let yes = |state: &str| {
        json!({"requestState": state,
            "inputResponses": {"approval": {"action": "accept", "content": {"decision": "once"}}}})
    };
    let out = bench.client(&ask(10_000, &yes(&states[0])));
    assert_eq!(to_client(&out)[0]["result"]["isError"], true);
    let out = bench.client(&ask(10_002, &yes(&states[1])));
    assert_eq!(to_client(&out), [] as [Value; 0], "the call was sent");
}

#[test]
fn an_approval_of_another_session_is_unknown() {
    let rules = json!({"ask": {"echo": "May it?"}});
    let (mut one, mut other) = (Bench::listed(rules.clone()), Bench::listed(rules));
    let out = to_client(&one.client(&ask(2, &json!({}))));
    let state = out[0]["result"]["requestState"].clone();
    let yes = json!({"requestState": state,
        "inputResponses": {"approval": {"action": "accept", "content": {"decision": "once"}}}});
    let out = to_client(&other.client(&ask(4, &yes)));
    assert_eq!(out[0]["result"]["isError"], true);
    assert_eq!(other.gate.begun(), 0);
}

#[test]
fn a_gate_that_still_asks_after_a_yes_denies() {
    let mut bench = Bench::listed(json!({"ask": {"echo": "May it?"}, "broken": ["answer"]}));
    let out = to_client(&bench.client(&ask(2, &json!({}))));
    let state = out[0]["result"]["requestState"].clone();
    let yes = json!({"requestState": state,
        "inputResponses": {"approval": {"action": "accept", "content": {"decision": "once"}}}});
    let out = to_client(&bench.client(&ask(4, &yes)));
    assert_eq!(out[0]["result"]["isError"], true);
}
