//! Tasks and notes without permits: labels, users apart, limits; in both places where memory is kept.

use std::sync::Arc;

use evidence::Durability;
use model::{Source, Taint};

use super::*;
use crate::{FileMemory, SqliteStore};

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn agent() -> AgentId {
    AgentId::parse("main").unwrap()
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

fn new(who: &str, scope: String, content: &str, tag: Option<TaintTag>) -> NewMemory {
    NewMemory {
        user: user(who),
        agent: agent(),
        scope,
        kind: MemoryKind::Context,
        content: content.to_owned(),
        source: None,
        related_id: None,
        created: 1000,
        record: Digest::ZERO,
        tag,
    }
}

/// Does `check` with memory in SQLite and in a file.
fn both(check: impl Fn(&dyn Rows)) {
    let dir = tempfile::tempdir().unwrap();
    let unsynced = Durability::DangerouslyUnsynced;
    let store = SqliteStore::open_with(&dir.path().join("store.sqlite"), unsynced).unwrap();
    check(&store);
    let beside = Arc::new(store);
    check(&FileMemory::open_with(&dir.path().join("memory"), beside, unsynced).unwrap());
}

fn texts(rows: &dyn Rows, who: &str, scope: &str) -> Vec<String> {
    let found = rows.find(&user(who), scope, "", 1000).unwrap();
    found.into_iter().map(|it| it.content).collect()
}

fn done(who: &str) -> NewMemory {
    new(who, closed(&agent(), TaskEnd::Done), "", None)
}

#[test]
fn a_task_keeps_its_label_until_and_after_it_is_closed_and_nobody_else_closes_it() {
    both(|rows| {
        let here = open(&agent());
        let clean = add(rows, new("ann", here.clone(), "water the plants", None)).unwrap();
        let tainted = add(rows, new("ann", here.clone(), "pay the bill", Some(page()))).unwrap();
        assert_eq!((clean.tag, tainted.tag), (None, Some(page())));
        assert_eq!(texts(rows, "ann", &here), ["pay the bill", "water the plants"]);
        assert_eq!(texts(rows, "eve", &here), [""; 0]);
        // Neither somebody else's, nor a row of memory, nor that of another agent is a task of hers.
        let elsewhere = rows.keep(new("ann", "notes".to_owned(), "a fact", None)).unwrap();
        for (who, id, place) in [
            ("eve", tainted.id, here.as_str()),
            ("ann", elsewhere.id, here.as_str()),
            ("ann", tainted.id, ".tasks/another/open"),
        ] {
            let error = close(rows, done(who), id, place, TaskEnd::Done).unwrap_err();
            assert_eq!(error, NoteError::NoTask { id });
        }
        let told = close(rows, done("ann"), tainted.id, &here, TaskEnd::Done).unwrap();
        assert_eq!((told.text.as_str(), &told.tag), ("pay the bill", &Some(page())));
        assert_eq!(texts(rows, "ann", &here), ["water the plants"]);
        let kept = rows.find(&user("ann"), &closed(&agent(), TaskEnd::Done), "", 9).unwrap();
        let shown: Vec<TaskRow> =
            kept.into_iter().map(|it| task(it, Some(TaskEnd::Done))).collect();
        assert_eq!(shown, [told], "with its name and its tag");
        assert!(close(rows, done("ann"), tainted.id, &here, TaskEnd::Done).is_err(), "once");
        // The same words from a session that knows nothing of the page are as tainted as they were.
        let again = add(rows, new("ann", here.clone(), "Pay  the bill", None)).unwrap();
        assert_eq!(again.tag, Some(page()));
    });
}

#[test]
fn a_note_is_replaced_and_belongs_to_its_session() {
    both(|rows| {
        let all = of_session(&SessionId::parse("s1").unwrap());
        let at = |name: &str| format!("{all}/{name}");
        let put =
            |name: &str, content: &str, tag| write(rows, new("ann", at(name), content, tag), &all);
        put("plan", "first", None).unwrap();
        put("plan", "second", Some(page())).unwrap();
        put("other", "second", None).unwrap();
        assert_eq!(texts(rows, "ann", &at("plan")), ["second"]);
        let found = rows.find(&user("ann"), &all, "", 9).unwrap();
        let names: Vec<String> = found.iter().cloned().map(|it| note(it).name).collect();
        assert_eq!(names, ["other", "plan"]);
        // Equal content has its worst label, under any name.
        assert!(found.iter().all(|it| it.tag == Some(page())), "{found:?}");
        put("plan", "second", None).unwrap();
        assert_eq!(texts(rows, "ann", &at("plan")), ["second"], "what is written again stays");
        assert_eq!(texts(rows, "eve", &all), [""; 0]);
        let other = of_session(&SessionId::parse("s2").unwrap());
        assert_eq!(texts(rows, "ann", &other), [""; 0]);
        for number in 2..NOTES_MAX {
            rows.keep(new("ann", at(&format!("n{number}")), "x", None)).unwrap();
        }
        assert_eq!(put("more", "x", None), Err(NoteError::TooManyNotes));
        assert!(put("plan", "third", None).is_ok(), "one that is there may be replaced");
    });
}

#[test]
fn as_much_is_kept_as_may_be() {
    both(|rows| {
        let here = open(&agent());
        assert_eq!(add(rows, new("ann", here.clone(), " \n", None)), Err(NoteError::Empty));
        let first = add(rows, new("ann", here.clone(), "first", None)).unwrap();
        for number in 1..TASKS_OPEN_MAX {
            rows.keep(new("ann", here.clone(), &format!("task {number}"), None)).unwrap();
        }
        for number in 0..TASKS_CLOSED_MAX {
            rows.keep(NewMemory { content: format!("old {number}"), ..done("ann") }).unwrap();
        }
        let more = || add(rows, new("ann", here.clone(), "one more", None));
        assert_eq!(more(), Err(NoteError::TooManyTasks));
        close(rows, done("ann"), first.id, &here, TaskEnd::Done).unwrap();
        assert!(more().is_ok());
        let kept = texts(rows, "ann", &closed(&agent(), TaskEnd::Done));
        assert_eq!(kept.len(), TASKS_CLOSED_MAX, "the oldest is forgotten");
        assert!(kept[0] == "first" && !kept.contains(&"old 0".to_owned()), "{kept:?}");
    });
}

#[test]
fn notes_go_with_their_session_and_never_fill_the_memory_of_a_user() {
    both(|rows| {
        let session = |n: usize| SessionId::parse(&format!("s{n}")).unwrap();
        let put = |n: usize, name: usize| {
            let all = of_session(&session(n));
            let content = format!("{n} {name}");
            write(rows, new("ann", format!("{all}/n{name}"), &content, None), &all).unwrap();
        };
        rows.keep(new("ann", "work".to_owned(), "stays", None)).unwrap();
        for n in 0..4 {
            (0..80).for_each(|name| put(n, name));
        }
        // There is room for three: the oldest gave way, whole, and nothing else did.
        let left = |n: usize| texts(rows, "ann", &of_session(&session(n))).len();
        assert_eq!([left(0), left(1), left(2), left(3)], [0, 80, 80, 80]);
        assert_eq!(take_away(rows, &user("bob"), &of_session(&session(1))).unwrap(), 0);
        assert_eq!(take_away(rows, &user("ann"), &of_session(&session(1))).unwrap(), 80);
        assert_eq!((left(1), left(2)), (0, 80));
        assert_eq!(texts(rows, "ann", "work"), ["stays"]);
    });
}

#[test]
fn all_of_a_user_is_handed_out_page_by_page_and_forgotten_and_labels_stay() {
    both(|rows| {
        add(rows, new("ann", open(&agent()), "a task", Some(page()))).unwrap();
        rows.keep(new("ann", "work".to_owned(), "a fact", None)).unwrap();
        rows.keep(new("bob", "work".to_owned(), "his", None)).unwrap();
        let first = rows.page(&user("ann"), 0, 1).unwrap();
        assert_eq!((first.len(), first[0].1.content.as_str()), (1, "a task"));
        let next = rows.page(&user("ann"), first[0].0, 10).unwrap();
        assert_eq!((next.len(), next[0].1.content.as_str()), (1, "a fact"));
        assert_eq!(rows.delete_all(&user("ann")).unwrap(), 2);
        assert!(rows.page(&user("ann"), 0, 10).unwrap().is_empty());
        assert_eq!(texts(rows, "bob", "work"), ["his"]);
        let again = rows.keep(new("ann", "work".to_owned(), "a task", None)).unwrap();
        assert_eq!(again.tag, Some(page()));
    });
}
