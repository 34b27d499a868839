//! Retention deletes whole sealed segments and the rest still verifies.

use evidence::{Against, Config, Filter, Index, Journal, Reader, RetentionRule, Tree};
use serde_json::json;

use crate::common::{
    TestClock, assert_sound, config, damages, numbered, overwrite, record, segment,
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
    journal.close().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    let before = reader.segments().unwrap();

    let outcome = evidence::retire(&reader, RetentionRule { before: 1_000_500 }).unwrap();
    assert!(!outcome.segments.is_empty() && outcome.blobs == 1);
    assert_eq!(reader.segments().unwrap(), before[outcome.segments.len()..]);
    let gone: u64 = outcome.segments.iter().map(|it| it.count).sum();
    assert!(gone > 300 && gone < 900, "{gone}");
    assert_sound(dir.path());
    let index = Index::open(&reader, &mut |_| ()).unwrap();
    assert_eq!(index.count(&Filter::default()).unwrap(), 1800 - gone);
    // What was signed before can still be proved.
    let tree = Tree::open(&reader).unwrap();
    assert_eq!(tree.size(), 1800);
    tree.inclusion(3, 1800).unwrap();
    tree.consistency(5, 1800).unwrap();

    let (journal, recovery) = Journal::open(&config).unwrap();
    assert!(recovery.clean);
    assert_eq!(journal.append(numbered(1)).unwrap().idx(), 1800);
    journal.close().unwrap();
    assert_sound(dir.path());
    assert!(evidence::retire(&reader, RetentionRule { before: 0 }).unwrap().segments.is_empty());

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
    journal.close().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    drop(Tree::open(&reader).unwrap());
    let path = segment(dir.path(), 0);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = memchr::memmem::find(&bytes, b"xxxx").unwrap();
    bytes[at] = b'y';
    overwrite(&path, &bytes);
    assert!(evidence::retire(&reader, RetentionRule { before: i64::MAX }).is_err());
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
    let reader = Reader::open(dir.path()).unwrap();
    let rule = RetentionRule { before: i64::MAX };
    assert!(evidence::retire(&reader, rule).unwrap().segments.is_empty());
    journal.checkpoint().unwrap();
    assert!(!evidence::retire(&reader, rule).unwrap().segments.is_empty());
}
