//! What works beside a process that has the gate, and what it does itself while it runs: runs and talks, its workers, its models,
//! its rules.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;
use crate::serve::{PATIENCE, Served, home, put};

fn records(home: &Path, kind: &str) -> Vec<Value> {
    lazaret(home, &["evidence", "query", "--kind", kind, "--json"]).run().objects()
}

#[test]
fn runs_and_talks_go_on_beside_a_daemon_and_are_what_they_are_without_one() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    assert_eq!(lazaret(home, &["daemon", "start"]).run().code, 0);
    let ran = lazaret(home, &["run", "main", "hello there", "--session", "s1", "--json"]).run();
    let told = ran.objects().pop().unwrap();
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(told["answer"].as_str().unwrap().contains("You said: hello there"), "{told}");
    assert!(told["usage"]["inputTokens"].as_u64().unwrap() > 0, "{told}");
    assert!(ran.err.contains("no model is chosen"), "{}", ran.err);
    // The same session, and a conversation in it.
    // What is said at once after an answer is answered, too.
    let talked = lazaret(home, &["chat", "--resume", "s1"]).run_with("one?\ntwo?\nthree?\n");
    for said in ["one?", "two?", "three?"] {
        let answer = format!("You said: {said}");
        assert!(talked.out.contains(&answer), "{said}: {}{}", talked.out, talked.err);
    }
    let runs = fs::read_to_string(home.join("runs.jsonl")).unwrap();
    assert_eq!(runs.lines().count(), 4, "{runs}");
    // What is wrong is said as it is without a daemon.
    assert_eq!(lazaret(home, &["run", "nobody", "x"]).run().code, 2);
    let gone = lazaret(home, &["run", "main", "x", "--workspace", "/no/such/folder"]).run();
    assert_eq!(gone.code, 2, "{}", gone.err);
    assert_eq!(lazaret(home, &["daemon", "status"]).run().code, 0);
    assert_eq!(lazaret(home, &["daemon", "stop"]).run().code, 0);
    assert_eq!(records(home, "worker_started").len(), 2);
    assert_eq!(lazaret(home, &["evidence", "verify"]).run().code, 0);
}

#[test]
fn a_run_beside_a_talk_that_has_the_gate_says_that_it_waits_and_goes_on_when_that_ends() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let piped = |words: &[&str]| {
        let mut command = lazaret(home, words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let line = |of: &mut Child| {
        let mut line = String::new();
        BufReader::new(of.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    };
    let mut talk = piped(&["chat"]);
    // It has the gate when it speaks.
    assert!(line(&mut talk).contains("no model is chosen"));
    let mut run = piped(&["run", "main", "hello there", "--json"]);
    let told = line(&mut run);
    assert!(told.contains("another command has the gate: waiting"), "{told}");
    assert!(run.try_wait().unwrap().is_none());
    drop(talk.stdin.take());
    assert!(talk.wait().unwrap().success());
    let ran = run.wait_with_output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("You said: hello there"));
}

/// One request of the administrator, as JSON.
fn get(served: &Served<'_>, path: &str, token: &str) -> Value {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n",
        served.address
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Waits until so many records of a kind are there.
fn until(home: &Path, kind: &str, count: usize) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let found = records(home, kind);
        if found.len() >= count {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{kind}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_server_shows_its_workers_and_models_and_decides_by_new_rules_without_a_restart() {
    let call = json!({"call": [{"name": "memory_list", "input": {"scope": "agents/main"}}]});
    let script = json!({"replies": [{"when": "look", "give": call}], "otherwise": {"say": "told: ", "echo": true}});
    let home = home(&script, "");
    let home = home.path();
    let users = fs::read_to_string(home.join("users.yaml")).unwrap();
    put(home, "users.yaml", &users.replacen("name: ann,", "name: ann, admin: true,", 1));
    let served = Served::start(home);
    let words = ["access", "create", "--user", "ann", "--json"];
    let token =
        lazaret(home, &words).run().objects().remove(0)["token"].as_str().unwrap().to_owned();
    // Who looks at the server itself agrees to nothing before; who has it do something does.
    let _ = served.token("ann");
    // A run at the terminal is the server's, on the same books.
    let run = || {
        let ran = lazaret(home, &["run", "main", "look", "--user", "ann", "--json"]).run();
        let told = ran.objects().pop().unwrap_or_default();
        (told["calls"][0]["status"].as_str().unwrap_or_default().to_owned(), ran.err)
    };
    let (status, err) = run();
    assert_eq!(status, "ran", "{err}");
    // A worker that waits for the next turn of its session is shown.
    let sent = lazaret(home, &["send", "main", "hello", "--user", "ann"]).run();
    assert_eq!(sent.code, 0, "{}", sent.err);
    let deep = get(&served, "/health/deep", &token);
    assert_eq!(deep["models"][0]["state"], "ok", "{deep}");
    assert!(deep["models"][0]["model"].as_str().unwrap().starts_with("mock/"), "{deep}");
    let asked = records(home, "model_call").len();
    assert_eq!(get(&served, "/health/deep", &token), deep, "it is kept for a while");
    assert_eq!(records(home, "model_call").len(), asked);
    // A ban counts as soon as it is written, and its end is an alert.
    let ban = "@id(\"own-ban\")\n@reason(\"not here\")\n@decision(\"deny\")\nforbid (principal, action == Action::\"memory_list\", resource);\n";
    put(home, "policy/own.cedar", ban);
    let read = until(home, "policy_reloaded", 1);
    assert!(read[0].to_string().contains("own-ban is new"), "{read:?}");
    assert_eq!(run().0, "denied");
    put(home, "policy/own.cedar", "this is no rule\n");
    let refused = until(home, "policy_refused", 1);
    assert!(refused[0].to_string().contains("do not load"), "{refused:?}");
    assert_eq!(run().0, "denied", "what does not load changes nothing");
    fs::remove_file(home.join("policy/own.cedar")).unwrap();
    let read = until(home, "policy_reloaded", 2);
    let last = read.iter().find(|it| it.to_string().contains("is gone")).unwrap();
    assert!(last.to_string().contains("may protect less"), "{last}");
    assert_eq!(run().0, "ran");
    assert_eq!(served.end(), 0);
    assert_eq!(lazaret(home, &["evidence", "verify"]).run().code, 0);
}
