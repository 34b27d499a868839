//! Readers, verifiers and retention while the journal is written: no false alarms, nothing twice.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use evidence::{Against, Config, Filter, Journal, ReadError, Reader, RetentionRule, Tree};
use serde_json::json;

use crate::common::{assert_sound, config, fill, record};

/// Runs `work` while a journal grows through many segments with a checkpoint every few records,
/// and with `retain` loses its oldest ones.
fn while_written(retain: bool, work: impl Fn(&Reader)) {
    let dir = tempfile::tempdir().unwrap();
    let config = Config { checkpoint_records: 3, ..config(dir.path()) };
    let (journal, _) = Journal::open(&config).unwrap();
    journal.append(record("s", json!("x".repeat(6000)))).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (journal, done) = (&journal, &done);
        scope.spawn(move || {
            for round in 0..12 {
                for number in 0..100 {
                    let content = json!({ "n": number, "t": "x".repeat(4000) });
                    journal.append(record("s", content)).unwrap();
                    let blob = json!(format!("{round}-{number}-{}", "y".repeat(5000)));
                    if number % 10 == 0 {
                        journal.append(record("s", blob)).unwrap();
                    }
                }
                if retain {
                    evidence::retire(journal, RetentionRule { before: i64::MAX }).unwrap();
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        let reader = Reader::open(dir.path()).unwrap();
        while !done.load(Ordering::SeqCst) {
            work(&reader);
        }
    });
    journal.close().unwrap();
    assert_sound(dir.path());
}

#[test]
fn verification_gives_no_false_alarm_while_segments_come() {
    while_written(false, |reader| {
        let verified = evidence::verify(reader, &Against::default()).unwrap();
        assert_eq!(verified.damages, []);
    });
}

#[test]
fn verification_gives_no_false_alarm_while_segments_go() {
    while_written(true, |reader| {
        let verified = evidence::verify(reader, &Against::default()).unwrap();
        assert_eq!(verified.damages, []);
    });
}

#[test]
fn search_and_tree_follow_while_segments_come_and_go() {
    while_written(true, |reader| {
        let mut last = None;
        let mut see = |row: evidence::Row| {
            assert!(last.is_none_or(|last| last < row.idx));
            last = Some(row.idx);
            true
        };
        evidence::query(reader, &Filter::default(), &mut see).unwrap();
        let newest = Filter { limit: Some(50), ..Filter::default() };
        evidence::query(reader, &newest, &mut |_| true).unwrap();
        match Tree::open(reader) {
            Ok(_) => {}
            // Retention deleted the segment that was just being read.
            Err(evidence::TreeError::Read(ReadError::Gone { .. })) => {}
            Err(error) => panic!("{error}"),
        }
        let see = |_: evidence::Entry<'_>| ControlFlow::<()>::Continue(());
        match reader.read(reader.start().unwrap(), see) {
            Ok(_) | Err(ReadError::Gone { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    });
}

#[test]
fn two_who_bring_the_tree_up_to_date_at_once_add_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 900);
    let kept = journal.checkpoint().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    for _ in 0..5 {
        let _ = std::fs::remove_dir_all(dir.path().join("tree"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let tree = Tree::open(&reader).unwrap();
                    assert_eq!(tree.size(), 900);
                    assert_eq!(tree.root(900).unwrap(), reader.signed_root(&kept).unwrap());
                });
            }
        });
    }
}

#[test]
fn two_retentions_at_once_delete_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 1500);
    journal.checkpoint().unwrap();
    let retired: usize = std::thread::scope(|scope| {
        let journal = &journal;
        let retire = move || {
            evidence::retire(journal, RetentionRule { before: i64::MAX }).unwrap().segments.len()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(retire)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    journal.close().unwrap();
    let heads = std::fs::read_to_string(dir.path().join("retired.jsonl")).unwrap();
    assert_eq!(heads.lines().count(), retired);
    assert_sound(dir.path());
}
