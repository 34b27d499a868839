//! `scheduler: full`: jobs that the host carries out, each in a session of its owner.

use std::fs;
use std::path::Path;

use evidence::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::providers::support::{good, home, kinds, put, run};

const SETTINGS: &str =
    "providers: {llm: mock, scheduler: full, shell: sandbox}\nmodels: {mock: {script: s.json}}\n";

/// A home with a model that follows this script.
fn scripted(replies: &[(&str, Value)]) -> tempfile::TempDir {
    let home = home(SETTINGS);
    let replies: Vec<Value> =
        replies.iter().map(|(when, give)| json!({"when": when, "give": give})).collect();
    put(home.path(), "s.json", &json!({ "replies": replies }).to_string());
    home
}

/// Adds a job that is due by itself once a year only, so that it is not while a test runs.
fn add(home: &Path, more: &[&str]) -> String {
    let first = ["scheduler", "add", "--user", "me", "--agent", "main", "--cron", "0 0 1 1 *"];
    let added = good(home, &[&first, more].concat());
    added[0]["job"].as_str().unwrap().to_owned()
}

/// All jobs are due since a minute, and something else is as it is said.
fn due(home: &Path, change: impl Fn(&mut Value)) {
    let now = SystemClock.unix_seconds();
    let path = home.join("scheduler.json");
    let mut book: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for job in book["jobs"].as_array_mut().unwrap() {
        job["next"] = json!(now - 60);
        change(job);
    }
    put(home, "scheduler.json", &book.to_string());
}

/// The runs that ended, by what the agent was told.
fn carried_out(home: &Path) -> Vec<Value> {
    let mut runs = good(home, &["scheduler", "run", "--once"]);
    runs.sort_by_key(|it| it["prompt"].to_string());
    runs
}

fn content(home: &Path, kind: &str) -> Vec<Value> {
    let found = good(home, &["evidence", "query", "--kind", kind]);
    found.iter().map(|it| it.pointer("/record/payload/inline").unwrap().clone()).collect()
}

#[test]
fn a_due_job_is_carried_out_in_a_session_of_its_owner_and_its_answer_is_kept() {
    let list = json!({"call": [{"name": "memory_list", "input": {"scope": "a"}}]});
    let home = scripted(&[("entries", json!({"say": "nothing new"})), ("look", list)]);
    let home = home.path();
    let job = add(home, &["look at the notes"]);
    // Six at once, of which four run at a time.
    for _ in 0..5 {
        add(home, &["look again"]);
    }
    assert!(carried_out(home).is_empty(), "not yet");
    due(home, |_| {});
    let runs = carried_out(home);
    assert_eq!(runs.len(), 6, "{runs:?}");
    let all = |key: &str, value: Value| runs.iter().all(|it| it[key] == value);
    assert!(all("status", json!("answered")) && all("answer", json!("nothing new")), "{runs:?}");
    assert!(all("tag", Value::Null) && runs.iter().all(|it| it["tokens"].as_u64().unwrap() > 0));
    let listed = good(home, &["scheduler", "list"]);
    let kept = listed.iter().find(|it| it["run"].is_string() && it["job"] == job.as_str()).unwrap();
    assert_eq!(kept["answer"], "nothing new");
    let kinds = kinds(home);
    for (kind, count) in [("job_due", 6), ("job_started", 6), ("job_ended", 6)] {
        assert_eq!(kinds.iter().filter(|it| *it == kind).count(), count, "{kind}");
    }
    let started = content(home, "worker_started");
    assert!(started.iter().all(|it| it["origin"] == "job"), "{started:?}");
    let sessions: std::collections::BTreeSet<String> =
        started.iter().map(|it| it["session"].to_string()).collect();
    assert_eq!(sessions.len(), 6, "each has its own");
    let decided = good(home, &["evidence", "query", "--kind", "memory_list"]);
    assert!(decided.iter().any(|it| it["record"]["principal"] == "SYS"), "{decided:?}");
    assert_eq!(run(home, &["evidence", "verify"]).0, 0);
}

#[test]
fn a_run_ends_with_a_question_with_its_budget_and_not_at_all_for_who_is_no_user() {
    let shell = json!({"call": [{"name": "shell_exec", "input": {"command": "git push --force origin main"}}]});
    let list = |usage: u64| {
        let call = json!({"name": "memory_list", "input": {"scope": "a"}});
        json!({"call": [call], "usage": {"inputTokens": usage, "outputTokens": 0}})
    };
    let home = scripted(&[
        ("publish", shell),
        ("spend", list(900)),
        ("entries", list(901)),
        ("", json!({"say": "went on"})),
    ]);
    let home = home.path();
    add(home, &["publish it"]);
    add(home, &["spend", "--max-tokens", "1000"]);
    due(home, |_| {});
    let runs = carried_out(home);
    assert_eq!(runs.len(), 2, "{runs:?}");
    let (asked, spent) = (&runs[0], &runs[1]);
    assert_eq!(asked["status"], "needs_person", "{asked}");
    assert!(!asked["answer"].to_string().contains("went on"), "{asked}");
    let waiting = good(home, &["approvals", "list"]);
    assert_eq!((waiting.len(), &waiting[0]["tool"]), (1, &json!("shell_exec")), "{waiting:?}");
    assert_eq!(
        (&spent["status"], &spent["tokens"]),
        (&json!("over_budget"), &json!(1801)),
        "{spent}"
    );
    // Whoever is no user any more has no runs, whatever was scheduled for them.
    let users = fs::read_to_string(home.join("users.yaml")).unwrap();
    put(home, "users.yaml", &users.replace("name: me", "name: other"));
    due(home, |_| {});
    let runs = carried_out(home);
    assert!(runs.len() == 2 && runs.iter().all(|it| it["status"] == "refused"), "{runs:?}");
    assert_eq!(content(home, "worker_started").len(), 2);
}

#[test]
fn a_run_carries_the_label_and_at_most_the_rights_of_the_session_that_made_its_job() {
    let list = json!({"call": [{"name": "memory_list", "input": {"scope": "a"}}]});
    let home = scripted(&[
        ("look", list),
        ("sub-agent `reader`", json!({"say": "denied"})),
        ("", json!({"say": "seen"})),
    ]);
    let home = home.path();
    put(home, "agents/main/IDENTITY.md", "---\nagents: {reader: {tools: [web]}}\n---\n");
    add(home, &["look"]);
    let tag = json!({"source": "web", "taint": 3, "origin": "https://evil.example", "unix_seconds": 7, "record": "ab".repeat(32)});
    let tainted = |job: &mut Value| {
        job["session"] = json!("s");
        job["tag"] = tag.clone();
    };
    due(home, tainted);
    let ran = carried_out(home).remove(0);
    assert_eq!((&ran["status"], &ran["answer"]), (&json!("answered"), &json!("seen")), "{ran}");
    assert!(ran["answer_tag"].is_object(), "{ran}");
    let shown = good(home, &["taint", "show"]);
    assert!(shown.iter().any(|it| it.to_string().contains("evil.example")), "{shown:?}");
    let started = good(home, &["evidence", "query", "--kind", "session_start"]);
    let profile = started.last().unwrap().pointer("/record/payload/inline/profile").unwrap();
    assert_eq!(profile, "paranoid", "nobody knows the session that made it");
    // Made by a sub-agent that may only use the web.
    due(home, |job| job["sub_agents"] = json!(["reader"]));
    assert_eq!(carried_out(home)[0]["answer"], "denied");
    due(home, |job| job["sub_agents"] = json!(["gone"]));
    assert_eq!(carried_out(home)[0]["status"], "refused");
}
