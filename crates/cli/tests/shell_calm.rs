//! An ordinary hour of work through the real program: commands, files and mistakes, and nobody has to be asked.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::gate::Session;
use crate::program::lazaret;

const PAGE: &str = "The weather in Emden is wet, says the page of somebody else.\n";
const ROW: &str = "123e4567-e89b-42d3-a456-426614174000";

/// As the README has it: a state directory with one line of settings, and a workspace.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        put(&place.home().join("config.yaml"), "providers:\n  shell: sandbox\n");
        put(&place.workspace().join("README.md"), "# Harbour\n\nTides and ferries.\n");
        put(
            &place.workspace().join("src/tide.py"),
            "HIGH = 12\n\n\ndef high():\n    return HIGH\n",
        );
        put(
            &place.workspace().join("build.sh"),
            "for it in $(seq 1 300); do echo \"step $it of the build\"; done\n",
        );
        place
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("person/.lazaret")
    }

    fn workspace(&self) -> PathBuf {
        self.0.path().join("workspace")
    }

    fn session(&self, id: &str) -> Session {
        let mut command = lazaret(self.home(), &["ipc", "--stdio", "--session", id]);
        command.arg("--workspace").arg(self.workspace());
        Session::start(command.env("HOME", self.0.path().join("person")))
    }
}

fn run(session: &mut Session, command: &str) -> Value {
    session.ask(json!({ "action": "shell_exec", "command": command }))
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn ordinary_commands_in_a_row_need_nobody() {
    let place = Place::new();
    let mut session = place.session("s");
    for command in [
        "ls",
        "ls -la src",
        "cat README.md",
        "wc -l src/tide.py",
        "grep -n HIGH src/tide.py",
        "bash ./build.sh",
        "find . -name '*.py'",
        "mkdir -p build && cp src/tide.py build/",
        "sort README.md | head -n 2",
        "diff src/tide.py build/tide.py && echo same",
        "cat nothing.txt",
        "sed -n 1,3p src/tide.py",
        "bash ./build.sh | tail -n 1",
        "test -d build; echo $?",
        "curl -s -m 5 http://localhost:8080/ || echo nobody",
    ] {
        let answer = run(&mut session, command);
        assert_eq!(answer["ok"], true, "{command}: {answer}");
        assert_eq!(answer["taint"], json!([]), "{command}: {answer}");
    }
    let write = json!({ "action": "file_write", "path": "build/notes.md", "content": "It sails." });
    assert_eq!(session.ask(&write)["ok"], true);
    session.end();
}

#[test]
fn mistakes_stop_no_later_write() {
    let place = Place::new();
    let mut session = place.session("s");
    for number in 0..12 {
        let read = json!({ "action": "file_read", "path": format!("no/{number}.txt") });
        assert_eq!(session.ask(&read)["ok"], false);
        assert_eq!(session.ask(json!({ "action": "nope" }))["ok"], false);
        let outside = json!({ "action": "file_read", "path": "../outside.txt" });
        assert_eq!(session.ask(&outside)["ok"], false);
        assert_eq!(run(&mut session, "sudo true")["ok"], false);
    }
    // What the host itself reports gives advice, and is nobody's order.
    assert_eq!(session.ask(json!({ "action": "audit_query" }))["ok"], true);
    let write = json!({ "action": "file_write", "path": "build/notes.md", "content": "It sails." });
    let answer = session.ask(&write);
    assert_eq!(answer["ok"], true, "{answer}");
    let answer = run(&mut session, "cat build/notes.md");
    assert_eq!(answer["ok"], true, "{answer}");
    session.end();
}

/// A row that another session remembered from a page.
fn remember_a_page(place: &Place) {
    let path = place.home().join("store.sqlite");
    drop(store::SqliteStore::open(&path).unwrap());
    let sql = "INSERT INTO memory (id, user, agent, scope, type, content, created, record, exact,
            seen, tag_source, tag_taint, tag_origin, tag_time, tag_record)
        VALUES (?1, 'me', 'main', 'notes', 'knowledge', ?2, 1000, '', zeroblob(32), zeroblob(32),
            'web', 129, 'https://weather.example/', 900, '')";
    rusqlite::Connection::open(path).unwrap().execute(sql, [ROW, PAGE]).unwrap();
}

#[test]
fn what_outsiders_wrote_is_theirs_when_a_command_prints_it() {
    let place = Place::new();
    remember_a_page(&place);
    let mut session = place.session("s");
    assert_eq!(run(&mut session, "ls")["taint"], json!([]));
    let read = session.ask(json!({ "action": "memory_read", "id": ROW }));
    assert_eq!(read["ok"], true, "{read}");
    // More came from outside than was said by anybody: a command waits for a person.
    let answer = run(&mut session, "ls");
    assert_eq!(answer["taintBlocked"], true, "{answer}");
    session.end();
}
