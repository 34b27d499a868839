//! `corpus/aegx/strict`: one defect per bundle, the name is the claim, the directory is the case
//! list. `index.json` says for each which codes strict verification gives, all of them and no
//! others, and how the compatible one exits.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use aegx::verify::{Class, printable};
use aegx::{Code, Finding, Progress, Report, Rules, Source, verify_any};
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx/strict")
}

struct Case {
    name: String,
    codes: BTreeSet<String>,
    compat_exit: i64,
}

fn cases() -> Vec<Case> {
    let index = fs::read_to_string(corpus().join("index.json")).unwrap();
    let index: BTreeMap<String, Value> = serde_json::from_str(&index).unwrap();
    let case = |(name, case): (String, Value)| {
        let codes = case["strict"].as_array().unwrap();
        let codes = codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect();
        Case { name, codes, compat_exit: case["compat_exit"].as_i64().unwrap() }
    };
    index.into_iter().map(case).collect()
}

fn judge(name: &str, rules: Rules) -> Report {
    match Source::open(&corpus().join(name), rules) {
        Ok(source) => verify_any(&source, rules, &Progress::default()),
        Err(error) => Report::of_one(Finding::of_archive(name, &error)),
    }
}

fn codes(report: &Report) -> BTreeSet<String> {
    report.findings.iter().map(|finding| finding.code_text().to_owned()).collect()
}

#[test]
fn the_index_is_the_directory() {
    let listed: BTreeSet<String> = cases().into_iter().map(|case| case.name).collect();
    let present: BTreeSet<String> = fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "index.json")
        .collect();
    assert_eq!(listed, present);
    assert!(listed.len() > 100);
}

#[test]
fn each_bundle_is_refused_for_what_is_wrong_with_it_and_nothing_else() {
    let mut wrong = Vec::new();
    for case in cases() {
        let report = judge(&case.name, Rules::Strict);
        assert_eq!(report.ok(), codes(&report).is_empty(), "{}", case.name);
        if codes(&report) != case.codes {
            wrong.push((case.name, case.codes, report.findings));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_bundle_gets_upstreams_verdict_in_compat_mode() {
    let mut wrong = Vec::new();
    for case in cases() {
        let report = judge(&case.name, Rules::Compat);
        let exit = match report.worst {
            None => 0,
            Some(Class::Strict) => -1,
            Some(Class::Integrity) => 2,
            Some(Class::Schema) => 3,
            Some(Class::Unreadable) => 4,
        };
        if exit != case.compat_exit {
            wrong.push((case.name, exit, report.findings));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_a_bundle_says_cannot_forge_a_line_of_the_report() {
    for case in cases() {
        for finding in judge(&case.name, Rules::Strict).findings {
            let text = finding.to_string();
            assert_eq!(text, printable(&text), "{}", case.name);
            assert!(text.chars().count() < 1000, "{}: {}", case.name, text.len());
        }
    }
}

/// Codes that no file of the corpus can show.
const NOT_HERE: &[(Code, &str)] = &[
    (Code::LineTooLong, "takes 16 MiB; made at run time in tests/hostile_directories.rs"),
    (Code::Archive, "an archive that is refused shows its own, more precise code"),
    (Code::BundleSignature, "takes a key; made at run time in tests/bundle_note.rs"),
    (Code::Legacy, "of the two later formats"),
    (Code::LegacyStrict, "of the two later formats"),
];

#[test]
fn every_code_is_shown_by_some_bundle() {
    let shown: BTreeSet<String> = cases().into_iter().flat_map(|case| case.codes).collect();
    for code in Code::ALL {
        let exempt = NOT_HERE.iter().any(|(exempt, _)| exempt == code);
        assert_eq!(shown.contains(code.as_str()), !exempt, "{}", code.as_str());
    }
}
