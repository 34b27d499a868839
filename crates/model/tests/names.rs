//! Names of sessions, agents and users on the vectors: every row about one is run.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use model::{AgentId, SessionId, UserId};
use serde_json::Value;

/// Others want a name of one form: a session is a UUID or has three parts, an agent's name has from 2 to 64 letters.
/// Ours may be any plain name, for the hosts that bring them have forms of their own. These are refused there for
/// their form alone, and lead nowhere here.
const OF_ANOTHER_FORM: &[&str] =
    &["session id 'main:cli'", "session 'not-a-uuid'", "session '550e8400'", "name a"];

fn rows(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/paths").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// `{"$repeat": [text, times]}` is a long text.
fn text(value: &Value) -> String {
    match value.get("$repeat") {
        Some(repeat) => {
            let times = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
            repeat[0].as_str().unwrap().repeat(times)
        }
        None => value.as_str().unwrap().to_owned(),
    }
}

#[test]
fn every_row_about_a_name() {
    let mut count = 0;
    for row in rows("path_ids_required.json").into_iter().chain(rows("path_safety.json")) {
        let (name, input) = (row["name"].as_str().unwrap(), &row["input"]);
        let kind = input.get("kind").or_else(|| input.get("fn")).and_then(Value::as_str);
        let parse: fn(&str) -> bool = match kind {
            Some("session_id") => |it| SessionId::parse(it).is_ok(),
            Some("user_id") => |it| UserId::parse(it).is_ok(),
            Some("agent_name" | "name") => |it| AgentId::parse(it).is_ok(),
            Some("segment" | "safePath") | None => continue,
            Some(other) => panic!("{other}"),
        };
        let value = text(&input["value"]);
        // One that is longer than theirs and still a name of ours.
        let is_long = value.len() == 65;
        let accepted = row["expected"] == "accept" || OF_ANOTHER_FORM.contains(&name) || is_long;
        assert_eq!(parse(&value), accepted, "{name}");
        count += 1;
    }
    assert_eq!(count, 21 + 14);
}

/// As [`OF_ANOTHER_FORM`]: upstream takes a session apart by its name, ours is opaque, and who it belongs to is kept beside it.
const TAKEN_APART: &[&str] = &[
    "composeSessionId ['main', 'cli']",
    "parseSessionId ['aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee']",
    "parseSessionId ['not-valid']",
    "parseSessionId ['main:cli']",
    "isValidSessionId ['AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE']",
    "isValidSessionId ['550e8400-e29b-41d4-a716-44665544000']",
    "isValidSessionId ['550e8400-e29b-41d4-a716-4466554400000']",
    "isValidSessionId ['not-a-uuid-at-all']",
    "isValidSessionId ['main:cli']",
];

#[test]
fn ids_of_sessions_as_upstream_makes_them() {
    let cases = include_str!("../../../corpus/ax/session_ids.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 29);
    let mut differ = Vec::new();
    for case in &cases {
        let (name, input, expected) =
            (case["name"].as_str().unwrap(), &case["input"], &case["expected"]);
        let args: Vec<&str> =
            input["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let id = args.join(":");
        let found = SessionId::parse(&id);
        let same = match input["fn"].as_str().unwrap() {
            "composeSessionId" => match expected["value"].as_str() {
                Some(value) => found.is_ok_and(|it| it.as_str() == value),
                None => found.is_err(),
            },
            "isValidSessionId" => expected["value"] == found.is_ok(),
            "parseSessionId" => match expected["value"].as_array() {
                Some(parts) => found.is_ok() && id.split(':').eq(parts.iter().map(text)),
                None => found.is_err(),
            },
            // The folder of a user's files with an agent is made of names, and never of what is none.
            "agentUserDir" => args.iter().any(|it| UserId::parse(it).is_err()),
            other => panic!("{other}"),
        };
        if !same {
            differ.push(name);
        }
    }
    assert_eq!(differ, TAKEN_APART);
}
