//! The recorded vectors: same canonical bytes, same ids, same verdicts as upstream.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::path::{Path, PathBuf};

use aegx::verify::Class;
use aegx::{Digest, Progress, Report, Rules, Sorted, Source, canon, timestamp, verify};
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx")
}

fn cases(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(corpus().join(file)).unwrap();
    let Value::Array(cases) = serde_json::from_str(&text).unwrap() else { return Vec::new() };
    cases
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case.get(key).and_then(Value::as_str).unwrap()
}

#[test]
fn values_have_upstreams_canonical_and_stored_bytes() {
    let cases = cases("canon/canon.json");
    assert!(cases.len() > 60);
    for case in &cases {
        let input = text(case, "input");
        let parsed: Result<Value, _> = serde_json::from_str(input);
        assert_eq!(parsed.is_ok(), case["ok"] == true, "{input}");
        let Ok(value) = parsed else { continue };
        let canonical = canon::canonical(&value);
        assert_eq!(String::from_utf8_lossy(&canonical), text(case, "canonical"), "{input}");
        assert_eq!(Digest::of(&canonical).to_string(), text(case, "sha256"), "{input}");
        assert_eq!(Sorted(&value).to_string(), text(case, "stored"), "{input}");
    }
}

#[test]
fn numbers_have_upstreams_spelling() {
    for file in ["canon/numbers.json", "canon/inexact_float_parses.json"] {
        let cases = cases(file);
        assert!(cases.len() > 100);
        for case in &cases {
            let input = text(case, "input");
            let parsed: Result<Value, _> = serde_json::from_str(input);
            match case["canonical"].as_str() {
                Some(want) => {
                    let got = canon::canonical(&parsed.unwrap());
                    assert_eq!(String::from_utf8_lossy(&got), want, "{input}");
                }
                None => assert!(parsed.is_err(), "{input}"),
            }
        }
    }
}

#[test]
fn times_fold_as_upstream_folds_them() {
    for case in cases("canon/timestamps.json") {
        let input = text(&case, "input");
        assert_eq!(timestamp::normalize(input).as_deref(), case["normalized"].as_str(), "{input}");
    }
}

/// Lenient vectors that no verifier can or should refuse, each with its reason.
const TOLERATED: &[(&str, &str)] = &[
    ("interop/lenient/keep_file", "an empty blobs/.keep is part of the format"),
    ("interop/lenient/manifest_created_at", "a plausible date that nothing in the bundle pins"),
];

#[test]
fn bundles_get_upstreams_verdict_in_compat_mode_and_a_stricter_one_by_default() {
    let index = std::fs::read_to_string(corpus().join("index.json")).unwrap();
    let index: Value = serde_json::from_str(&index).unwrap();
    let vectors = index["vectors"].as_array().unwrap();
    assert!(vectors.len() >= 50);
    for vector in vectors {
        let path = text(vector, "path");
        let want = match vector.get("verify_exit").and_then(Value::as_i64) {
            Some(exit) => exit,
            None => vector["import_exit"].as_i64().unwrap(),
        };
        assert_eq!(compat_exit(path), want, "{path} in compat mode");

        let strict = open(path, Rules::Strict);
        let passes = strict.as_ref().is_some_and(Report::ok);
        let tolerated = TOLERATED.iter().any(|(name, _)| *name == path);
        let honest = text(vector, "verdict") == "pass" && vector["kind"] != "lenient";
        let findings = strict.map(|report| report.findings);
        assert_eq!(passes, honest || tolerated, "{path} in strict mode: {findings:?}");
    }
}

#[test]
fn each_lenient_vector_has_a_code_of_its_own() {
    let codes = |path: &str| -> Vec<&'static str> {
        let report = open(path, Rules::Strict).unwrap();
        let mut codes: Vec<_> = report.findings.iter().map(|it| it.code.as_str()).collect();
        codes.dedup();
        codes
    };
    for (name, want) in [
        ("audit_unknown_field", vec!["unknown_field"]),
        ("blank_lines_ws", vec!["blank_line", "line_whitespace"]),
        ("crlf", vec!["line_ending"]),
        ("extensions_forged", vec!["extensions_unhashed"]),
        ("extra_top_file", vec!["file_unexpected"]),
        ("key_order", vec!["line_whitespace", "key_order"]),
        ("manifest_meta_ext", vec!["manifest_unhashed"]),
        ("nfd_rewritten", vec!["text_not_nfc"]),
        ("no_trailing_newline", vec!["final_newline"]),
        ("payload_both", vec!["payload_shadowed"]),
        ("records_reordered", vec!["audit_record_mismatch"]),
        ("roots_emptied", vec!["roots_incomplete"]),
        ("schema_absent", vec!["schema_missing"]),
        ("unknown_field", vec!["unknown_field"]),
        ("unreferenced_blob_corrupt", vec!["blob_unreferenced", "blob_unreferenced_hash"]),
    ] {
        let mut got = codes(&format!("interop/lenient/{name}"));
        got.retain(|code| *code != "parent_after_child");
        let mut seen = Vec::new();
        got.retain(|code| {
            !seen.contains(code) && {
                seen.push(*code);
                true
            }
        });
        for code in want {
            assert!(got.contains(&code), "{name}: {got:?} lacks {code}");
        }
        assert!(got.len() <= 2, "{name}: {got:?}");
    }
}

fn open(path: &str, rules: Rules) -> Option<Report> {
    let source = Source::open(&corpus().join(path), rules).ok()?;
    Some(verify(&source, rules, &Progress::default()))
}

fn compat_exit(path: &str) -> i64 {
    let Some(report) = open(path, Rules::Compat) else { return 4 };
    match report.worst {
        None => 0,
        Some(Class::Strict) => -1,
        Some(Class::Integrity) => 2,
        Some(Class::Schema) => 3,
        Some(Class::Unreadable) => 4,
    }
}
