//! `lazaret replay` on the corpus of the guards: each trace gives the verdicts that stand beside it.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::program::Run as _;

use crate::program::stateless;

fn root() -> PathBuf {
    files::resolved(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// `call decision rule` of each verdict, and everything that was printed.
fn replay(trace: &Path) -> (Vec<String>, String) {
    let ran = stateless(&["replay", "--json"]).arg(trace).run().good();
    let word = |it: &Value, field: &str| it[field].as_str().unwrap_or_default().to_owned();
    let lines = ran.objects();
    let verdicts = lines
        .iter()
        .filter(|it| it["event"] == "verdict")
        .map(|it| format!("{} {} {}", word(it, "call"), word(it, "decision"), word(it, "rule")));
    (verdicts.collect(), ran.out)
}

/// The rules by which a guard objects.
fn rules_of(guard: &str) -> &'static [&'static str] {
    match guard {
        "obeyed-file" => &["obeyed-file"],
        "taint-budget" => &["taint-budget"],
        "risk-across-calls" => &["risk-chain", "cross-tool-correlator", "trajectory-sentinel"],
        "shell-command" => &[
            "shell-privilege",
            "shell-unreadable",
            "shell-erase-root",
            "shell-dynamic",
            "shell-unknown-command",
        ],
        "sink-provenance" => &[
            "act-not-asked-for",
            "sink-untrusted-content",
            "sink-untrusted-control",
            "sink-untrusted-destination",
            "sink-untrusted-target",
            "sink-secret-not-users",
        ],
        _ => &[],
    }
}

#[test]
fn every_trace_gives_the_verdicts_beside_it() {
    let mut wrong = Vec::new();
    let mut traces = 0;
    for guard in entries(&root().join("corpus/guards")) {
        let rules = rules_of(&name(&guard));
        for trace in entries(&guard).into_iter().filter(|it| name(it).ends_with(".jsonl")) {
            traces += 1;
            let expected = fs::read_to_string(trace.with_extension("expect")).unwrap();
            let expected: Vec<String> = expected.lines().map(str::to_owned).collect();
            let (verdicts, _) = replay(&trace);
            if verdicts != expected {
                wrong.push(format!("{}: {verdicts:?}", trace.display()));
            }
            let last = expected.last().unwrap();
            let by_guard = rules.iter().any(|it| expected.iter().any(|line| line.ends_with(it)));
            let claim = name(&trace);
            let stops = claim.starts_with("stops-");
            assert!(
                stops || claim.starts_with("passes-"),
                "{claim}: the name says what must happen"
            );
            assert!(
                !stops || (by_guard && !last.contains(" allow ")),
                "{claim} is stopped by its guard"
            );
            assert!(stops || expected.iter().any(|it| it.contains(" allow ")), "{claim} passes");
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(traces > 15);
}

#[test]
fn every_guard_has_a_corpus() {
    for list in ["before", "after"] {
        for file in entries(&root().join("crates/monitor/src/guards").join(list)) {
            let id = file.file_stem().unwrap().to_string_lossy().replace('_', "-");
            if id != "mod" {
                let cases = root().join("corpus/guards").join(&id);
                assert!(
                    cases.is_dir() && !entries(&cases).is_empty(),
                    "corpus/guards/{id} is missing"
                );
            }
        }
    }
}

#[test]
fn the_same_trace_gives_the_same_bytes_but_for_the_records() {
    let trace = root().join("corpus/guards/sink-provenance/stops-recipient-from-a-page.jsonl");
    let plain = |text: &str| -> Vec<Value> {
        let lines = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        lines
            .map(|mut it| {
                if let Some(fields) = it.as_object_mut() {
                    fields.remove("record");
                }
                it
            })
            .collect()
    };
    let (one, other) = (replay(&trace).1, replay(&trace).1);
    assert_eq!(plain(&one), plain(&other));
    let last = plain(&one).pop().unwrap();
    assert_eq!((&last["event"], &last["calls"]), (&Value::from("summary"), &Value::from(2)));
}

#[test]
fn a_trace_that_is_wrong_is_said_to_be() {
    for (trace, words) in [
        ("{\"event\":\"call\"}\n", "line 1"),
        ("nonsense\n", "line 1"),
        ("{\"event\":\"turn\",\"session\":\"s\"}\n", "has not begun"),
        (
            "{\"event\":\"session\",\"session\":\"s\",\"user\":\"u\",\"agent\":\"a\"}\n\
             {\"event\":\"confirm\",\"session\":\"s\",\"call\":\"c\",\"by\":\"agent\"}\n",
            "only a `user`",
        ),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let mut command = stateless(&["replay", "--json", "-"]);
        command.env("TMPDIR", temporary.path()).run_with(trace).fails(2, &[words]);
        assert_eq!(entries(temporary.path()), [] as [PathBuf; 0], "its state is left behind");
    }
}
