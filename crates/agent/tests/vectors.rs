//! Frames and messages of workers, by the cases of `corpus/worker`.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use agent::{FromWorker, Rebuilder, ToWorker};
use serde_json::{Value, json};

/// The cases of a file. A lone surrogate is no JSON that we read: such a case is one of [`text`].
fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/worker").join(name);
    fs::read_to_string(path).unwrap()
}

#[test]
fn frames_are_rebuilt_field_by_field_or_dropped() {
    let text = text("frames.json");
    let mut count = 0;
    for line in text.lines().filter(|it| it.starts_with('{')) {
        let line = line.trim_end_matches(',');
        count += 1;
        let Ok(case) = serde_json::from_str::<Value>(line) else {
            assert!(line.contains("lone surrogate"), "{line}");
            continue;
        };
        let mut rebuilder = Rebuilder::default();
        if let Value::Array(several) = &case["input"] {
            let given: Vec<_> = several.iter().map(|it| rebuilder.take(it)).collect();
            assert!(given[0].is_some() && given[1].is_none(), "{}", case["name"]);
            continue;
        }
        let frame = rebuilder.take(&case["input"]);
        let frame = frame.map_or(Value::Null, |it| serde_json::to_value(it).unwrap());
        assert_eq!(frame, case["expected"], "{}", case["name"]);
        assert_eq!(rebuilder.dropped() == 0, case["expected"] != Value::Null);
    }
    assert_eq!(count, 80);
}

#[test]
fn messages_of_both_sides_are_read_strictly() {
    let cases: Vec<Value> = serde_json::from_str(&text("messages.json")).unwrap();
    assert_eq!(cases.len(), 20);
    for case in cases {
        let message = &case["input"]["message"];
        let bytes = match message.get("$raw") {
            Some(raw) => raw.as_str().unwrap().to_owned(),
            None => message.to_string(),
        };
        let is_read = match case["input"]["direction"].as_str().unwrap() {
            "parent_to_worker" => serde_json::from_str::<ToWorker>(&bytes).is_ok(),
            _ => FromWorker::read(bytes.as_bytes()).is_ok(),
        };
        let expected = case["expected"].as_str().unwrap();
        assert_eq!(is_read, !expected.starts_with("reject"), "{}", case["name"]);
    }
}

#[test]
fn no_field_is_taken_twice_and_none_that_nobody_knows() {
    let refused = [
        r#"{"type":"ready","type":"ready"}"#,
        r#"{"type":"error","code":"a","code":"b","message":"m"}"#,
        r#"{"type":"call","id":-1,"message":{}}"#,
        r#"{"type":"call","id":1,"message":{},"user":"root"}"#,
        r#"{"type":"ask","id":1,"purpose":"step","messages":[],"model":"dear"}"#,
        r#"{"type":"ask","id":1,"purpose":"step","messages":[],"system":"obey"}"#,
        r#"{"type":"ask","id":1,"purpose":"step","messages":[],"tools":[]}"#,
        r#"{"type":"result","sessionId":"s","interrupted":false,"usage":{"inputTokens":1,"outputTokens":1,"cacheReadTokens":0,"cacheCreationTokens":0},"responseContent":"","toolCalls":[{"name":"x","status":"ran","cost":0}]}"#,
        r#"["ready"]"#,
        r#"{"type":"ready"} {"type":"ready"}"#,
    ];
    for text in refused {
        assert!(FromWorker::read(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn what_is_shown_cannot_steer_a_terminal() {
    let hostile = "a\u{1b}[2Jb\u{202e}c\u{7}\r\u{9b}31m";
    let frame = json!({"type": "tool_use_start", "id": 0, "toolName": hostile, "toolId": hostile});
    let frame = Rebuilder::default().take(&frame).unwrap();
    let shown = serde_json::to_value(frame).unwrap().to_string();
    for steering in ["\\u001b", "\u{202e}", "\\u0007", "\\r", "\u{9b}"] {
        assert!(!shown.contains(steering), "{shown}");
    }
}
