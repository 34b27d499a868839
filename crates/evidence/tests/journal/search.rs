//! Queries: what they find, and that they ask nobody but the journal.

use aegx::{Principal, RecordType};
use evidence::{Filter, NewRecord, Reader, Target};
use model::{AgentId, Kind, SessionId, Taint};
use serde_json::json;

use crate::common::{TestClock, config, fill, numbered, open, overwrite, record, segment};

fn found(reader: &Reader, filter: &Filter) -> Vec<u64> {
    let mut found = Vec::new();
    evidence::query(reader, filter, &mut |row| {
        found.push(row.idx);
        true
    })
    .unwrap();
    assert_eq!(evidence::count(reader, filter).unwrap(), found.len() as u64);
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
        assert_eq!(found(&reader, &filter), expected, "{filter:?}");
    }
}

#[test]
fn it_follows_the_journal_across_segments() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 700);
    let reader = Reader::open(dir.path()).unwrap();
    assert!(reader.segments().unwrap().len() > 2);
    journal.append(record("late", json!(0))).unwrap();
    let limited = |limit| Filter { limit: Some(limit), ..Filter::default() };
    assert_eq!(found(&reader, &Filter::default()), (0..701).collect::<Vec<_>>());
    for limit in [0, 1, 300, 400, 700, 701, 5000] {
        let first = 701_u64.saturating_sub(limit);
        assert_eq!(found(&reader, &limited(limit)), (first..701).collect::<Vec<_>>());
    }
    let session = Some(SessionId::parse("late").unwrap());
    assert_eq!(found(&reader, &Filter { session, ..limited(5) }), [700]);
    let groups = evidence::groups(&reader).unwrap();
    assert_eq!((groups.records, groups.sessions, groups.tainted), (701, 2, 0));
    assert_eq!(groups.by_type.get("ToolCall"), Some(&701));
}

#[test]
fn nothing_beside_the_journal_has_a_say_in_what_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let journal = open(&home);
    for number in 0..3 {
        journal.append(numbered(number)).unwrap();
    }
    journal.close().unwrap();
    // What earlier versions kept for queries: with rows removed, an export was incomplete.
    overwrite(&home.join("index.sqlite"), b"not a database");
    let reader = Reader::open(&home).unwrap();
    assert_eq!(found(&reader, &Filter::default()), [0, 1, 2]);
    let out = dir.path().join("out");
    let (target, now) = (Target::Directory(&out), "2026-01-01T00:00:00Z");
    let exported = evidence::export(&reader, &Filter::default(), target, now).unwrap();
    assert_eq!(exported.records, 3);
    assert_eq!(std::fs::read(home.join("index.sqlite")).unwrap(), b"not a database");
}

#[test]
fn what_is_missing_or_changed_is_an_error_and_no_short_answer() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    fill(&home, 1000).close().unwrap();
    let reader = Reader::open(&home).unwrap();
    let last = reader.segments().unwrap().last().copied().unwrap();
    let out = dir.path().join("out");
    let export = || {
        let (target, now) = (Target::Directory(&out), "2026-01-01T00:00:00Z");
        evidence::export(&reader, &Filter::default(), target, now)
    };
    let aside = dir.path().join("aside.seg");
    for missing in [0, 1, last] {
        let place = segment(&home, missing);
        std::fs::rename(&place, &aside).unwrap();
        assert!(export().is_err() && !out.exists(), "segment {missing}");
        // Without a look at what was retired, the first or the last may be just not there.
        let short = evidence::count(&reader, &Filter::default());
        assert!(short.is_err() || missing != 1, "segment {missing}");
        std::fs::rename(&aside, &place).unwrap();
    }
    let place = segment(&home, 1);
    let mut bytes = std::fs::read(&place).unwrap();
    let at = memchr::memmem::find(&bytes, b"\"ToolCall\"").unwrap();
    bytes[at + 1..at + 9].copy_from_slice(b"Snapshot");
    overwrite(&place, &bytes);
    let session = Some(SessionId::parse("nobody").unwrap());
    for filter in [Filter::default(), Filter { session, ..Filter::default() }] {
        assert!(evidence::count(&reader, &filter).is_err());
    }
    assert!(export().is_err() && !out.exists());
}
