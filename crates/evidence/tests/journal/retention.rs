//! Retention deletes whole sealed segments and the rest still verifies.

use std::sync::atomic::{AtomicBool, Ordering};

use evidence::{Against, Config, Filter, Journal, Reader, RetentionRule, Tree};
use serde_json::json;

use crate::common::{
    TestClock, assert_sound, blob_path, config, copy_tree, damages, fill, kinds, numbered, open,
    overwrite, record, segment,
};

#[test]
fn old_segments_go_and_everything_that_is_left_still_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let clock = TestClock::at(1_000_000);
    let config = Config { clock: clock.clone(), ..config(dir.path()) };
    let (journal, _) = Journal::open(&config).unwrap();
    let long = "x".repeat(10_000);
    journal.append(record("s", json!({ "blob": long, "n": 0 }))).unwrap();
    for number in 1..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    clock.advance(1000);
    for number in 900..1800 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    journal.checkpoint().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    let before = reader.segments().unwrap();

    let outcome = evidence::retire(&journal, RetentionRule { before: 1_000_500 }).unwrap();
    journal.close().unwrap();
    assert_eq!(kinds(dir.path()).last().unwrap(), "journal_retired");
    assert!(!outcome.segments.is_empty() && outcome.blobs == 1);
    assert_eq!(reader.segments().unwrap(), before[outcome.segments.len()..]);
    let gone: u64 = outcome.segments.iter().map(|it| it.count).sum();
    assert!(gone > 300 && gone < 900, "{gone}");
    assert_sound(dir.path());
    assert_eq!(evidence::count(&reader, &Filter::default()).unwrap(), 1801 - gone);
    // What was signed before can still be proved.
    let tree = Tree::open(&reader).unwrap();
    assert_eq!(tree.size(), 1801);
    tree.inclusion(3, 1800).unwrap();
    tree.consistency(5, 1800).unwrap();

    let (journal, recovery) = Journal::open(&config).unwrap();
    assert!(recovery.clean);
    assert_eq!(journal.append(numbered(1)).unwrap().idx(), 1801);
    let nothing = evidence::retire(&journal, RetentionRule { before: 0 }).unwrap();
    assert!(nothing.segments.is_empty());
    journal.close().unwrap();
    assert_sound(dir.path());

    // A forged head is found.
    let path = dir.path().join("retired.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let last = outcome.segments.last().unwrap();
    overwrite(&path, text.replace(&last.head, &"0".repeat(64)).as_bytes());
    assert!(!damages(dir.path(), &Against::default()).is_empty());
}

#[test]
fn a_damaged_segment_is_evidence_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let clock = TestClock::at(1_000_000);
    let (journal, _) = Journal::open(&Config { clock, ..config(dir.path()) }).unwrap();
    for number in 0..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    journal.checkpoint().unwrap();
    drop(Tree::open(&Reader::open(dir.path()).unwrap()).unwrap());
    let path = segment(dir.path(), 0);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = memchr::memmem::find(&bytes, b"xxxx").unwrap();
    bytes[at] = b'y';
    overwrite(&path, &bytes);
    assert!(evidence::retire(&journal, RetentionRule { before: i64::MAX }).is_err());
    assert!(path.exists());
}

#[test]
fn what_no_signature_covers_stays() {
    let dir = tempfile::tempdir().unwrap();
    let clock = TestClock::at(1_000_000);
    let (journal, _) = Journal::open(&Config { clock, ..config(dir.path()) }).unwrap();
    for number in 0..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    let rule = RetentionRule { before: i64::MAX };
    assert!(evidence::retire(&journal, rule).unwrap().segments.is_empty());
    journal.checkpoint().unwrap();
    assert!(!evidence::retire(&journal, rule).unwrap().segments.is_empty());
}

#[test]
fn a_crash_between_keeping_a_head_and_deleting_its_segment_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let (live, dead) = (dir.path().join("live"), dir.path().join("dead"));
    let journal = fill(&live, 900);
    journal.checkpoint().unwrap();
    copy_tree(&live, &dead);
    let rule = RetentionRule { before: i64::MAX };
    let retired = evidence::retire(&journal, rule).unwrap().segments;
    drop(journal);
    // The heads of two are kept, and the line of the third is torn, but nothing was deleted yet.
    let heads = std::fs::read_to_string(live.join("retired.jsonl")).unwrap();
    let torn: String =
        heads.split_inclusive('\n').take(2).chain([r#"{"segment":2,"fir"#]).collect();
    overwrite(&dead.join("retired.jsonl"), torn.as_bytes());
    assert_sound(&dead);

    let (journal, _) = Journal::open(&config(&dead)).unwrap();
    let again = evidence::retire(&journal, rule).unwrap().segments;
    assert!(retired.len() > 1 && again.starts_with(&retired));
    journal.close().unwrap();
    assert_sound(&dead);
    let text = std::fs::read_to_string(dead.join("retired.jsonl")).unwrap();
    assert_eq!(text.lines().count(), again.len(), "no head is kept twice");
    drop(Journal::open(&config(&dead)).unwrap());
}

#[test]
fn blobs_that_a_crash_left_behind_go_with_the_next_segment() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 900);
    journal.checkpoint().unwrap();
    let orphan = blob_path(dir.path(), b"named by nobody");
    std::fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    overwrite(&orphan, b"named by nobody");
    evidence::retire(&journal, RetentionRule { before: i64::MAX }).unwrap();
    assert!(!orphan.exists());
}

#[test]
fn a_blob_that_is_named_again_meanwhile_is_not_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 10);
    let shared = || record("s", json!("y".repeat(10_000)));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (journal, done) = (&journal, &done);
        scope.spawn(move || {
            while !done.load(Ordering::SeqCst) {
                journal.append(shared()).unwrap();
            }
        });
        for _ in 0..5 {
            for number in 0..300 {
                let filler = json!({ "n": number, "t": "x".repeat(3500) });
                journal.append(record("s", filler)).unwrap();
            }
            journal.checkpoint().unwrap();
            evidence::retire(journal, RetentionRule { before: i64::MAX }).unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
    journal.close().unwrap();
    assert_sound(dir.path());
}

#[test]
fn a_deletion_that_nobody_recorded_is_found_even_with_true_heads() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for number in 0..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    journal.close().unwrap();
    assert_sound(dir.path());
    let path = segment(dir.path(), 0);
    let bytes = std::fs::read(&path).unwrap();
    let seal = bytes.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap();
    let seal: serde_json::Value = serde_json::from_slice(seal).unwrap();
    let retired = json!({
        "segment": 0, "first": 0, "count": seal["count"], "head": seal["head"], "root": seal["root"],
    });
    overwrite(&dir.path().join("retired.jsonl"), format!("{retired}\n").as_bytes());
    std::fs::remove_file(&path).unwrap();
    let found = damages(dir.path(), &Against::default());
    assert!(found.len() == 1 && found[0].contains("without a record of it"), "{found:?}");
}
