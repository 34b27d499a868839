//! `lazaret policy`: output, messages and exit codes.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::frames;
use testkit::program::{Ran, Run as _};

use crate::program::{lazaret, stateless};

fn run(args: &[&str], stdin: &str) -> Ran {
    stateless(&["policy"]).args(args).run_with(stdin)
}

fn text(ran: &Ran) -> String {
    format!("{}{}", ran.out, ran.err)
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/policy/example")
}

/// A folder with these files.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

#[test]
fn the_programs_own_rules_are_in_order() {
    let ran = run(&["check", "--json"], "");
    assert_eq!(ran.code, 0, "{}", text(&ran));
    let rules = ran.objects();
    let summary = rules.last().unwrap();
    assert_eq!(summary["rules"], rules.len() - 1);
    let budget = rules.iter().find(|it| it["id"] == "taint-budget").unwrap();
    assert_eq!(budget["decision"], "step_up");
    assert_eq!(budget["pack"], "taint.cedar");
    assert!(budget["effects"].as_array().unwrap().contains(&json!("oauth_call")));

    let ran = run(&["check"], "");
    assert!(text(&ran).contains("the policy is in order"));
}

#[test]
fn the_example_is_in_order_and_its_cases_hold() {
    let dir = example();
    let ran = run(&["check", "--policy", dir.to_str().unwrap(), "--json"], "");
    assert_eq!(ran.code, 0, "{}", text(&ran));
    let summary = ran.objects().pop().unwrap();
    assert_eq!(summary["agents"], json!(["billing", "researcher"]));
    assert_eq!(summary["users"], json!(["alice", "bob"]));
    assert_eq!(summary["domains_off"], json!(["a2a"]));

    let ran = run(&["test", dir.to_str().unwrap()], "");
    assert_eq!(ran.code, 0, "{}", text(&ran));
}

#[test]
fn what_is_broken_is_told_with_its_place_and_nothing_is_used() {
    let rule = "@id(\"own\") @reason(\"typo\") @decision(\"deny\")\n\
                forbid (principal, action == Action::\"tool_send\", resource)\n\
                when { context.taint.untrustd };\n";
    for (name, content, place) in [
        ("own.cedar", rule, "own.cedar:3"),
        ("users.yaml", "users:\n  - nam: bob\n", "users.yaml:2"),
        ("config.yaml", "tools:\n  shel: {enabled: false}\n", "config.yaml:2"),
        ("agents/a/IDENTITY.md", "---\nacces: private\n---\n", "IDENTITY.md:2"),
        ("agents/a b/IDENTITY.md", "text", "a b"),
        ("agents/a/IDENTITIY.md", "text", "IDENTITY.md"),
        ("own.ceder", rule, "own.ceder: nothing of a policy"),
    ] {
        let dir = folder(&[(name, content)]);
        let path = dir.path().to_str().unwrap();
        for command in [&["check", "--policy", path][..], &["test", path]] {
            let ran = run(command, "");
            assert_eq!(ran.code, 2, "{name}");
            assert!(text(&ran).contains(place), "{name}: {}", text(&ran));
        }
        let ran = run(&["explain", "--policy", path, "--json", "tool_read"], "");
        assert_eq!(ran.code, 2, "{name}");
        assert!(ran.objects().iter().all(|it| it.get("decision").is_none()), "{name}");
    }
    let ran = run(&["check", "--policy", "/nonexistent/dir"], "");
    assert_eq!(ran.code, 2);
}

#[test]
fn explain_tells_decision_rules_and_layers() {
    let ran = run(&["explain", "oauth_call", "over_budget=true"], "");
    assert_eq!(ran.code, 1);
    let words = text(&ran);
    for part in [
        "step_up  by taint-budget",
        "to pass: ask the user",
        "layer-global",
        "not asked",
        "host-allow-own",
    ] {
        assert!(words.contains(part), "{part} in {words}");
    }
    let ran = run(&["explain", "--json", "tool_read"], "");
    assert_eq!(ran.code, 0);
    let answer = ran.objects().pop().unwrap();
    assert_eq!(answer["decision"], "allow");
    assert_eq!(answer["grant"], "tool-allow-own");
    assert_eq!(answer["objections"], json!([]));

    let dir = example();
    let args = ["explain", "--json", "--remote", "--policy", dir.to_str().unwrap()];
    let facts = ["shell_exec", "tool=Bash", "user=alice", "agent=researcher"];
    let answer = run(&[&args[..], &facts].concat(), "").objects().pop().unwrap();
    assert_eq!(answer["rule"], "layer-sandbox");
    let layers = answer["layers"].as_array().unwrap();
    let passed: Vec<_> = layers.iter().map(|it| it["passed"].clone()).collect();
    assert_eq!(passed, [true, true, false, true, true].map(Value::from));
}

#[test]
fn facts_that_mean_nothing_are_wrong_usage() {
    for facts in [&["tool_sned"][..], &["tool_send", "principal=web"], &["tool_send", "x"]] {
        let ran = run(&[&["explain"], facts].concat(), "");
        assert_eq!(ran.code, 2, "{facts:?}");
        assert!(ran.out.is_empty());
    }
    let ran = run(&["explain", "tool_read", "--args", "[]"], "");
    assert_eq!(ran.code, 2);
}

#[test]
fn a_batch_is_answered_line_by_line() {
    let input = [
        r#"{"id":1,"effect":"tool_read"}"#,
        "not json",
        r#"{"id":"two","effect":"control_plane_change","principal":"WEB"}"#,
        r#"{"id":3,"effect":"tool_read","taint":"UNTRUSTED"}"#,
        r#"{"id":4,"effect":"tool_read","effect":"tool_send"}"#,
        r#"{"id":5,"effect":"tool_read","remote":"yes"}"#,
        "",
    ];
    let ran = run(&["explain", "--json"], &input.join("\n"));
    assert_eq!(ran.code, 0);
    let answers = ran.objects();
    assert_eq!(answers.len(), 6);
    assert_eq!((&answers[0]["id"], &answers[0]["decision"]), (&json!(1), &json!("allow")));
    assert!(answers[1]["id"].is_null() && answers[1]["error"].is_string());
    assert_eq!(answers[2]["rule"], "cpi-deny-untrusted");
    for answer in &answers[3..] {
        assert!(answer["error"].is_string() && answer.get("decision").is_none(), "{answer}");
    }
}

#[test]
fn a_case_that_differs_exits_1_and_a_broken_one_2() {
    let good = r#"{"facts":{"effect":"tool_read"},"expect":"allow"}"#;
    let other = r#"{"name":"hope","facts":{"effect":"control_plane_change","principal":"WEB"},"expect":"allow"}"#;
    let rule = r#"{"facts":{"effect":"tool_read"},"expect":"allow","rule":"fs-allow-default"}"#;
    for wrong in [other, rule] {
        let dir = folder(&[("a.cases.jsonl", &format!("{good}\n\n{wrong}\n"))]);
        let path = dir.path().to_str().unwrap();
        let ran = run(&["test", path], "");
        assert_eq!(ran.code, 1, "{}", text(&ran));
        assert!(text(&ran).contains("a.cases.jsonl:3") && text(&ran).contains("2 cases, 1 not"));
        let answers = run(&["test", path, "--json"], "").objects();
        assert_eq!(answers.last().unwrap(), &json!({"cases": 2, "failed": 1}));
    }
    for broken in [
        "{",
        r#"{"facts":{"effect":"tool_read"}}"#,
        r#"{"facts":{"effect":"tool_read"},"expect":"maybe"}"#,
        r#"{"facts":{"efect":"tool_read"},"expect":"allow"}"#,
        r#"{"facts":{"effect":"tool_read"},"expects":"allow","expect":"allow"}"#,
        r#"{"facts":"tool_read","expect":"allow"}"#,
    ] {
        let dir = folder(&[("a.cases.jsonl", broken)]);
        let ran = run(&["test", dir.path().to_str().unwrap()], "");
        assert_eq!(ran.code, 2, "{broken}");
        assert!(text(&ran).contains("a.cases.jsonl:1"), "{broken}");
    }
    let empty = folder(&[("README.md", "nothing")]);
    let ran = run(&["test", empty.path().to_str().unwrap()], "");
    assert_eq!(ran.code, 2, "no case is no proof");
}

#[test]
fn the_schema_is_printed() {
    let ran = run(&["schema"], "");
    assert_eq!(ran.code, 0);
    assert!(text(&ran).contains("action tool_send in ["));
}

const NO_LISTS: &str = r#"
@id("own-no-lists") @reason("lists are nobody's business") @decision("deny")
@match("memory_list")
forbid (principal, action == Action::"memory_list", resource);
"#;

#[test]
fn the_state_directory_is_looked_at_and_named() {
    let dir = folder(&[
        ("policy/own.cedar", NO_LISTS),
        ("config.yaml", "tools:\n  shell:\n    enabled: false\n"),
    ]);
    let home = dir.path().to_str().unwrap();
    let explain = |facts: &str| {
        let ran = run(&["explain", "--home", home, "--json", facts], "");
        ran.objects().pop().unwrap_or_else(|| json!(text(&ran)))
    };
    assert_eq!(explain("shell_exec")["rule"], "layer-global");
    assert_eq!(explain("memory_list")["rule"], "own-no-lists");
    let from = json!({"kind": "state", "dir": home, "found": ["policy", "config.yaml"]});
    assert_eq!(explain("memory_read")["from"], from);
    let ran = run(&["explain", "--home", home, "memory_read"], "");
    assert!(text(&ran).contains("policy, config.yaml of `"), "{}", text(&ran));
    let ran = run(&["check", "--home", home, "--json"], "");
    assert!(text(&ran).contains("own-no-lists"), "{}", text(&ran));
    // Another folder in its place, and none at all.
    let empty = folder(&[]);
    let named = empty.path().to_str().unwrap();
    let ran = run(&["explain", "--home", home, "--policy", named, "--json", "shell_exec"], "");
    assert_eq!(ran.objects()[0]["from"]["kind"], "folder");
    assert_eq!(ran.code, 0);
    let ran = run(&["explain", "--home", named, "shell_exec"], "");
    assert!(text(&ran).contains("says nothing of policy"), "{}", text(&ran));
}

#[test]
fn a_state_directory_that_admits_nobody_is_broken() {
    for (files, wanted) in [
        (&[("users.yaml", "users: []\n")][..], "come together"),
        (&[("policy/x.cedar", "permit")][..], "x.cedar:1"),
        (&[("policy/notes.txt", "x")][..], "nothing of a policy is called so"),
        (&[("policy/config.yaml", "tools: {}\n")][..], "move it up"),
        (&[("config.yaml", "tols: {}\n")][..], "config.yaml"),
    ] {
        let dir = folder(files);
        let ran = run(&["check", "--home", dir.path().to_str().unwrap()], "");
        assert_eq!(ran.code, 2, "{wanted}: {}", text(&ran));
        assert!(text(&ran).contains(wanted), "{wanted}: {}", text(&ran));
    }
}

/// What `explain` shows is what the gate does.
#[test]
fn rules_of_the_state_directory_are_in_force() {
    let message = r#"{"action":"memory_list","scope":"notes"}"#;
    let input = frames::frame(message.as_bytes());
    let serve = |files: &[(&str, &str)]| {
        let dir = folder(files);
        let args = ["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"];
        let ran = lazaret(dir.path().join("state"), &args).run_bytes(input.clone());
        (ran.code, String::from_utf8_lossy(&ran.out).into_owned())
    };
    let (code, answer) = serve(&[("state/policy/own.cedar", NO_LISTS)]);
    assert!(code == 0 && answer.contains("own-no-lists"), "{code} {answer}");
    let (_, answer) = serve(&[]);
    assert!(!answer.contains("own-no-lists"), "{answer}");
    let (code, _) = serve(&[("state/policy/own.cedar", "permit")]);
    assert_eq!(code, 2, "a policy that does not load is not used");
}
