//! Jobs that the daemon carries out, while nobody serves and nobody looks.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use evidence::{Clock as _, SystemClock};
use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::budgets::{self, used};
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

/// A state directory whose jobs ask a model that is asked and does not answer, and where that is asked.
fn hanging() -> (tempfile::TempDir, TcpListener) {
    let model = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = model.local_addr().unwrap().port();
    let home = budgets::home(&format!(
        "providers: {{llm: local, scheduler: full}}\nmodels: {{default: local/m, local: {{url: \"http://127.0.0.1:{port}\"}}}}\n\
         egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n"
    ));
    (home, model)
}

/// A question that has come, and waits for its answer.
fn asked(model: &TcpListener) -> TcpStream {
    let (mut asked, _) = model.accept().unwrap();
    asked.read_exact(&mut [0; 64]).unwrap();
    asked
}

#[test]
fn a_daemon_that_is_killed_in_a_run_leaves_it_lost_and_paid_and_the_job_comes_again() {
    let (home, model) = hanging();
    let home = home.path();
    once(home, "little", 0);
    let mut child = daemon(home, "1000");
    let _question = asked(&model);
    child.kill().unwrap();
    child.wait().unwrap();
    let paid = used(home);
    assert!(paid > 8000.0, "the question with the longest answer: {paid}");
    put(home, "config.yaml", budgets::MOCK);
    let mut child = daemon(home, "1000");
    until("the run is given up", || ended(home).iter().any(|it| it["status"] == "lost"));
    assert_eq!(used(home), paid, "nothing was asked again, and nothing is given back");
    // It comes again when it is due again, and is paid anew.
    let text = std::fs::read_to_string(home.join("scheduler.json")).unwrap();
    let mut book: Value = serde_json::from_str(&text).unwrap();
    book["jobs"][0]["next"] = json!(SystemClock.unix_seconds());
    put(home, "scheduler.json", &book.to_string());
    until("it comes again", || ended(home).iter().any(|it| it["status"] == "answered"));
    assert_eq!(used(home), paid + 7.0);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_whose_job_somebody_removes_ends_and_stays_paid() {
    let (home, model) = hanging();
    let home = home.path();
    once(home, "little", 0);
    let mut child = daemon(home, "1");
    let mut question = asked(&model);
    let id = good(home, &["scheduler", "list"])[0]["job"].as_str().unwrap().to_owned();
    assert_eq!(lazaret(home, &["scheduler", "remove", &id]).run().code, 0);
    // The question is hung up, and the daemon has nothing to stay for.
    question.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut rest = Vec::new();
    question.read_to_end(&mut rest).unwrap();
    until("it ends", || child.try_wait().unwrap().is_some());
    assert!(used(home) > 0.0, "what was sent is paid");
    let ends = good(home, &["evidence", "query", "--kind", "job_ended"]);
    let status = ends[0].pointer("/record/payload/inline/status").unwrap();
    // The model does not hang up, so that the worker is ended: it was stopped all the same.
    assert_eq!((ends.len(), status), (1, &json!("stopped")), "{ends:?}");
}
