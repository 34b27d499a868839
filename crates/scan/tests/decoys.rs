//! What stands behind many harmless things of its own kind is found as if it stood alone: the cases of `corpus/scan/decoys.jsonl`.

#![expect(clippy::unwrap_used, reason = "test helpers, not only `#[test]` functions")]

use scan::leak::Registry;
use scan::text::Verdict;
use serde_json::Value;

use crate::text::{outside, rows};

/// Where things of a kind are found in a text, as their ends; and whether they count.
fn ends(row: &Value, text: &str) -> Vec<usize> {
    match row["kind"].as_str().unwrap() {
        "secret" => scan::secret::find(text).iter().map(|it| it.end).collect(),
        "personal" => scan::pii::find(text).iter().map(|it| it.end).collect(),
        "address" => scan::exfiltration::leaving(text).iter().map(|it| it.end).collect(),
        "leak" => {
            let registry = Registry::of_prompt(row["prompt"].as_str().unwrap());
            scan::leak::scan(&registry, text).iter().map(|it| it.end).collect()
        }
        "order" => {
            let reading = outside(text);
            let counts = reading.verdict() > Verdict::Clean;
            reading.findings.iter().filter(|_| counts).map(|it| it.end).collect()
        }
        // Of another kind nothing is found, so that its case fails.
        _ => Vec::new(),
    }
}

fn before(row: &Value) -> String {
    let times = row["times"].as_u64().unwrap();
    let decoy = row["decoy"].as_str().unwrap();
    let is_numbered = row["numbered"] == true;
    let one =
        |at: u64| if is_numbered { decoy.replace('%', &at.to_string()) } else { decoy.into() };
    (0..times).map(one).collect()
}

#[test]
fn nothing_passes_behind_decoys() {
    let mut missed = Vec::new();
    for row in rows(include_str!("../../../corpus/scan/decoys.jsonl")) {
        let (before, text) = (before(&row), row["text"].as_str().unwrap());
        let whole = format!("{before}{text}");
        if !ends(&row, &whole).iter().any(|it| *it > before.len()) {
            missed.push(row["id"].clone());
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

/// What is encoded over and over is doubtful, and nothing else is: files that are full of encoded text are ordinary.
#[test]
fn what_is_full_of_encoded_text_is_no_order_and_no_secret() {
    let line = "2026-11-19T05:29:33Z GET /a 5d41402abc4b2a76b9719d911017c592 eyJ1c2VyIjoiYW5uIiwib2siOnRydWV9 \
        SGVsbG8gaGFyYm91ciwgYWxsIGlzIHdlbGw= 72 101 108 108 111 32 104 97 114 98 111 117 114 46\n";
    let log = line.repeat(2_000);
    let reading = outside(&log);
    assert_eq!(reading.verdict(), Verdict::Clean, "{:?}", reading.findings.first());
    assert_eq!(scan::secret::find(&log), []);
    assert_eq!(scan::leak::scan(&Registry::default(), &log), []);
}
