//! What the product must do where the studied system does otherwise.

use monitor::taint::{Fingerprint, Rules, Threshold, sensitive_actions};
use serde_json::{Value, json};

use crate::taint::corpus::{cases, text};
use crate::taint::world::World;

#[test]
fn every_requirement_holds() {
    let cases = cases("taint_required.json");
    assert!(cases.len() > 35);
    for case in cases {
        let name = text(&case, "name");
        let input = &case["input"];
        let expected = case["expected"].as_array().unwrap();
        let threshold = Threshold::from_share(input["threshold"].as_f64().unwrap_or(f64::NAN));
        let Ok(threshold) = threshold else {
            assert_eq!(expected, &[json!("config rejected")], "{name}");
            continue;
        };
        let rules = Rules::new(threshold, sensitive_actions(), |_| true).unwrap();
        let mut world = World::new(rules);
        let steps: Vec<Value> =
            input["steps"].as_array().unwrap().iter().flat_map(translated).collect();
        if steps.is_empty() {
            // The one case about memory keys: what we compare contents by is no 64-bit hash.
            assert!(name.starts_with("dedup key") && size_of::<Fingerprint>() >= 16, "{name}");
            continue;
        }
        let outcomes = world.run(&json!(steps));
        for (outcome, expected) in outcomes.iter().zip(expected) {
            let expected = expected.as_str().unwrap();
            assert_eq!(outcome, verdict(expected), "{name}: {expected}");
            if expected.contains("high-water mark") {
                assert_eq!(world.peak_and_ratio("s"), (1_000_000, 200_000));
            }
        }
        assert!(outcomes.len() >= expected.len(), "{name}");
    }
}

fn verdict(expected: &str) -> &str {
    ["message rejected", "block", "allow"]
        .into_iter()
        .find(|it| expected.contains(it))
        .unwrap_or_else(|| panic!("no verdict in `{expected}`"))
}

/// A step in the words of the studied system, as steps of ours.
fn translated(step: &Value) -> Vec<Value> {
    let session = &step["session"];
    let web = |key: &str, value: Value| json!({"op": "content", "session": session, "source": "web", key: value});
    match text(step, "op") {
        "record" => vec![record(step)],
        "repeat" => {
            let inner = translated(&step["step"]).remove(0);
            vec![json!({"op": "repeat", "times": step["times"], "step": inner})]
        }
        "check" | "memory_read" => vec![step.clone()],
        "ipc" => match text(step, "action") {
            "image_in" => vec![web("bytes", step["bytes"].clone())],
            "memory_write" => {
                let mut message = step["fields"].clone();
                message["action"] = json!("memory_write");
                vec![json!({"op": "ipc", "message": message})]
            }
            _ => vec![web("chars", step["returns_chars"].clone())],
        },
        "summarize" => {
            vec![
                json!({"op": "content", "session": session, "source": "agent", "tokens": step["to_tokens"]}),
            ]
        }
        "end_session" => vec![json!({"op": "end", "session": session})],
        "resume" => vec![json!({"op": "resume", "session": session})],
        "memory_write" => {
            let mut steps = vec![step.clone()];
            if step["tainted"] == true {
                steps.insert(0, web("chars", json!(400)));
            }
            steps
        }
        // A summary is one more row, written from labelled rows.
        "memory_summarize" => vec![
            json!({"op": "memory_read", "session": "summary", "id": "m"}),
            json!({"op": "memory_write", "session": "summary", "id": "sum", "text": "summary"}),
        ],
        "memory_read_summary" => {
            vec![json!({"op": "memory_read", "session": session, "id": "sum"})]
        }
        "memorize" => vec![
            json!({"op": "turn", "session": session, "source": "agent", "text": "It says: pay now"}),
            json!({"op": "fact", "session": session, "id": "fact", "text": "pay", "quoted": "It says: pay now"}),
        ],
        "memory_recall" => vec![json!({"op": "memory_read", "session": session, "id": "fact"})],
        // The write was refused, so there is nothing to read.
        "memory_read_last" | "note" => vec![],
        other => panic!("no step `{other}`"),
    }
}

fn record(step: &Value) -> Value {
    let source = match (step["source"].as_str(), step["tainted"] == true) {
        (_, true) => "web",
        (Some("assistant"), false) => "agent",
        (Some("file_read"), false) => "file",
        (Some("user") | None, false) => "user",
        (Some(other), false) => panic!("no source `{other}`"),
    };
    let mut out = json!({"op": "content", "session": step["session"], "source": source});
    if step["tainted"] == false {
        out["taint"] = json!("");
    }
    match (step["token_count"].as_u64(), step["text"].as_str(), step["chars"].as_u64()) {
        (Some(tokens), ..) => out["tokens"] = json!(tokens),
        (_, Some(text), _) => out["text"] = json!(text),
        (.., Some(chars)) => {
            assert_eq!(chars, 1, "the one case is about single characters");
            out["letter"] = json!(true);
        }
        // No number at all: the count is refused, and the content still came in.
        (None, None, None) => out["text"] = json!(""),
    }
    out
}
