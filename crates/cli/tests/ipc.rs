//! `lazaret ipc` as a program: frames by stdin and by a socket, an orderly end, and who is let in.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::{Value, json};
use testkit::frames;

fn frame(message: &str) -> Vec<u8> {
    frames::frame(message.as_bytes())
}

struct Ran {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

fn lazaret(home: &Path, args: &[&str], stdin: Vec<u8>) -> Ran {
    let mut command = Command::cargo_bin("lazaret").unwrap();
    let output = command.env("LAZARET_HOME", home).args(args).write_stdin(stdin).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn stdio(home: &Path, user: &str, stdin: Vec<u8>) -> Ran {
    let args = ["ipc", "--user", user, "--agent", "main", "--session", "s", "--stdio"];
    lazaret(home, &args, stdin)
}

#[test]
fn frames_on_stdin_are_answered_on_stdout_until_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let write = r#"{"action":"memory_write","scope":"a","content":"b","type":"context"}"#;
    let input = [frame(write), frame("no json"), frame(r#"{"action":"skill_list"}"#)].concat();
    let ran = stdio(home.path(), "me", input);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let answers = frames::answers(&ran.stdout);
    assert_eq!(answers.len(), 3);
    assert_eq!(answers.first().unwrap()["ok"], true);
    assert_eq!(answers.get(1), Some(&json!({"ok": false, "error": "Invalid JSON"})));
    let error = "Handler error: no skills provider is configured";
    assert_eq!(answers.get(2), Some(&json!({"ok": false, "error": error})));

    // What was remembered is there in the next run, and the journal has all of it, in order.
    let again = stdio(home.path(), "me", frame(r#"{"action":"memory_list","scope":"a"}"#));
    let rows = frames::answers(&again.stdout).first().unwrap()["entries"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(lazaret(home.path(), &["evidence", "verify"], Vec::new()).code, 0);
    let turned_away = ["evidence", "query", "--kind", "turned_away", "--json"];
    let found = lazaret(home.path(), &turned_away, Vec::new());
    assert_eq!(String::from_utf8(found.stdout).unwrap().lines().count(), 1);

    // The session is hers, and nobody else's.
    let other = stdio(home.path(), "mallory", frame(r#"{"action":"memory_list","scope":"a"}"#));
    assert_eq!((other.code, other.stdout.len()), (1, 0));
    assert!(other.stderr.contains("belongs to another user or agent"), "{}", other.stderr);
}

#[test]
fn what_is_no_frame_ends_it() {
    let home = tempfile::tempdir().unwrap();
    let ran = stdio(home.path(), "me", vec![0xff; 9]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("a frame announces 4294967295 bytes"), "{}", ran.stderr);
    let ran = stdio(home.path(), "me", b"\0\0\0\x09{".to_vec());
    assert!(ran.stderr.contains("ended within a frame"), "{}", ran.stderr);
    let query = ["evidence", "query", "--kind", "malformed_frame", "--json"];
    let found = lazaret(home.path(), &query, Vec::new());
    assert_eq!(String::from_utf8(found.stdout).unwrap().lines().count(), 2);
}

#[expect(clippy::disallowed_methods, reason = "the program under test, in the background")]
fn spawn(home: &Path) -> Child {
    std::process::Command::new(env!("CARGO_BIN_EXE_lazaret"))
        .env("LAZARET_HOME", home)
        .args(["ipc", "--user", "me", "--agent", "main", "--session", "s"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_socket_is_served_until_somebody_ends_it_in_order() {
    let home = tempfile::tempdir().unwrap();
    let mut child = spawn(home.path());
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let path = home.path().join("ipc/s.sock");
    assert_eq!(line.trim_end(), format!("listening on {}", path.display()));
    let mut client = UnixStream::connect(&path).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    client.write_all(&frame(r#"{"action":"memory_list","scope":"a"}"#)).unwrap();
    let expected = frame(r#"{"entries":[],"ok":true}"#);
    let mut answer = vec![0; expected.len()];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(answer, expected);

    // A client is still connected, and that keeps nobody from ending.
    let id = child.id().to_string();
    Command::new("kill").args(["-TERM", &id]).assert().success();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!path.exists());
    assert!(home.path().join("evidence/clean.json").exists(), "the journal was closed");
}

#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn put(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn files_admit_or_refuse_and_a_refusal_is_recorded() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "config.yaml", "tools:\n  web:\n    enabled: false\n");
    let fetch = r#"{"action":"web_fetch","url":"https://a.example/"}"#;
    let alone = stdio(home.path(), "alice", frame(fetch));
    let answers = frames::answers(&alone.stdout);
    assert_eq!(answers.first().unwrap()["rule"], "layer-global", "one person's: {answers:?}");

    put(home.path(), "agents/main/IDENTITY.md", "---\naccess: public\n---\n");
    let missing = stdio(home.path(), "alice", Vec::new());
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("users.yaml` is missing"), "{}", missing.stderr);

    let hash = "a".repeat(64);
    let users = format!(
        "users:\n  - name: alice\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
    );
    put(home.path(), "users.yaml", &users);
    put(home.path(), "agents/main/IDENTITY.md", "---\naccess: publik\n---\n");
    let broken = stdio(home.path(), "alice", Vec::new());
    assert_eq!(broken.code, 2);
    assert!(broken.stderr.contains("IDENTITY.md`: line 2: "), "{}", broken.stderr);

    put(home.path(), "agents/main/IDENTITY.md", "---\naccess: public\n---\n");
    let stranger = stdio(home.path(), "mallory", Vec::new());
    assert_eq!(stranger.code, 1);
    assert!(stranger.stderr.contains("there is no user `mallory`"), "{}", stranger.stderr);
    let query = ["evidence", "query", "--kind", "session_refused", "--json"];
    let refused = lazaret(home.path(), &query, Vec::new());
    assert_eq!(String::from_utf8(refused.stdout).unwrap().lines().count(), 3);

    let admitted = stdio(home.path(), "alice", frame(fetch));
    let answers = frames::answers(&admitted.stdout);
    assert_eq!(answers.first().unwrap()["rule"], "layer-global", "{answers:?}");

    // A replay on the same state is admitted by the same files.
    let trace = |user: &str| {
        let session = format!("r-{user}");
        let event = json!({
            "event": "session", "session": session, "user": user, "agent": "main", "tools": [],
        });
        format!("{event}\n").into_bytes()
    };
    let dir = home.path().to_str().unwrap();
    let replay = |user| lazaret(home.path(), &["replay", "--home", dir, "-"], trace(user));
    assert_eq!(replay("alice").code, 0);
    let refused = replay("mallory");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("there is no user `mallory`"), "{}", refused.stderr);
}

#[test]
fn the_help_teaches() {
    let home = tempfile::tempdir().unwrap();
    let help = lazaret(home.path(), &["ipc", "--help"], Vec::new());
    let text = String::from_utf8(help.stdout).unwrap();
    for needed in ["four bytes of length", "--stdio", "SIGTERM", "users.yaml", "Exit codes"] {
        assert!(text.contains(needed), "{needed}");
    }
}

#[test]
fn an_agents_own_workspace_is_made_once_and_there_from_then_on() {
    let home = tempfile::tempdir().unwrap();
    let run = |session: &str, more: &[&str], message: &Value| {
        let args = ["ipc", "--user", "me", "--agent", "main", "--session", session, "--stdio"];
        let ran = lazaret(home.path(), &[&args[..], more].concat(), frame(&message.to_string()));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        frames::answers(&ran.stdout).remove(0)
    };
    let write = json!({"action": "file_write", "path": "a/b.md", "content": "hello"});
    let none = run("s1", &[], &write);
    assert!(none["error"].as_str().unwrap().contains("no workspace"), "{none}");
    let done = run("s2", &["--own-workspace"], &write);
    assert_eq!(done["ok"], true, "{done}");
    let path = home.path().join("workspaces-data/main/me/a/b.md");
    assert_eq!(fs::read_to_string(&path).unwrap(), "hello");
    let read = run("s3", &[], &json!({"action": "file_read", "path": "a/b.md"}));
    assert_eq!(read["content"], "hello");
    let out = run("s4", &[], &json!({"action": "file_read", "path": "../../../store.sqlite"}));
    assert!(out["error"].as_str().unwrap().contains("path-escape"), "{out}");
}

/// A store that is not the one of before would begin without the labels that sessions have.
#[test]
fn a_lost_emptied_exchanged_or_older_store_is_not_begun_with_until_a_person_says_so() {
    let names = ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"];
    let put = |from: Option<&Path>, home: &Path| {
        for name in names {
            let _ = fs::remove_file(home.join(name));
            if let Some(there) = from.map(|it| it.join(name)).filter(|it| it.exists()) {
                fs::copy(there, home.join(name)).unwrap();
            }
        }
    };
    let write = r#"{"action":"memory_write","scope":"a","content":"b","type":"context"}"#;
    let (home, other, older) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(stdio(other.path(), "me", frame(write)).code, 0);
    assert_eq!(stdio(home.path(), "me", frame(write)).code, 0);
    put(Some(home.path()), older.path());
    assert_eq!(stdio(home.path(), "me", frame(write)).code, 0);
    let emptied = tempfile::tempdir().unwrap();
    files::private::replace(&emptied.path().join("store.sqlite"), b"").unwrap();
    for from in [None, Some(emptied.path()), Some(other.path()), Some(older.path())] {
        put(from, home.path());
        let ran = stdio(home.path(), "me", frame(write));
        assert_eq!((ran.code, ran.stdout.len()), (3, 0), "{from:?}: {}", ran.stderr);
        let next = "lazaret sessions recover --accept-lost-state";
        assert!(ran.stderr.contains(next), "{}", ran.stderr);
    }
    let recover = |args: &[&str]| {
        lazaret(home.path(), &[&["sessions", "recover"][..], args].concat(), Vec::new())
    };
    assert_eq!(recover(&[]).code, 2);
    assert_eq!(stdio(home.path(), "me", frame(write)).code, 3);
    let ran = recover(&["--accept-lost-state", "--by", "ann", "--reason", "the disk"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for _ in 0..2 {
        assert_eq!(stdio(home.path(), "me", frame(write)).code, 0);
    }
    let accepted = ["evidence", "query", "--kind", "state_loss_accepted", "--json"];
    let found = lazaret(home.path(), &accepted, Vec::new());
    assert_eq!(String::from_utf8(found.stdout).unwrap().lines().count(), 1);
}
