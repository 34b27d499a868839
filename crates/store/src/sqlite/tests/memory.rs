//! Memory: rows keep their taint, users do not see each other, queries are only words.

use aegx::Digest;
use model::Taint;
use model::ipc::{MemoryKind, Uuid};

use super::{contents, find, memory, open, page, tag, user, write};
use crate::content::Fingerprint;
use crate::memory::{MEMORY_ROWS_PER_USER_MAX, MemoryError, NewMemory, Rows as _};
use crate::oversight::{Oversight, Subject, Word};
use crate::sqlite::search;
use crate::{ClearError, SqliteStore};
use monitor::Labels;

const PORTAL: &str = "The invoice portal is https://pay.example";
const SHOUTED: &str = "the invoice   portal is HTTPS://PAY.EXAMPLE";

#[test]
fn a_row_comes_back_with_everything_it_had() {
    let (_dir, store) = open();
    let related = Uuid::parse("123e4567-e89b-12d3-a456-426614174000");
    let new = NewMemory {
        source: Some("a letter".to_owned()),
        related_id: related,
        kind: MemoryKind::Relationship,
        ..memory("alice", PORTAL, Some(page()))
    };
    let written = store.keep(new.clone()).unwrap();
    assert_eq!((&written.tag, written.is_duplicate), (&Some(page()), false));
    let row = store.read_row(&user("alice"), written.id).unwrap();
    assert_eq!((row.id, row.user, row.agent), (written.id, new.user, new.agent));
    assert_eq!((row.scope, row.kind, row.content), (new.scope, new.kind, new.content));
    assert_eq!((row.source, row.related_id, row.created), (new.source, related, 1000));
    assert_eq!((row.record, row.tag), (Digest::ZERO.to_string(), Some(page())));
}

#[test]
fn what_a_clean_session_writes_is_clean() {
    let (_dir, store) = open();
    let written = write(&store, "alice", "likes tea", None);
    assert_eq!(written.tag, None);
    assert_eq!(store.read_row(&user("alice"), written.id).unwrap().tag, None);
}

#[test]
fn a_row_of_another_user_is_not_found() {
    let (_dir, store) = open();
    let id = write(&store, "bob", PORTAL, Some(page())).id;
    let alice = user("alice");
    let not_found = MemoryError::NotFound { id };
    assert_eq!(store.read_row(&alice, id).unwrap_err(), not_found);
    assert_eq!(store.delete_row(&alice, id).unwrap_err(), not_found);
    // Not even by the word under which the index keeps it.
    for words in ["", "portal", &search::place("bob", "notes")] {
        assert_eq!(find(&store, "alice", words), [], "{words}");
    }
    assert_eq!(find(&store, "bob", "portal").len(), 1);
    // And what one user's pages said does not taint what another says.
    assert_eq!(write(&store, "alice", PORTAL, None).tag, None);
}

#[test]
fn a_duplicate_takes_the_worst_trust_of_both_in_either_order() {
    for (first, second) in [(PORTAL, PORTAL), (PORTAL, SHOUTED), (SHOUTED, PORTAL)] {
        for tainted_first in [true, false] {
            let (_dir, store) = open();
            let tags = if tainted_first { [Some(page()), None] } else { [None, Some(page())] };
            let [one, other] = tags;
            let first_written = write(&store, "alice", first, one);
            let written = write(&store, "alice", second, other);
            assert_eq!(written.is_duplicate, first == second);
            assert_eq!(written.id == first_written.id, first == second);
            assert_eq!(written.tag, Some(page()));
            let rows = find(&store, "alice", "");
            for row in &rows {
                assert_eq!(row.tag, Some(page()), "{}", row.content);
            }
            assert_eq!(store.tainted_memory(10).unwrap(), rows);
        }
    }
}

#[test]
fn a_duplicate_in_another_scope_or_of_another_kind_is_a_row_of_its_own() {
    let (_dir, store) = open();
    write(&store, "alice", PORTAL, Some(page()));
    let elsewhere = NewMemory { scope: "other".to_owned(), ..memory("alice", PORTAL, None) };
    let otherwise = NewMemory { kind: MemoryKind::Context, ..memory("alice", PORTAL, None) };
    for new in [elsewhere, otherwise] {
        let written = store.keep(new).unwrap();
        assert_eq!((written.is_duplicate, written.tag), (false, Some(page())));
    }
}

#[test]
fn deleting_does_not_launder_not_even_across_a_restart() {
    let (dir, store) = open();
    let id = write(&store, "alice", PORTAL, Some(page())).id;
    store.delete_row(&user("alice"), id).unwrap();
    assert_eq!(find(&store, "alice", ""), []);
    assert_eq!(find(&store, "alice", "portal"), []);
    drop(store);
    let store = SqliteStore::open(&dir.path().join("store.sqlite")).unwrap();
    assert_eq!(write(&store, "alice", SHOUTED, None).tag, Some(page()));
}

#[test]
fn what_is_made_of_tainted_rows_is_as_tainted_as_all_of_them() {
    let (_dir, store) = open();
    write(&store, "alice", "from a page", Some(page()));
    write(&store, "alice", "from a tool", Some(tag(Taint::TOOL_OUTPUT, 9)));
    write(&store, "alice", "from the user", None);
    let rows = find(&store, "alice", "");
    let all = store.keep_derived(memory("alice", "summary", None), &rows).unwrap();
    let taint = all.tag.unwrap().taint;
    assert_eq!(taint, page().taint.union(Taint::TOOL_OUTPUT));
    let clean: Vec<_> = rows.into_iter().filter(|it| it.tag.is_none()).collect();
    let clean = store.keep_derived(memory("alice", "other summary", None), &clean).unwrap();
    assert_eq!(clean.tag, None);
}

#[test]
fn a_label_that_becomes_known_later_is_seen_by_whoever_reads() {
    let (_dir, store) = open();
    let id = write(&store, "alice", PORTAL, None).id;
    let before = find(&store, "alice", "");
    let digests = Fingerprint::of(SHOUTED.as_bytes()).digests();
    store.remember_label(&digests, &page()).unwrap();
    assert_eq!(store.read_row(&user("alice"), id).unwrap().tag, Some(page()));
    let derived = store.keep_derived(memory("alice", "summary", None), &before).unwrap();
    assert_eq!(derived.tag, Some(page()));
}

#[test]
fn words_are_found_whole_or_by_their_beginning_in_any_script() {
    let (_dir, store) = open();
    for content in
        [PORTAL, "Zoë mag Käse und Brot", "他喜歡喝綠茶", "foo-bar_baz v1.2.3", "\"quoted\""]
    {
        write(&store, "alice", content, None);
    }
    for (words, expected) in [
        ("invoice", PORTAL),
        ("INVO", PORTAL),
        ("nothing such invoice", PORTAL),
        ("pay.example", PORTAL),
        ("kase", "Zoë mag Käse und Brot"),
        ("zoë", "Zoë mag Käse und Brot"),
        ("綠茶", "他喜歡喝綠茶"),
        ("foo-bar", "foo-bar_baz v1.2.3"),
        ("\"quoted\"", "\"quoted\""),
    ] {
        assert_eq!(contents(&find(&store, "alice", words)), [expected], "{words}");
    }
    assert_eq!(contents(&find(&store, "alice", "茶綠")), Vec::<&str>::new());
}

#[test]
fn nothing_in_a_query_is_syntax() {
    let (_dir, store) = open();
    write(&store, "alice", PORTAL, None);
    for words in [
        "\"",
        "'",
        "*",
        "(",
        ")",
        "\"\" OR \"",
        "invoice NEAR(",
        "content : x",
        "place:",
        "^",
        "NOT",
        "AND",
        "OR",
        "a AND",
        "-",
        "{place}",
        "{",
        "+",
        "x\0y",
        ";DROP TABLE memory",
        "\u{0}",
        "\u{fffd}",
        "zzz\") OR (place : \"",
        "👍",
        ":",
        "col:\"x",
    ] {
        let found = store.find(&user("alice"), "notes", words, 10).unwrap();
        assert!(found.len() <= usize::from(words.contains("invoice")), "{words:?}");
    }
    let many = "x ".repeat(5000) + "invoice";
    assert_eq!(find(&store, "alice", &many), [], "only the first words are looked for");
    assert_eq!(find(&store, "alice", " \t\n").len(), 1, "no words: everything");
}

#[test]
fn results_are_limited_and_the_newest_come_first() {
    let (_dir, store) = open();
    for number in 0..10 {
        write(&store, "alice", &format!("note {number}"), None);
    }
    for words in ["", "note"] {
        let rows = store.find(&user("alice"), "notes", words, 3).unwrap();
        assert_eq!(contents(&rows), ["note 9", "note 8", "note 7"], "{words}");
    }
    assert_eq!(store.find(&user("alice"), "other", "", 3).unwrap(), []);
}

#[test]
fn a_full_memory_takes_nothing_new_and_can_be_emptied() {
    let (_dir, store) = open();
    let id = write(&store, "alice", "first", None).id;
    store
        .change(0, |db| {
            Ok(db.execute("UPDATE memory_counts SET count = ?1", [MEMORY_ROWS_PER_USER_MAX])?)
        })
        .unwrap();
    assert_eq!(store.keep(memory("alice", "second", None)), Err(MemoryError::Full));
    assert!(write(&store, "alice", "first", Some(page())).is_duplicate);
    write(&store, "bob", "second", None);
    store.delete_row(&user("alice"), id).unwrap();
    write(&store, "alice", "second", None);
}

#[test]
fn a_person_clears_a_row_its_equals_and_what_comes_back() {
    let (_dir, store) = open();
    let id = write(&store, "alice", PORTAL, Some(page())).id;
    write(&store, "alice", SHOUTED, None);
    write(&store, "bob", PORTAL, Some(page()));
    let word = Word { by: user("alice"), at: 5000, reason: "my own portal".to_owned() };
    let silent = Word { reason: " ".to_owned(), ..word.clone() };
    let subject = Subject::Memory(id);
    let refused = store.clear_on(&subject, &silent, String::new());
    assert_eq!(refused, Err(ClearError::Reason { bytes: 1 }));
    let cleared = store.clear_on(&subject, &word, "cd".repeat(32)).unwrap();
    assert_eq!(cleared.taint, page().taint);
    for row in find(&store, "alice", "") {
        assert_eq!(row.tag, None);
    }
    assert_eq!(find(&store, "bob", "").pop().unwrap().tag, Some(page()));
    store.delete_row(&user("alice"), id).unwrap();
    assert_eq!(write(&store, "alice", PORTAL, None).tag, None);
    assert_eq!(store.clearings(Some(&subject), 10).unwrap(), std::slice::from_ref(&cleared));
    assert_eq!(store.clearings(None, 10).unwrap(), [cleared]);
    // Nothing that comes in later is cleared in advance.
    assert_eq!(write(&store, "alice", PORTAL, Some(page())).tag, Some(page()));
    let gone = store.clear_on(&subject, &word, String::new());
    assert_eq!(gone, Err(ClearError::NotFound { subject }));
}

#[test]
fn the_operator_sees_tainted_rows_of_everybody() {
    let (_dir, store) = open();
    let id = write(&store, "alice", "one", Some(page())).id;
    write(&store, "alice", "two", None);
    write(&store, "bob", "three", Some(page()));
    assert_eq!(contents(&store.tainted_memory(10).unwrap()), ["three", "one"]);
    assert_eq!(store.memory_row(id).unwrap().unwrap().content, "one");
}

#[test]
fn a_scope_has_what_lies_beneath_it_and_nothing_beside_it() {
    let (dir, store) = open();
    let scopes = ["work", "work/invoices", "work/invoices/2026", "workshop", "work-old", "Work/x"];
    for scope in scopes {
        let new =
            NewMemory { scope: scope.to_owned(), ..memory("alice", &format!("tea {scope}"), None) };
        store.keep(new).unwrap();
    }
    let check = |store: &SqliteStore| {
        for words in ["", "tea"] {
            let found = |scope| {
                let rows = store.find(&user("alice"), scope, words, 10).unwrap();
                rows.into_iter().map(|it| it.scope).collect::<Vec<_>>()
            };
            assert_eq!(found("work"), ["work/invoices/2026", "work/invoices", "work"]);
            assert_eq!(found("work/"), ["work/invoices/2026", "work/invoices", "work"]);
            assert_eq!(found("work/invoices"), ["work/invoices/2026", "work/invoices"]);
            assert_eq!(found("workshop"), ["workshop"]);
            assert_eq!(found("wor"), [] as [&str; 0]);
        }
    };
    check(&store);
    drop(store);
    // As an earlier version left it, which indexed a row under its own scope alone.
    let path = dir.path().join("store.sqlite");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "INSERT INTO memory_words (memory_words) VALUES ('delete-all');
         ALTER TABLE approvals DROP COLUMN hindered; DROP TABLE standing; DROP TABLE identity;
         DROP TABLE tried; DROP TABLE talks; DROP TABLE prompts;
         CREATE INDEX memory_place ON memory (user, scope, n); PRAGMA user_version = 2",
    )
    .unwrap();
    drop(db);
    check(&SqliteStore::open(&path).unwrap());
}

#[test]
fn what_is_forgotten_is_in_no_file_of_the_store_any_more() {
    let (dir, store) = open();
    for n in 0..40 {
        write(&store, "ann", &format!("about zebrafinch number {n}"), None);
    }
    write(&store, "bob", "about owls", None);
    let holds = || {
        let files = std::fs::read_dir(dir.path()).unwrap();
        let mut texts = files.map(|it| std::fs::read(it.unwrap().path()).unwrap());
        texts.any(|it| String::from_utf8_lossy(&it).contains("zebrafinch"))
    };
    assert_eq!(store.delete_all(&user("ann")).unwrap(), 40);
    assert!(holds());
    // Somebody who reads sees it still, and the store goes on beside them.
    let reader = rusqlite::Connection::open(dir.path().join("store.sqlite")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM memory").unwrap();
    assert!(!store.wipe().unwrap());
    reader.execute_batch("COMMIT").unwrap();
    assert!(store.wipe().unwrap() && !holds());
    assert_eq!(contents(&find(&store, "bob", "owls")), ["about owls"]);
}
