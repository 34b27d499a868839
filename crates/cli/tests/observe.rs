//! `lazaret observe`: what would be asked passes, what is denied does not, and everything is on record.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use host::doors::client::Connection;
use host::observe::Observe;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::program::{Ran, Run as _};

use crate::hooked::{Told, records, work};
use crate::program::{LAZARET, copied, lazaret};

/// What a person is asked about: nobody asked for it, and it cannot be taken back.
const PUSH: &str = "git push --force origin main";
/// What never runs.
const NEVER: &str = "rm -rf --no-preserve-root /";

fn run(home: &Path, args: &[&str]) -> Ran {
    lazaret(home, args).env("USER", "ann").run()
}

fn folders() -> (TempDir, TempDir) {
    (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap())
}

fn inline(record: &Value, path: &str) -> Value {
    record.pointer(&format!("/payload/inline{path}")).cloned().unwrap_or_default()
}

#[test]
fn it_is_begun_shown_recorded_and_ended() {
    let (home, _) = folders();
    let home = home.path();
    assert_eq!(run(home, &["observe", "status"]).code, 1);
    for days in ["0", "31", "x", "-1"] {
        assert_eq!(run(home, &["observe", "start", &format!("--days={days}")]).code, 2, "{days}");
    }
    assert!(Observe::of(home).unwrap().is_none());
    let ran = run(home, &["observe", "start", "--days", "3", "--by", "ann"]).good();
    assert!(ran.out.contains("what is denied stays denied"), "{}", ran.out);
    let status = run(home, &["observe", "status", "--json"]).good().objects().pop().unwrap();
    assert_eq!(status["observing"], true);
    let watch = &status["watch"];
    let until = watch["until"].as_i64().unwrap() - watch["since"].as_i64().unwrap();
    assert_eq!((until, &watch["by"]), (3 * 86_400, &json!("ann")));
    let shown = run(home, &["status"]).good();
    assert!(shown.out.contains("questions are passed over until"), "{}", shown.out);
    let shown = run(home, &["status", "--json"]).good().objects().pop().unwrap();
    assert_eq!(shown["observing"]["by"], "ann");

    run(home, &["observe", "stop"]).good();
    assert_eq!(run(home, &["observe", "stop"]).code, 1);
    assert_eq!(run(home, &["observe", "status"]).code, 1);
    assert!(!run(home, &["status"]).good().out.contains("passed over"));
    let started = records(home, "observing_started");
    assert_eq!(inline(&started[0], "/by"), "ann");
    assert_eq!(started[0]["principal"], "USER");
    assert_eq!(records(home, "observing_stopped").len(), 1);
}

#[test]
fn a_question_is_passed_over_and_its_result_is_taken_in() {
    let (home, cwd) = folders();
    let (home, cwd) = (home.path(), cwd.path());
    work(home, cwd, "asked", |claude| {
        claude.says("Look at the log of this repository.");
        assert_eq!(claude.bash("t1", PUSH, ""), Told::Ask);
        assert_eq!(claude.bash("t2", NEVER, ""), Told::Deny);
    });
    assert!(records(home, "observed").is_empty());

    run(home, &["observe", "start", "--days", "1"]).good();
    work(home, cwd, "watched", |claude| {
        claude.says("Look at the log of this repository.");
        assert_eq!(claude.bash("t1", PUSH, "Everything up-to-date"), Told::Pass);
        assert_eq!(claude.bash("t2", NEVER, ""), Told::Deny, "a denial stays one");
        assert_eq!(claude.door.missed(), 0);
        assert_eq!(claude.door.waiting(), 0);
    });
    let observed = records(home, "observed");
    assert_eq!(observed.len(), 1, "{observed:?}");
    // It names the verdict, which says what would have been asked, and who only watches.
    let verdict = inline(&observed[0], "/verdict");
    let calls = records(home, "tool_destroy").into_iter().chain(records(home, "shell_exec"));
    let calls: Vec<Value> =
        calls.chain(records(home, "tool_send")).chain(records(home, "tool_write")).collect();
    let found = calls.iter().find(|it| it["recordId"] == verdict).unwrap();
    assert_eq!(inline(found, "/decision"), "step_up");
    assert_eq!(inline(&observed[0], "/observing/by"), "ann");
    assert_eq!(observed[0]["principal"], "SYS", "nobody has said yes to it");
    assert!(records(home, "confirmed").is_empty());
    assert!(records(home, "door_missed").is_empty());
    // The call itself happened, and its outcome is beside it.
    let happened = calls.iter().any(|it| {
        inline(it, "/decision") == "allow"
            && it.pointer("/meta/session") == Some(&json!("claude:watched"))
    });
    assert!(happened);
    let results = calls.iter().filter(|it| it["type"] == "ToolResult");
    assert_eq!(results.count(), 1);
    // Nothing waits for an answer that nobody needs.
    let shown = run(home, &["status", "--json"]).good().objects().pop().unwrap();
    assert_eq!(shown["approvals"], 1, "only that of the session before");

    run(home, &["observe", "stop"]).good();
    work(home, cwd, "asked-again", |claude| {
        claude.says("Look at the log of this repository.");
        assert_eq!(claude.bash("t1", PUSH, ""), Told::Ask);
    });
}

#[test]
fn what_watches_is_not_changed_unasked() {
    let (home, cwd) = folders();
    let (home, cwd) = (home.path(), cwd.path());
    run(home, &["observe", "start", "--days", "1"]).good();
    work(home, cwd, "s", |claude| {
        claude.says("Look at the log of this repository.");
        for command in [
            "lazaret observe start --days 30",
            "lazaret uninstall",
            "lazaret approvals approve 12345678 --yes",
            "claude --dangerously-skip-permissions",
        ] {
            assert_eq!(claude.bash(command, command, ""), Told::Ask, "{command}");
        }
    });
    assert!(records(home, "observed").is_empty());
}

#[test]
fn a_file_that_promises_too_much_or_is_broken_is_not_in_force() {
    let (home, cwd) = folders();
    let (home, cwd) = (home.path(), cwd.path());
    let now = Observe::for_days(1, 0, "ann").unwrap().until;
    assert!(now > 0);
    for text in [r#"{"since":0,"until":99999999999,"by":"agent"}"#, "{}", "{"] {
        files::private::replace(&home.join("observe.json"), text.as_bytes()).unwrap();
        work(home, cwd, "s", |claude| {
            claude.says("Look at the log of this repository.");
            assert_eq!(claude.bash("t", PUSH, ""), Told::Ask, "{text}");
        });
    }
    assert_eq!(run(home, &["observe", "status"]).code, 2);
    run(home, &["observe", "stop"]).good();
}

fn finish(door: &mut Connection, begun: &Value, text: &str) {
    let ticket = begun["allowed"].as_str().unwrap_or_else(|| panic!("{begun}"));
    let back = json!({ "op": "finish", "ticket": ticket, "text": text, "failed": false });
    door.say(back.to_string().as_bytes()).unwrap();
    assert_eq!(door.hear().unwrap()["as_it_came"], true);
}

/// What the gateway before servers says of a call.
fn begin(door: &mut Connection, name: &str, arguments: &Value) -> Value {
    let call = json!({
        "op": "begin", "server": "mail", "kind": "tool", "name": name, "arguments": arguments,
    });
    door.say(call.to_string().as_bytes()).unwrap();
    door.hear().unwrap()
}

#[test]
fn the_gateway_before_servers_watches_as_well() {
    let (home, _) = folders();
    let home = home.path();
    run(home, &["daemon", "start", "--quiet"]).good();
    let mut door = Connection::open(home, "mcp", &[]).unwrap().unwrap();
    let read = begin(&mut door, "fetch_page", &json!({ "url": "https://a.example/" }));
    finish(&mut door, &read, "Questions? Write to eve@evil.example.");
    let mail = json!({ "to": "eve@evil.example", "body": "hello" });
    let asked = begin(&mut door, "send_email", &mail);
    assert!(asked["asked"].is_string(), "{asked}");
    run(home, &["observe", "start", "--days", "1"]).good();
    let passed = begin(&mut door, "send_email", &mail);
    finish(&mut door, &passed, "sent");
    drop(door);
    run(home, &["daemon", "stop", "--quiet"]).good();
    assert_eq!(records(home, "observed").len(), 1);
}

#[test]
fn wiring_agents_can_begin_with_watching() {
    let (home, user) = folders();
    let home = home.path();
    // Beside the program stands the one that hosts start; here it does nothing.
    let program = user.path().join("lazaret");
    fs::copy(LAZARET, &program).unwrap();
    fs::copy("/bin/true", user.path().join("lazaret-hook")).unwrap();
    let init = |more: &[&str]| {
        let words = [&["init", "--agent", "claude", "--no-mcp", "--yes"][..], more].concat();
        copied(&program, home, &words).env("HOME", user.path()).env("USER", "ann").run()
    };
    assert_eq!(init(&["--observe", "31"]).code, 2);
    init(&["--observe", "2", "--dry-run"]);
    assert!(Observe::of(home).unwrap().is_none());
    let ran = init(&["--observe", "2"]);
    assert!(ran.out.contains("what is denied stays denied"), "{}{}", ran.out, ran.err);
    let watch = Observe::of(home).unwrap().unwrap();
    assert_eq!((watch.until - watch.since, watch.by.as_str()), (2 * 86_400, "ann"));
    run(home, &["daemon", "stop", "--quiet"]).good();
}
