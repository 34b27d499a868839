//! Vectors of other systems about what is found in content, whole files of them: each row holds, or is left out with a reason.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use scan::boundary::{Boundary, Nonce, wrap};
use scan::exfiltration::{leaving, look, neutralised};
use scan::sanitize::{
    Found, Frame, Phrases, Plan, Risk, Sanitized, Tripwire, TrustLevel, sanitize, stripped,
};
use scan::text::{Author, Classifier, Reading, Verdict, read};
use scan::{pii, tool};
use serde_json::{Value, json};

/// The rows of a file that are not left out, each with its name. A name that is left out twice, or that no row has, fails.
pub(crate) fn rows(file: &str, left_out: &[(&str, &str)]) -> Vec<(String, Value)> {
    let all: Vec<Value> = serde_json::from_str(file).unwrap();
    let name = |it: &Value| it.get("name").or(it.get("id")).unwrap().as_str().unwrap().to_owned();
    let mut left: Vec<&str> = Vec::new();
    for (names, why) in left_out {
        assert!(!why.is_empty());
        left.extend(names.split_whitespace());
    }
    for it in &left {
        assert_eq!(left.iter().filter(|other| *other == it).count(), 1, "{it}");
        assert!(all.iter().any(|row| name(row) == *it), "{it} is no row");
    }
    all.into_iter().map(|it| (name(&it), it)).filter(|it| !left.contains(&it.0.as_str())).collect()
}

fn texts<'a>(expected: &'a Value, key: &str) -> Vec<&'a str> {
    expected[key].as_array().into_iter().flatten().map(|it| it.as_str().unwrap()).collect()
}

#[test]
fn addresses_are_found_as_zeph_asks() {
    let left_out = [
        (
            "disabled html_disabled zw_disabled",
            "its switch; ours is `addresses: label`, by which nothing is looked for",
        ),
        (
            "tool_url_flagged tool_url_not_flagged tool_url_empty_set tool_url_nested",
            "addresses in calls are traced by the gate: crates/monitor/src/carried.rs",
        ),
        ("memory_no_flags", "the gate's guard: corpus/guards/poisoned-memory"),
        ("extract_urls", "its list of seen addresses; the gate keeps atoms with their labels"),
    ];
    let file = include_str!("../../../corpus/vectors/zeph/exfiltration.json");
    for (name, row) in rows(file, &left_out) {
        let (text, expected) = (row["input"].as_str().unwrap(), &row["expected"]);
        if expected == "should_neutralise_or_ask" {
            assert!(!look(text).is_empty(), "{name}");
            continue;
        }
        let found = leaving(text);
        let left = neutralised(text, &found);
        match expected["events"].as_array() {
            Some(events) => {
                assert_eq!(found.len(), events.len(), "{name}");
                assert_eq!(left == text, events.is_empty(), "{name}: {left}");
            }
            None => assert!(!found.is_empty(), "{name}"),
        }
        texts(expected, "contains").iter().for_each(|it| assert!(left.contains(it), "{name}"));
        texts(expected, "not_contains").iter().for_each(|it| assert!(!left.contains(it), "{name}"));
    }
}

fn treated(text: &str, plan: &Plan) -> Sanitized {
    let nonce = Nonce::new([7; 16]);
    let frame = Frame { kind: Boundary::Tool, source: "x", nonce: &nonce };
    sanitize(text, &Found::new(text, plan), plan, frame)
}

/// An opinion of so much.
struct Opinion(f64);

impl Classifier for Opinion {
    fn score(&self, _: &str) -> f64 {
        self.0
    }
}

#[test]
fn content_is_treated_as_zeph_asks() {
    let left_out = [
        ("disabled", "its switch; ours is `label` for each category"),
        ("escape_upper", "a mark of its own; ours are in corpus/boundary"),
        ("wrap_external", "it marks all that is external; here only where something is found"),
        (
            "trust_web_scrape trust_mcp_response trust_a2a_message trust_memory_retrieval gap_ml_exempt_memory_search",
            "the level follows from the label that the host gives: crates/monitor/src/sanitizing.rs",
        ),
        ("kind_web_scrape kind_WebScrape", "names of its kinds"),
        (
            "class_no_instruction class_none class_aligned class_misaligned-instruction class_weird",
            "names of its three classes; a classifier here gives one score",
        ),
        ("ml_hard_warn", "its mode; a plan says what is done"),
        (
            "ml_aligned_downgrades_block ml_no_instruction_any_score",
            "a second opinion that lifts the first; here the worse of both counts",
        ),
    ];
    let file = include_str!("../../../corpus/vectors/zeph/sanitizer_pipeline.json");
    // Of its `injection_patterns`, the one row that is about stripping.
    assert_eq!(stripped("you\u{ad}are\u{ad}now"), "youarenow");
    let external = Plan::of(TrustLevel::External);
    for (name, row) in rows(file, &left_out) {
        let (input, expected) = (&row["input"], &row["expected"]);
        let text = input["text"].as_str().unwrap_or_default();
        if let Some(score) = input["positive_score"].as_f64() {
            let says = reading(score).verdict();
            let wanted = match expected.as_str().unwrap() {
                "clean" => Verdict::Clean,
                "suspicious" => Verdict::Suspicious,
                _ => Verdict::Injection,
            };
            assert_eq!(says, wanted, "{name}");
        } else if expected == "should_classify" {
            assert_eq!(read(text, Author::Outsider).verdict(), Verdict::Injection, "{name}");
        } else if let Some(bytes) = input["max_content_size"].as_u64() {
            let plan = Plan { bytes_max: usize::try_from(bytes).ok(), ..external.clone() };
            let Sanitized::Changed(shown) = treated(text, &plan) else { panic!("{name}") };
            assert!(shown.starts_with("hello worl") && !shown.contains("world"), "{name}: {shown}");
        } else if let Some(body) = expected.get("body").or(expected.get("strip_control_chars")) {
            assert_eq!(stripped(text), body.as_str().unwrap(), "{name}");
        } else if expected.get("not_contains").is_some() {
            let marked = wrap(Boundary::Tool, "x", text, &Nonce::new([7; 16]));
            let inner = marked.strip_suffix("</tool_output>").unwrap_or(&marked);
            texts(expected, "not_contains")
                .iter()
                .for_each(|it| assert!(!inner.contains(it), "{name}: {marked}"));
        } else {
            let trusted = input["trust"] == "trusted";
            let repeated =
                input["text_repeat"][1].as_u64().map(|it| "a".repeat(usize::try_from(it).unwrap()));
            let text = repeated.as_deref().unwrap_or(text);
            let level = if trusted { TrustLevel::Trusted } else { TrustLevel::External };
            let plan = Plan { bytes_max: Some(65_536), ..Plan::of(level) };
            assert_eq!(treated(text, &plan), Sanitized::AsItCame, "{name}");
        }
    }
}

fn reading(score: f64) -> Reading {
    read("a plain text", Author::Outsider).asked("a plain text", &Opinion(score))
}

#[test]
fn the_tripwire_trips_as_zeph_asks() {
    let left_out = [
        ("disabled", "its switch; ours is the plan"),
        ("apply_sanitize", "it cuts at a length; here what was found is taken out"),
        ("apply_block", "its words for the model; ours are the gate's"),
    ];
    let file = include_str!("../../../corpus/vectors/zeph/vigil.json");
    for (name, row) in rows(file, &left_out) {
        let (input, expected) = (&row["input"], &row["expected"]);
        let body = input["body"].as_str().unwrap_or_default();
        let phrases: Vec<String> = match input["extra_patterns_count"].as_u64() {
            Some(count) => (0..count).map(|it| format!("phrase {it}")).collect(),
            None => texts(input, "extra_patterns").into_iter().map(str::to_owned).collect(),
        };
        let phrases = Phrases::new(&phrases);
        if expected == "config_error" {
            assert!(phrases.is_err(), "{name}");
            continue;
        }
        let plan = Plan { phrases: phrases.unwrap(), ..Plan::of(TrustLevel::External) };
        let found = Found::new(body, &plan);
        assert_eq!(found.verdict() == Verdict::Clean, expected["verdict"] == "clean", "{name}");
        assert_eq!(
            found.risk() == Risk::High,
            expected["risk"] == "high" || name == "extra_pattern",
            "{name}"
        );
        if expected["action"] == "block" {
            let plan = Plan { tripwire: Tripwire::Block, ..plan };
            assert!(matches!(treated(body, &plan), Sanitized::Withheld(_)), "{name}");
        }
    }
}

#[test]
fn personal_data_is_found_as_zeph_asks() {
    let left_out = [
        (
            "name_mid name_span name_initial name_apostrophe name_hyphen name_apostrophe_hyphen",
            "names of people: by letters alone they cannot be told from other names, and a false alarm would be in every text",
        ),
        ("email_only", "its choice of kinds; here all are looked for, and single values allowed"),
        ("merge_overlap merge_disjoint redact_mid char_map_utf8", "its own functions"),
    ];
    let file = include_str!("../../../corpus/vectors/zeph/pii.json");
    for (name, row) in rows(file, &left_out) {
        let input = &row["input"];
        let text = input.as_str().or(input["text"].as_str()).unwrap();
        let found = pii::find(text);
        match row["expected"].as_str().unwrap() {
            "should_redact" => assert!(!found.is_empty(), "{name}"),
            "should_not_redact" => assert_eq!(found, [], "{name}"),
            // The sign before the country belongs to the number.
            expected => {
                let expected = expected.replace("+[PII:phone]", "[PII:phone]");
                assert_eq!(pii::redacted(text, &found), expected, "{name}");
            }
        }
    }
}

#[test]
fn definitions_are_left_as_zeph_asks() {
    let file = include_str!("../../../corpus/vectors/zeph/mcp_definitions.json");
    // Names, ids, lengths, lines of a log, commands and environments: crates/cli/tests/mcp_definitions.rs, row by row.
    let elsewhere = [
        "name_",
        "server_id_",
        "desc_trunc",
        "schema_string_cap",
        "log_",
        "cmd_",
        "env_",
        "isolated_",
    ];
    let rows = rows(file, &[]);
    let own = rows.into_iter().filter(|it| !elsewhere.iter().any(|other| it.0.starts_with(other)));
    let mut count = 0;
    for (name, row) in own {
        let (input, expected) = (&row["input"], &row["expected"]);
        let nested = input["schema_nested_depth"].as_u64().map(|depth| {
            let leaf = json!({ "description": input["leaf"] });
            (0..depth).fold(leaf, |it, _| json!({ "properties": { "a": it } }))
        });
        let definition = json!({
            "name": "t", "description": input["description"],
            "inputSchema": nested.clone().unwrap_or(input["schema"].clone()),
        });
        let scanned = tool::scan(&definition);
        assert!(!scanned.still_orders, "{name}");
        if nested.is_some() {
            // It leaves what lies deeper than ten levels; we do not.
            assert_eq!(scanned.injection_count, 1, "{name}");
        } else if let Some(path) = expected["schema_path_sanitised"].as_str() {
            assert!(scanned.findings.iter().any(|it| it.path.contains(path)), "{name}");
            assert_eq!(scanned.cleaned["description"], expected["description"], "{name}");
        } else {
            let key = if input.get("schema").is_some() { "inputSchema" } else { "description" };
            assert_eq!(scanned.cleaned[key], *expected, "{name}");
        }
        count += 1;
    }
    assert_eq!(count, 8);
}
