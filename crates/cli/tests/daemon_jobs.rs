//! Jobs that the daemon carries out, while nobody serves and nobody looks.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use evidence::{Clock as _, SystemClock};
use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;
use crate::providers::support::{good, home, put};
use crate::serve::PATIENCE;

const SETTINGS: &str =
    "providers: {llm: mock, scheduler: full}\nmodels: {mock: {script: s.json}}\n";

fn scripted() -> tempfile::TempDir {
    let home = home(SETTINGS);
    put(home.path(), "s.json", "{\"otherwise\": {\"say\": \"done\"}}");
    home
}

/// Adds a job that comes once, so many seconds from now on, which has passed if that is not positive.
fn once(home: &Path, prompt: &str, seconds: i64) {
    let add =
        ["scheduler", "add", "--user", "me", "--agent", "main", "--cron", "0 0 1 1 *", prompt];
    let added = good(home, &add);
    let at = SystemClock.unix_seconds() + seconds;
    let text = std::fs::read_to_string(home.join("scheduler.json")).unwrap();
    let mut book: Value = serde_json::from_str(&text).unwrap();
    let jobs = book["jobs"].as_array_mut().unwrap();
    let job = jobs.iter_mut().find(|it| it["id"] == added[0]["job"]).unwrap();
    job["next"] = json!(at);
    put(home, "scheduler.json", &book.to_string());
}

/// The runs that have ended.
fn ended(home: &Path) -> Vec<Value> {
    let mut listed = good(home, &["scheduler", "list"]);
    listed.retain(|it| it["status"].is_string());
    listed
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn daemon(home: &Path, idle: &str) -> Child {
    let mut command = lazaret(home, &["daemon", "run", "--idle", idle]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_daemon_carries_out_what_is_due_and_does_not_end_before() {
    let home = scripted();
    let home = home.path();
    once(home, "later", 4);
    // It would end after a second, if nothing were to come.
    let mut child = daemon(home, "1");
    until("the job is carried out", || !ended(home).is_empty());
    let runs = ended(home);
    assert_eq!((&runs[0]["status"], &runs[0]["answer"]), (&json!("answered"), &json!("done")));
    // The job comes again in a year: it stays for that.
    assert!(child.try_wait().unwrap().is_none());
    let status = lazaret(home, &["daemon", "status", "--json"]).run().objects().remove(0);
    assert_eq!(status["jobs"], json!({ "running": 0, "wrong": null }));
    // Whoever wants to carry out jobs beside it leaves them to it.
    once(home, "now", 0);
    let ran = lazaret(home, &["scheduler", "run", "--once"]).run();
    assert!(ran.code == 0 && ran.err.contains("carries out what is due"), "{}", ran.err);
    until("the other one, too", || ended(home).len() == 2);
    // Without a job it ends.
    for job in good(home, &["scheduler", "list"]) {
        let id = job["job"].as_str().unwrap();
        lazaret(home, &["scheduler", "remove", id]).run();
    }
    until("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(lazaret(home, &["evidence", "verify"]).run().code, 0);
}

#[test]
fn other_settings_begin_the_next_daemon_and_no_job_is_lost() {
    let home = scripted();
    let home = home.path();
    let mut child = daemon(home, "1000");
    once(home, "first", 0);
    until("the first is carried out", || !ended(home).is_empty());
    once(home, "second", 3);
    put(home, "config.yaml", &format!("{SETTINGS}history: {{memory_recall: true}}\n"));
    until("the daemon of the old settings ends", || child.try_wait().unwrap().is_some());
    until("the next one carries out what is left", || ended(home).len() == 2);
    let said = lazaret(home, &["daemon", "status", "--json"]).run().objects().remove(0);
    assert_ne!(said["pid"], json!(child.id()));
    assert_eq!(lazaret(home, &["daemon", "stop"]).run().code, 0);
}

#[test]
fn a_daemon_without_a_model_says_why_it_carries_out_nothing() {
    let home = home("providers: {scheduler: full}\n");
    let home = home.path();
    once(home, "now", 0);
    assert_eq!(lazaret(home, &["daemon", "start"]).run().code, 0);
    until("it says why", || {
        let ran = lazaret(home, &["scheduler", "run", "--once"]).run();
        ran.code == 3 && ran.err.contains("no model is chosen")
    });
    assert_eq!(lazaret(home, &["daemon", "stop"]).run().code, 0);
}
