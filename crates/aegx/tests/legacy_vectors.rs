//! The recorded vectors of the two older formats: their own programs' verdicts, and stricter ones.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::path::{Path, PathBuf};

use aegx::{Format, Progress, Report, Rules, Source, verify, verify_any};
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx")
}

fn vectors(index: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(corpus().join(index)).unwrap();
    let index: Value = serde_json::from_str(&text).unwrap();
    index.get("vectors").and_then(Value::as_array).unwrap().clone()
}

fn path(vector: &Value) -> &str {
    vector.get("path").and_then(Value::as_str).unwrap()
}

/// `None` if the archive itself is refused.
fn report(path: &str, rules: Rules) -> Option<Report> {
    let source = Source::open(&corpus().join(path), rules).ok()?;
    Some(verify_any(&source, rules, &Progress::default()))
}

fn codes(report: &Report) -> Vec<&'static str> {
    let mut codes: Vec<_> = report.findings.iter().map(|it| it.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn compat_verdicts_are_those_of_the_formats_own_programs() {
    for index in ["aer-v0.1/index.json", "aegx-v0.2/index.json"] {
        let vectors = vectors(index);
        assert_eq!(vectors.len(), 26);
        for vector in &vectors {
            let path = path(vector);
            let passes = report(path, Rules::Compat).is_some_and(|it| it.ok());
            assert_eq!(passes, vector["verify_exit"] == 0, "{path}");
            assert_eq!(passes, vector["verdict"] == "pass", "{path}");
        }
    }
}

/// What passes in strict mode, with the reason. Everything else is refused.
const STRICT_PASSES: &[(&str, &str)] = &[
    ("aer-v0.1/valid.aegx.zip", "as exported"),
    ("aer-v0.1/parents_cleared.aegx.zip", "no hash covers parents; noted"),
    ("aer-v0.1/policy_edited.aegx.zip", "no hash covers the policy; noted"),
    ("aer-v0.1/report_edited.aegx.zip", "no hash covers the report; noted"),
    ("aegx-v0.2/valid.aegx.zip", "as exported"),
    ("aegx-v0.2/policy_edited.aegx.zip", "no hash covers the policy; noted"),
    ("aegx-v0.2/report_edited.aegx.zip", "no hash covers the report; noted"),
];

#[test]
fn strict_verification_refuses_all_that_can_be_seen() {
    for index in ["aer-v0.1/index.json", "aegx-v0.2/index.json"] {
        for vector in &vectors(index) {
            let path = path(vector);
            let report = report(path, Rules::Strict);
            let passes = report.as_ref().is_some_and(Report::ok);
            let expected = STRICT_PASSES.iter().any(|(name, _)| *name == path);
            let findings = report.map(|it| it.findings);
            assert_eq!(passes, expected, "{path}: {findings:?}");
        }
    }
}

#[test]
fn each_tampering_that_upstream_passes_has_its_codes() {
    for (name, want) in [
        ("principal_flipped", vec!["legacy_strict"]),
        ("taint_cleared", vec!["legacy_strict"]),
        ("type_changed", vec!["legacy_strict"]),
        ("manifest_absent", vec!["file_unreadable"]),
        ("manifest_counts_wrong", vec!["record_count"]),
        ("record_unknown_field", vec!["unknown_field"]),
        ("audit_tail_truncated", vec!["legacy_strict", "record_unaudited"]),
        ("audit_empty", vec!["blank_line", "legacy_strict", "record_unaudited"]),
        ("audit_file_absent", vec!["file_unreadable", "legacy_strict", "record_unaudited"]),
    ] {
        let report = report(&format!("aer-v0.1/{name}.aegx.zip"), Rules::Strict).unwrap();
        assert_eq!(codes(&report), want, "{name}: {:?}", report.findings);
    }
    for name in ["denials_deleted", "all_records_deleted", "records_file_absent", "empty_zip"] {
        let report = report(&format!("aer-v0.1/{name}.aegx.zip"), Rules::Strict).unwrap();
        assert!(!report.ok(), "{name}");
    }
}

#[test]
fn the_formats_are_told_apart_and_their_limits_said() {
    for (folder, format, weakness) in [
        ("aer-v0.1", Format::Aer01, "type, principal, taint and parents"),
        ("aegx-v0.2", Format::Unified02, "fractions"),
    ] {
        for name in ["valid", "records_file_absent", "audit_file_absent", "manifest_absent"] {
            for rules in [Rules::Strict, Rules::Compat] {
                let report = report(&format!("{folder}/{name}.aegx.zip"), rules).unwrap();
                assert_eq!(report.format, format, "{folder}/{name}");
                assert!(report.notes.iter().any(|it| it.contains(weakness)), "{:?}", report.notes);
                assert!(report.notes.iter().any(|it| it.contains("policy.yaml")));
            }
        }
        let valid = report(&format!("{folder}/valid.aegx.zip"), Rules::Strict).unwrap();
        assert_eq!((valid.records, valid.blobs, valid.blob_bytes), (20, 1, 5047));
        assert_eq!(valid.by_type["GuardDecision"], 11);
        assert_eq!(valid.by_principal["TOOL_AUTH"], 2);
    }
    let empty = report("aer-v0.1/empty_zip.aegx.zip", Rules::Compat).unwrap();
    assert!(empty.notes.iter().any(|it| it.contains("nothing was verified")));
}

#[test]
fn bundles_of_format_a_are_still_judged_as_such() {
    for vector in &vectors("index.json") {
        let path = corpus().join(path(vector));
        for rules in [Rules::Strict, Rules::Compat] {
            let Ok(source) = Source::open(&path, rules) else { continue };
            let any = verify_any(&source, rules, &Progress::default());
            let own = verify(&source, rules, &Progress::default());
            assert_eq!(any.format, Format::Aegx01, "{}", path.display());
            assert_eq!(any.findings, own.findings, "{}", path.display());
        }
    }
}
