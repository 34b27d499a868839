//! `lazaret ipc` as a program: frames by stdin and by a socket, an orderly end, and who is let in.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use testkit::frames;
use testkit::program::{Ran, Run as _, end};

use crate::gate::agent;
use crate::program::lazaret;

fn frame(message: &str) -> Vec<u8> {
    frames::frame(message.as_bytes())
}

fn stdio(home: &Path, user: &str, stdin: Vec<u8>) -> Ran<Vec<u8>> {
    let args = ["ipc", "--user", user, "--agent", "main", "--session", "s", "--stdio"];
    lazaret(home, &args).run_bytes(stdin)
}

/// How many records of this kind there are.
fn count(home: &Path, kind: &str) -> usize {
    lazaret(home, &["evidence", "query", "--kind", kind, "--json"]).run().objects().len()
}

#[test]
fn frames_on_stdin_are_answered_on_stdout_until_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let write = r#"{"action":"memory_write","scope":"a","content":"b","type":"context"}"#;
    let input = [frame(write), frame("no json"), frame(r#"{"action":"skill_list"}"#)].concat();
    let ran = stdio(home.path(), "me", input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answers = frames::answers(&ran.out);
    assert_eq!(answers.len(), 3);
    assert_eq!(answers.first().unwrap()["ok"], true);
    assert_eq!(answers.get(1), Some(&json!({"ok": false, "error": "Invalid JSON"})));
    let error = "Handler error: no skills provider is configured";
    assert_eq!(answers.get(2), Some(&json!({"ok": false, "error": error})));

    // What was remembered is there in the next run, and the journal has all of it, in order.
    let again = stdio(home.path(), "me", frame(r#"{"action":"memory_list","scope":"a"}"#));
    let rows = frames::answers(&again.out).first().unwrap()["entries"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(lazaret(home.path(), &["evidence", "verify"]).run().code, 0);
    assert_eq!(count(home.path(), "turned_away"), 1);

    // The session is hers, and nobody else's.
    let other = stdio(home.path(), "mallory", frame(r#"{"action":"memory_list","scope":"a"}"#));
    assert_eq!((other.code, other.out.len()), (1, 0));
    assert!(other.err.contains("belongs to another user or agent"), "{}", other.err);
}

#[test]
fn what_is_no_frame_ends_it() {
    let home = tempfile::tempdir().unwrap();
    let ran = stdio(home.path(), "me", vec![0xff; 9]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("a frame announces 4294967295 bytes"), "{}", ran.err);
    let ran = stdio(home.path(), "me", b"\0\0\0\x09{".to_vec());
    assert!(ran.err.contains("ended within a frame"), "{}", ran.err);
    assert_eq!(count(home.path(), "malformed_frame"), 2);
}

#[test]
fn a_socket_is_served_until_somebody_ends_it_in_order() {
    let home = tempfile::tempdir().unwrap();
    let args = ["ipc", "--user", "me", "--agent", "main", "--session", "s"];
    let (mut child, line) = lazaret(home.path(), &args).start_and_hear();
    let path = home.path().join("ipc/s.sock");
    assert_eq!(line.trim_end(), format!("listening on {}", path.display()));
    let mut client = agent(home.path());
    client.write_all(&frame(r#"{"action":"memory_list","scope":"a"}"#)).unwrap();
    let expected = frame(r#"{"entries":[],"ok":true}"#);
    let mut answer = vec![0; expected.len()];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(answer, expected);

    // A client is still connected, and that keeps nobody from ending.
    end(&mut child);
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
    let answers = frames::answers(&alone.out);
    assert_eq!(answers.first().unwrap()["rule"], "layer-global", "one person's: {answers:?}");

    put(home.path(), "agents/main/IDENTITY.md", "---\naccess: public\n---\n");
    let missing = stdio(home.path(), "alice", Vec::new());
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("users.yaml` is missing"), "{}", missing.err);

    let hash = "a".repeat(64);
    let users = format!(
        "users:\n  - name: alice\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
    );
    put(home.path(), "users.yaml", &users);
    put(home.path(), "agents/main/IDENTITY.md", "---\naccess: publik\n---\n");
    let broken = stdio(home.path(), "alice", Vec::new());
    assert_eq!(broken.code, 2);
    assert!(broken.err.contains("IDENTITY.md`: line 2: "), "{}", broken.err);

    put(home.path(), "agents/main/IDENTITY.md", "---\naccess: public\n---\n");
    let stranger = stdio(home.path(), "mallory", Vec::new());
    assert_eq!(stranger.code, 1);
    assert!(stranger.err.contains("there is no user `mallory`"), "{}", stranger.err);
    assert_eq!(count(home.path(), "session_refused"), 3);

    let admitted = stdio(home.path(), "alice", frame(fetch));
    let answers = frames::answers(&admitted.out);
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
    let replay = |user| lazaret(home.path(), &["replay", "--home", dir, "-"]).run_with(trace(user));
    assert_eq!(replay("alice").code, 0);
    let refused = replay("mallory");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("there is no user `mallory`"), "{}", refused.err);
}

#[test]
fn the_help_teaches() {
    let home = tempfile::tempdir().unwrap();
    let text = lazaret(home.path(), &["ipc", "--help"]).run().out;
    for needed in ["four bytes of length", "--stdio", "SIGTERM", "users.yaml", "Exit codes"] {
        assert!(text.contains(needed), "{needed}");
    }
}

#[test]
fn an_agents_own_workspace_is_made_once_and_there_from_then_on() {
    let home = tempfile::tempdir().unwrap();
    let run = |session: &str, more: &[&str], message: &Value| {
        let args = ["ipc", "--user", "me", "--agent", "main", "--session", session, "--stdio"];
        let message = frame(&message.to_string());
        let ran = lazaret(home.path(), &[&args[..], more].concat()).run_bytes(message).good();
        frames::answers(&ran.out).remove(0)
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
        assert_eq!((ran.code, ran.out.len()), (3, 0), "{from:?}: {}", ran.err);
        let next = "lazaret sessions recover --accept-lost-state";
        assert!(ran.err.contains(next), "{}", ran.err);
    }
    let recover = |args: &[&str]| lazaret(home.path(), &["sessions", "recover"]).args(args).run();
    assert_eq!(recover(&[]).code, 2);
    assert_eq!(stdio(home.path(), "me", frame(write)).code, 3);
    let ran = recover(&["--accept-lost-state", "--by", "ann", "--reason", "the disk"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for _ in 0..2 {
        assert_eq!(stdio(home.path(), "me", frame(write)).code, 0);
    }
    assert_eq!(count(home.path(), "state_loss_accepted"), 1);
}
