//! The file keeps what SQLite keeps: labels, users apart, trees of scopes; and survives what files meet.

mod crash;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use aegx::Digest;
use evidence::Durability;
use model::ipc::MemoryKind;
use model::{AgentId, Source, Taint, TaintTag, UserId};
use monitor::Labels;

use super::{FileMemory, look_at, look_at_tainted};
use crate::content::Fingerprint;
use crate::error::OpenError;
use crate::memory::{MemoryError, MemoryRow, NewMemory, Rows as _, Written};
use crate::oversight::{Oversight as _, Subject, Word};
use crate::{ClearError, SqliteStore};

const PORTAL: &str = "The invoice portal is https://pay.example";
const SHOUTED: &str = "the invoice   portal is HTTPS://PAY.EXAMPLE";

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn page() -> TaintTag {
    TaintTag {
        source: Source::Web,
        taint: Taint::UNTRUSTED.union(Taint::WEB_DERIVED),
        origin: "https://news.example/7".to_owned(),
        unix_seconds: 7,
        record: "ab".repeat(32),
    }
}

fn memory(who: &str, content: &str, tag: Option<TaintTag>) -> NewMemory {
    NewMemory {
        user: user(who),
        agent: AgentId::parse("main").unwrap(),
        scope: "notes".to_owned(),
        kind: MemoryKind::Knowledge,
        content: content.to_owned(),
        source: None,
        related_id: None,
        created: 1000,
        record: Digest::ZERO,
        tag,
    }
}

struct Both {
    dir: tempfile::TempDir,
    sqlite: Arc<SqliteStore>,
    file: FileMemory,
}

fn open() -> Both {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(SqliteStore::open(&dir.path().join("store.sqlite")).unwrap());
    let file = FileMemory::open(&dir.path().join("memory"), sqlite.clone()).unwrap();
    Both { dir, sqlite, file }
}

impl Both {
    fn again(self) -> Self {
        let Self { dir, sqlite, file } = self;
        drop(file);
        let file = FileMemory::open(&dir.path().join("memory"), sqlite.clone()).unwrap();
        Self { dir, sqlite, file }
    }

    fn write(&self, who: &str, content: &str, tag: Option<TaintTag>) -> Written {
        self.file.keep(memory(who, content, tag)).unwrap()
    }

    fn find(&self, who: &str, words: &str) -> Vec<MemoryRow> {
        self.file.find(&user(who), "notes", words, 100).unwrap()
    }

    fn log(&self) -> std::path::PathBuf {
        self.dir.path().join("memory/memory.jsonl")
    }
}

fn contents(rows: &[MemoryRow]) -> Vec<&str> {
    rows.iter().map(|it| it.content.as_str()).collect()
}

#[test]
fn a_row_comes_back_with_everything_it_had_also_after_a_restart() {
    let both = open();
    let new = NewMemory {
        source: Some("a letter \u{202e}\n\"\0".to_owned()),
        related_id: model::ipc::Uuid::parse("123e4567-e89b-12d3-a456-426614174000"),
        kind: MemoryKind::Relationship,
        ..memory("alice", PORTAL, Some(page()))
    };
    let written = both.file.keep(new.clone()).unwrap();
    assert_eq!((&written.tag, written.is_duplicate), (&Some(page()), false));
    let row = both.file.read_row(&user("alice"), written.id).unwrap();
    let both = both.again();
    assert_eq!(both.file.read_row(&user("alice"), written.id).unwrap(), row);
    assert_eq!((row.scope, row.kind, row.content), (new.scope, new.kind, new.content));
    assert_eq!((row.source, row.related_id, row.tag), (new.source, new.related_id, Some(page())));
    let mode = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(&both.log()), mode(both.log().parent().unwrap())), (0o600, 0o700));
}

#[test]
fn both_providers_find_the_same_in_the_same_scopes() {
    let both = open();
    let scopes = ["notes", "notes/a", "notes/a/b", "notesbook", "Notes", "notes-a"];
    let texts =
        [PORTAL, "Zoë mag Käse und Brot", "他喜歡喝綠茶", "foo-bar_baz v1.2.3", "\"quoted\""];
    for scope in scopes {
        for text in texts {
            let new = NewMemory { scope: scope.to_owned(), ..memory("alice", text, None) };
            both.file.keep(new.clone()).unwrap();
            both.sqlite.keep(new).unwrap();
        }
    }
    both.write("bob", PORTAL, None);
    for scope in ["notes", "notes/", "notes/a", "notes/a/b", "note", "notesbook", "elsewhere"] {
        for words in [
            "",
            " \t",
            "invoice",
            "INVO",
            "pay.example",
            "kase",
            "zoë brot",
            "綠茶",
            "茶綠",
            "foo-bar",
            "\"quoted\"",
            "portal käse",
            "nothing",
            "\"",
            "*",
            "a AND",
            "NEAR(",
            "content:x",
            "x\0y",
            "'; DROP TABLE memory",
            "OR",
            "👍",
        ] {
            let ask = |rows: Vec<MemoryRow>| {
                rows.into_iter().map(|it| (it.scope, it.content)).collect::<Vec<_>>()
            };
            let file = ask(both.file.find(&user("alice"), scope, words, 7).unwrap());
            let sqlite = ask(both.sqlite.find(&user("alice"), scope, words, 7).unwrap());
            assert_eq!(file, sqlite, "{scope} {words:?}");
        }
    }
    assert_eq!(contents(&both.find("bob", "portal")), [PORTAL]);
}

#[test]
fn a_row_of_another_user_is_not_found() {
    let both = open();
    let id = both.write("bob", PORTAL, Some(page())).id;
    let alice = user("alice");
    assert_eq!(both.file.read_row(&alice, id).unwrap_err(), MemoryError::NotFound { id });
    assert_eq!(both.file.delete_row(&alice, id).unwrap_err(), MemoryError::NotFound { id });
    assert_eq!(both.find("alice", "portal"), []);
    assert_eq!(both.write("alice", PORTAL, None).tag, None);
}

#[test]
fn nothing_launders_duplicates_deletion_restarts_and_later_labels() {
    for (first, second) in [(PORTAL, PORTAL), (PORTAL, SHOUTED), (SHOUTED, PORTAL)] {
        for tags in [[Some(page()), None], [None, Some(page())]] {
            let both = open();
            let [one, other] = tags;
            let id = both.write("alice", first, one).id;
            let written = both.write("alice", second, other);
            assert_eq!(
                (written.is_duplicate, written.id == id),
                (first == second, first == second)
            );
            for row in both.find("alice", "") {
                assert_eq!(row.tag, Some(page()));
            }
            for row in both.find("alice", "") {
                both.file.delete_row(&user("alice"), row.id).unwrap();
            }
            assert_eq!(both.find("alice", "portal"), []);
            let both = both.again();
            assert_eq!(both.write("alice", SHOUTED, None).tag, Some(page()));
        }
    }
    // What the host learns of content later counts for rows that are there.
    let both = open();
    let id = both.write("alice", PORTAL, None).id;
    let digests = Fingerprint::of(SHOUTED.as_bytes()).digests();
    both.sqlite.remember_label(&digests, &page()).unwrap();
    assert_eq!(both.file.read_row(&user("alice"), id).unwrap().tag, Some(page()));
}

#[test]
fn a_person_clears_a_row_its_equals_and_what_comes_back() {
    let both = open();
    let id = both.write("alice", PORTAL, Some(page())).id;
    both.write("alice", SHOUTED, None);
    both.write("bob", PORTAL, Some(page()));
    let word = Word { by: user("alice"), at: 5000, reason: "my own portal".to_owned() };
    let silent = Word { reason: " ".to_owned(), ..word.clone() };
    let refused = both.file.clear_on(id, &silent, String::new());
    assert_eq!(refused, Err(ClearError::Reason { bytes: 1 }));
    assert_eq!(both.file.clear_on(id, &word, String::new()).unwrap().taint, page().taint);
    let both = both.again();
    assert!(both.find("alice", "").iter().all(|it| it.tag.is_none()));
    assert_eq!(both.find("bob", "").pop().unwrap().tag, Some(page()));
    assert_eq!(both.file.tainted(10).len(), 1);
    let seen = look_at_tainted(&both.dir.path().join("memory"), 10).unwrap();
    assert_eq!(contents(&seen), [PORTAL]);
    assert_eq!(both.write("alice", PORTAL, Some(page())).tag, Some(page()));
}

#[test]
fn what_the_host_knew_of_it_in_general_is_cleared_as_well_and_noted() {
    let both = open();
    let id = both.write("alice", PORTAL, None).id;
    let digests = Fingerprint::of(PORTAL.as_bytes()).digests();
    both.sqlite.remember_label(&digests, &page()).unwrap();
    let dir = both.dir.path().join("memory");
    let seen = || look_at(&dir, &*both.sqlite, id).unwrap().unwrap().tag;
    assert_eq!(seen(), Some(page()));
    let word = Word { by: user("alice"), at: 5000, reason: "my own portal".to_owned() };
    let cleared = both.file.clear_on(id, &word, "ab".to_owned()).unwrap();
    assert_eq!(cleared.taint, page().taint);
    assert_eq!(seen(), None);
    assert_eq!(both.file.read_row(&user("alice"), id).unwrap().tag, None);
    assert_eq!(both.sqlite.label_of(&digests).unwrap(), None);
    // As it is with rows in the database: on whose word is found where people look for it.
    assert_eq!(both.sqlite.clearings(Some(&Subject::Memory(id)), 10).unwrap(), [cleared]);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test that damages a file need not do so atomically"
)]
fn a_log_cut_at_any_byte_is_the_state_before_or_after_and_any_other_change_is_damage() {
    let both = open();
    both.write("alice", "one", None);
    let before = fs::read(both.log()).unwrap();
    both.write("alice", "two", Some(page()));
    let after = fs::read(both.log()).unwrap();
    let Both { dir, sqlite, file } = both;
    drop(file);
    let (path, home) = (dir.path().join("memory/memory.jsonl"), dir.path().join("memory"));
    for cut in before.len()..=after.len() {
        fs::write(&path, &after[..cut]).unwrap();
        let file = FileMemory::open(&home, sqlite.clone()).unwrap();
        let rows = file.find(&user("alice"), "notes", "", 10).unwrap();
        let whole = cut == after.len();
        assert_eq!(rows.len(), if whole { 2 } else { 1 }, "{cut}");
        assert_eq!(rows[0].tag, whole.then(page), "never a row without its label");
        // What comes next is written behind the last whole line.
        file.keep(memory("alice", "three", None)).unwrap();
        drop(file);
        FileMemory::open(&home, sqlite.clone()).unwrap();
    }
    let text = String::from_utf8(after.clone()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let damaged = [
        text.replace("\"two\"", "\"six\""),
        [lines[0], lines[2]].concat(),
        [lines[0], lines[2], lines[1]].concat(),
        [lines[0], lines[1], lines[1]].concat(),
        [lines[0], "{}\n", lines[1]].concat(),
        lines[1..].concat(),
        text.replace("\"version\":1", "\"version\":2"),
        text.replace("\"taint\":", "\"taint\": "),
    ];
    for damage in damaged {
        fs::write(&path, &damage).unwrap();
        let error = FileMemory::open(&home, sqlite.clone()).err().unwrap();
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}: {damage}");
        assert_eq!(fs::read_to_string(&path).unwrap(), damage, "nothing was changed");
    }
}

#[test]
fn one_process_at_a_time_and_nothing_planted_is_followed() {
    let both = open();
    let home = both.dir.path().join("memory");
    let error = FileMemory::open(&home, both.sqlite.clone()).err().unwrap();
    assert!(error.to_string().contains("another process"), "{error}");
    let Both { dir, sqlite, file } = both;
    drop(file);
    let elsewhere = dir.path().join("elsewhere");
    for name in ["memory.jsonl", "memory.lock"] {
        fs::remove_file(home.join(name)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, home.join(name)).unwrap();
        assert!(FileMemory::open(&home, sqlite.clone()).is_err(), "{name}");
        fs::remove_file(home.join(name)).unwrap();
        FileMemory::open(&home, sqlite.clone()).unwrap();
    }
    assert!(!elsewhere.exists());
}

#[test]
fn a_long_log_is_written_anew_and_says_the_same() {
    let Both { dir, sqlite, file } = open();
    drop(file);
    let fast = Durability::DangerouslyUnsynced;
    let file = FileMemory::open_with(&dir.path().join("memory"), sqlite.clone(), fast).unwrap();
    let both = Both { dir, sqlite, file };
    let id = both.write("alice", "kept", Some(page())).id;
    for _ in 0..6000 {
        let gone = both.write("bob", "x", None).id;
        both.file.delete_row(&user("bob"), gone).unwrap();
    }
    let long = fs::metadata(both.log()).unwrap().len();
    let both = both.again();
    assert!(fs::metadata(both.log()).unwrap().len() < long / 100);
    assert_eq!(both.file.read_row(&user("alice"), id).unwrap().tag, Some(page()));
    assert_eq!(both.find("bob", ""), []);
    assert_eq!(both.again().find("alice", "kept").len(), 1);
}
