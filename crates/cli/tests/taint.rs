//! `lazaret sessions` and `lazaret taint` on a real store and a real journal.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::path::{Path, PathBuf};

use model::{AgentId, Caller, Kind, Profile, SessionId, Taint, UserId};
use monitor::{State, Summary};
use serde_json::Value;
use store::SqliteStore;
use testkit::program::{Ran, Run as _};

use crate::program::lazaret;

const ROW: &str = "123e4567-e89b-42d3-a456-426614174000";

struct Home(tempfile::TempDir);

impl Home {
    /// A tainted session, a clean one, and a tainted memory row.
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let store = SqliteStore::open(&home.store()).unwrap();
        for (id, taint) in [("clean", Taint::NONE), ("dirty", Taint::UNTRUSTED)] {
            let who = Caller {
                session: SessionId::parse(id).unwrap(),
                user: UserId::parse("alice").unwrap(),
                agent: AgentId::parse("main").unwrap(),
                door: Kind::parse("ipc").unwrap(),
            };
            store.open(&who, Profile::Paranoid).unwrap();
            let tainted = taint != Taint::NONE;
            let summary = Summary {
                taint,
                tainted_tokens: if tainted { 90 } else { 0 },
                clean_tokens: 10,
                // What a page chose must not act on a terminal.
                origin: if tainted {
                    "https://evil.example/\u{1b}[2J".to_owned()
                } else {
                    String::new()
                },
                calls: 3,
                stopped: 1,
            };
            store.append(&who.session, b"change", &summary).unwrap();
        }
        drop(store);
        rusqlite::Connection::open(home.store())
            .unwrap()
            .execute(
                "INSERT INTO memory (id, user, agent, scope, type, content, created, record, exact,
                     seen, tag_source, tag_taint, tag_origin, tag_time, tag_record)
                 VALUES (?1, 'alice', 'main', 'notes', 'knowledge', 'pay at evil.example', 1000,
                     '', zeroblob(32), zeroblob(32), 'web', 129, 'https://evil.example/', 900, '')",
                [ROW],
            )
            .unwrap();
        home
    }

    fn store(&self) -> PathBuf {
        self.0.path().join("store.sqlite")
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        run(self.0.path(), args).told()
    }

    fn objects(&self, args: &[&str]) -> Vec<Value> {
        run(self.0.path(), args).good().objects()
    }

    fn records(&self) -> Vec<Value> {
        self.objects(&["evidence", "query", "--kind", "taint_cleared", "--json"])
    }
}

fn run(home: &Path, args: &[&str]) -> Ran {
    lazaret(home, args).env_remove("USER").run()
}

fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

#[test]
fn sessions_are_listed_with_their_taint() {
    let home = Home::new();
    let rows = home.objects(&["sessions", "--json"]);
    let dirty = serde_json::json!({
        "session": "dirty", "user": "alice", "agent": "main", "profile": "paranoid",
        "state": "open", "taint": ["UNTRUSTED"], "tainted_tokens": 90, "clean_tokens": 10,
        "origin": "https://evil.example/\u{1b}[2J", "calls": 3, "stopped": 1,
    });
    assert_eq!(rows[0], dirty);
    assert_eq!(at(&rows[1], "/taint"), &serde_json::json!([]));
    assert_eq!(home.objects(&["sessions", "--json", "--limit", "1"]).len(), 1);
    let (code, stdout, _) = home.run(&["sessions"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("dirty") && stdout.contains("UNTRUSTED") && !stdout.contains('\u{1b}'));
}

#[test]
fn looking_makes_no_store() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["sessions", "--json"][..], &["taint", "show", "--json"]] {
        assert_eq!(run(dir.path(), args).told(), (0, String::new(), String::new()));
    }
    assert_eq!(run(dir.path(), &["taint", "show", "--session", "s"]).code, 1);
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

#[test]
fn taint_is_shown_all_of_it_or_of_one_thing() {
    let home = Home::new();
    let all = home.objects(&["taint", "show", "--json"]);
    let kinds: Vec<_> = all.iter().map(|it| at(it, "/kind").clone()).collect();
    assert_eq!(kinds, ["session", "memory"]);
    let row = home.objects(&["taint", "show", "--memory", ROW, "--json"]);
    assert_eq!(at(&row[0], "/tag/origin"), "https://evil.example/");
    assert_eq!(at(&row[0], "/tag/taint"), &serde_json::json!(["UNTRUSTED", "WEB_DERIVED"]));
    let clean = home.objects(&["taint", "show", "--session", "clean", "--json"]);
    assert_eq!(at(&clean[0], "/taint"), &serde_json::json!([]));
    let (_, stdout, _) = home.run(&["taint", "show"]);
    assert!(stdout.contains(ROW) && stdout.contains("WEB_DERIVED") && !stdout.contains('\u{1b}'));
    assert_eq!(home.run(&["taint", "show", "--session", "nobody"]).0, 1);
    assert_eq!(home.run(&["taint", "show", "--session", "a b"]).0, 2);
    assert_eq!(home.run(&["taint", "show", "--session", "clean", "--memory", ROW]).0, 2);
}

#[test]
fn clearing_is_recorded_and_kept() {
    let home = Home::new();
    for (subject, name) in [("--session", "dirty"), ("--memory", ROW)] {
        let reason = ["--reason", "it is mine", "--by", "alice", "--yes", "--json"];
        let args = [&["taint", "clear", subject, name][..], &reason].concat();
        let cleared = home.objects(&args);
        assert_eq!(at(&cleared[0], "/name"), name);
        let records = home.records();
        let record = records.last().unwrap();
        assert_eq!(at(record, "/record/recordId"), at(&cleared[0], "/record"));
        assert_eq!(at(record, "/record/payload/inline/name"), name);
        assert_eq!(at(record, "/record/payload/inline/reason"), "it is mine");
        assert_eq!(at(record, "/record/payload/inline/by"), "alice");
        assert_eq!(at(record, "/record/principal"), "USER");
        assert_eq!(at(record, "/record/taint"), at(&cleared[0], "/taint"));
        let shown = home.objects(&["taint", "show", subject, name, "--json"]);
        assert_eq!(shown.len(), 2);
        assert_eq!(at(&shown[1], "/by"), "alice");
        assert_eq!(at(&shown[1], "/record"), at(&cleared[0], "/record"));
    }
    let left = home.objects(&["taint", "show", "--json"]);
    assert!(left.iter().all(|it| at(it, "/kind") == "cleared"), "{left:?}");
    assert_eq!(home.run(&["evidence", "verify"]).0, 0);
}

#[test]
fn nothing_is_cleared_without_a_person_a_reason_and_a_subject() {
    let home = Home::new();
    let base = ["taint", "clear", "--session", "dirty"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    for (args, code) in [
        (with(&["--reason", "x", "--by", "alice"]), 2),
        (with(&["--by", "alice", "--yes"]), 2),
        (with(&["--reason", " ", "--by", "alice", "--yes"]), 2),
        (with(&["--reason", "x", "--yes"]), 2),
        (with(&["--reason", "x", "--by", "a b", "--yes"]), 2),
        (vec!["taint", "clear", "--reason", "x", "--by", "alice", "--yes"], 2),
        (vec!["taint", "clear", "--session", "t", "--reason", "x", "--by", "alice", "--yes"], 1),
    ] {
        let (found, stdout, stderr) = home.run(&args);
        assert_eq!(found, code, "{args:?}: {stdout}{stderr}");
    }
    assert_eq!(home.objects(&["taint", "show", "--json"]).len(), 2);
    assert!(!home.0.path().join("evidence").exists());
}

#[test]
fn nothing_is_cleared_if_it_cannot_be_recorded() {
    let home = Home::new();
    let evidence = home.0.path().join("evidence");
    let (_journal, _) = evidence::Journal::open(&evidence::Config::new(&evidence)).unwrap();
    let clear = ["taint", "clear", "--session", "dirty", "--reason", "x", "--by", "alice", "--yes"];
    let (code, _, stderr) = home.run(&clear);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("process"), "{stderr}");
    assert_eq!(home.objects(&["taint", "show", "--json"]).len(), 2);
}

#[test]
fn a_store_that_cannot_be_read_is_named() {
    let home = Home::new();
    let db = rusqlite::Connection::open(home.store()).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    let (code, _, stderr) = home.run(&["sessions"]);
    assert_eq!(code, 3);
    assert!(stderr.contains("store.sqlite") && stderr.contains("newer"), "{stderr}");
}
