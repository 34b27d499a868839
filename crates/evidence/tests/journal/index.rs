//! Queries: what they find, and that the index is never more than a shortcut.

use aegx::{Principal, RecordType};
use evidence::{Filter, Index, NewRecord, Reader};
use model::{AgentId, Kind, SessionId, Taint};
use serde_json::json;

use crate::common::{TestClock, config, numbered, open, overwrite, record};

fn found(index: &Index, filter: &Filter) -> Vec<u64> {
    let mut found = Vec::new();
    index
        .query(filter, &mut |row| {
            found.push(row.idx);
            true
        })
        .unwrap();
    assert_eq!(index.count(filter).unwrap(), found.len() as u64);
    found
}

#[test]
fn every_field_can_be_asked_for_alone_and_together() {
    let dir = tempfile::tempdir().unwrap();
    let clock = TestClock::at(1_000_000);
    let config = evidence::Config { clock: clock.clone(), ..config(dir.path()) };
    let (journal, _) = evidence::Journal::open(&config).unwrap();
    let first = journal.append(record("s-1", json!(0))).unwrap().id();
    clock.advance(10);
    let second = NewRecord {
        record_type: RecordType::ToolResult,
        principal: Principal::Web,
        kind: Kind::parse("page").unwrap(),
        taint: Taint::UNTRUSTED.union(Taint::WEB_DERIVED),
        parents: vec![first],
        agent: Some(AgentId::parse("other").unwrap()),
        ..record("s-2", json!(1))
    };
    let second = journal.append(second).unwrap().id();
    clock.advance(10);
    journal.append(NewRecord { taint: Taint::UNTRUSTED, ..record("s-1", json!(2)) }).unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    let index = Index::open(&reader, &mut |_| ()).unwrap();
    let none = Filter::default;
    let session = |it: &str| Some(SessionId::parse(it).unwrap());
    let cases = [
        (none(), vec![0, 1, 2]),
        (Filter { session: session("s-1"), ..none() }, vec![0, 2]),
        (Filter { session: session("s-3"), ..none() }, vec![]),
        (Filter { agent: Some(AgentId::parse("other").unwrap()), ..none() }, vec![1]),
        (Filter { record_type: Some(RecordType::ToolResult), ..none() }, vec![1]),
        (Filter { kind: Some(Kind::parse("page").unwrap()), ..none() }, vec![1]),
        (Filter { since: Some(1_000_010), ..none() }, vec![1, 2]),
        (Filter { until: Some(1_000_010), ..none() }, vec![0]),
        (Filter { taint: Some(Taint::UNTRUSTED), ..none() }, vec![1, 2]),
        (Filter { taint: Some(Taint::UNTRUSTED.union(Taint::WEB_DERIVED)), ..none() }, vec![1]),
        (Filter { id: Some(second), ..none() }, vec![1]),
        (Filter { parent: Some(first), ..none() }, vec![1]),
        (Filter { limit: Some(2), ..none() }, vec![1, 2]),
        (Filter { session: session("s-1"), taint: Some(Taint::UNTRUSTED), ..none() }, vec![2]),
    ];
    for (filter, expected) in cases {
        assert_eq!(found(&index, &filter), expected, "{filter:?}");
    }
}

#[test]
fn it_follows_the_journal_and_can_be_lost_at_any_time() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    journal.append(numbered(0)).unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    let mut index = Index::open(&reader, &mut |_| ()).unwrap();
    journal.append(numbered(1)).unwrap();
    assert_eq!(found(&index, &Filter::default()), [0]);
    index.catch_up(&mut |_| ()).unwrap();
    assert_eq!(found(&index, &Filter::default()), [0, 1]);
    drop(index);
    for damage in [&b"not a database"[..], b""] {
        overwrite(&dir.path().join("index.sqlite"), damage);
        let index = Index::open(&reader, &mut |_| ()).unwrap();
        assert_eq!(found(&index, &Filter::default()), [0, 1]);
        drop(index);
    }
    let index = Index::rebuild(&reader, &mut |_| ()).unwrap();
    assert_eq!(found(&index, &Filter::default()), [0, 1]);
}

#[test]
fn an_index_of_another_journal_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    for (path, count) in [(&one, 3), (&two, 1)] {
        let journal = open(path);
        for number in 0..count {
            journal.append(numbered(number)).unwrap();
        }
        journal.close().unwrap();
    }
    drop(Index::open(&Reader::open(&one).unwrap(), &mut |_| ()).unwrap());
    std::fs::copy(one.join("index.sqlite"), two.join("index.sqlite")).unwrap();
    let index = Index::open(&Reader::open(&two).unwrap(), &mut |_| ()).unwrap();
    assert_eq!(found(&index, &Filter::default()), [0]);
}

#[test]
fn several_processes_may_bring_it_up_to_date_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for number in 0..2000 {
        journal.append(numbered(number)).unwrap();
    }
    journal.close().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let index = Index::open(&reader, &mut |_| ()).unwrap();
                assert_eq!(index.count(&Filter::default()).unwrap(), 2000);
            });
        }
    });
}
