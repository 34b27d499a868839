//! Records of those who pass: as durable and as evident as others, and no quicker way to go on from a wrong place.

use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use evidence::{Against, Journal, OpenError, PassingError, Reader, Verified, append_passing};
use serde_json::{Value, json};

use crate::common::{
    TestClock, assert_sound, config, damages, lines, numbered, numbers, open, overwrite, record,
    segment,
};

/// Changes a note.
type Change = fn(&mut Value);

fn pass(dir: &Path, number: u64) {
    append_passing(&config(dir), numbered(number)).unwrap();
}

/// A journal that was begun, closed, and then passed by.
fn passed(dir: &Path, count: u64) {
    for number in 0..count {
        pass(dir, number);
    }
}

fn verified(dir: &Path) -> Verified {
    evidence::verify(&Reader::open(dir).unwrap(), &Against::default()).unwrap()
}

fn note(dir: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join("clean.json")).unwrap()).unwrap()
}

fn set_note(dir: &Path, change: impl FnOnce(&mut Value)) {
    let mut note = note(dir);
    change(&mut note);
    overwrite(&dir.join("clean.json"), note.to_string().as_bytes());
}

#[test]
fn they_are_chained_signed_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 20);
    assert_eq!(numbers(dir.path()), (0..20).collect::<Vec<_>>());
    let seqs: Vec<u64> =
        lines(dir.path()).iter().map(|it| it["meta"]["seq"].as_u64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
    let found = verified(dir.path());
    assert_eq!((found.damages.len(), found.signed_size), (0, 20));
    // Whoever opens it finds it in order, and nothing that was signed is lost.
    let (journal, recovery) = Journal::open(&config(dir.path())).unwrap();
    assert!(recovery.clean && recovery.cut.is_none());
    drop(journal);
    std::fs::remove_file(dir.path().join("clean.json")).unwrap();
    assert_eq!(verified(dir.path()).signed_size, 20);
}

#[test]
fn segments_are_sealed_and_begun_by_those_who_pass() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..700 {
        let content = json!({ "n": number, "t": "x".repeat(3000) });
        append_passing(&config(dir.path()), record("s", content)).unwrap();
    }
    assert!(segment(dir.path(), 1).exists(), "one segment holds it all");
    assert_eq!(numbers(dir.path()).len(), 700);
    assert_sound(dir.path());
}

#[test]
fn long_content_lies_beside_the_record() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 2);
    let content = json!({ "t": "y".repeat(20_000) });
    append_passing(&config(dir.path()), record("s", content)).unwrap();
    assert_eq!(verified(dir.path()).blobs, 1);
    assert_sound(dir.path());
}

#[test]
fn nobody_passes_a_journal_that_is_open() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 2);
    let journal = open(dir.path());
    let refused = append_passing(&config(dir.path()), numbered(9)).unwrap_err();
    assert!(matches!(refused, PassingError::Open(OpenError::Locked { .. })), "{refused}");
    journal.append(numbered(2)).unwrap();
    journal.close().unwrap();
    pass(dir.path(), 3);
    assert_eq!(numbers(dir.path()), [0, 1, 2, 3]);
}

#[test]
fn many_pass_at_once() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let dir = dir.path();
            scope.spawn(move || {
                let mut left = 25;
                while left > 0 {
                    match append_passing(&config(dir), numbered(thread)) {
                        Ok(_) => left -= 1,
                        Err(PassingError::Open(OpenError::Locked { .. })) => {
                            std::thread::yield_now();
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(numbers(dir.path()).len(), 100);
    assert_sound(dir.path());
}

#[test]
fn a_note_that_a_crash_left_behind_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 3);
    let old = std::fs::read(dir.path().join("clean.json")).unwrap();
    pass(dir.path(), 3);
    overwrite(&dir.path().join("clean.json"), &old);
    assert_sound(dir.path());
    pass(dir.path(), 4);
    assert_eq!(numbers(dir.path()), [0, 1, 2, 3, 4]);
    assert_sound(dir.path());

    // Half of an entry behind the note of one who passed.
    pass(dir.path(), 5);
    let end = usize::try_from(note(dir.path())["end"].as_u64().unwrap()).unwrap();
    let mut bytes = std::fs::read(segment(dir.path(), 0)).unwrap();
    bytes[end..end + 12].copy_from_slice(b"{\"batch\":6}\n");
    bytes[end + 12..end + 25].copy_from_slice(b"{\"recordId\":\"");
    overwrite(&segment(dir.path(), 0), &bytes);
    let (journal, recovery) = Journal::open(&config(dir.path())).unwrap();
    assert!(!recovery.clean && recovery.cut.is_some());
    drop(journal);
    assert_eq!(numbers(dir.path()), [0, 1, 2, 3, 4, 5]);
}

/// Half of one note and half of the next parse, but what they say was never signed.
#[test]
fn a_note_that_is_being_written_over_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    // Five and six records are trees of two peaks: the notes are equally long.
    passed(dir.path(), 5);
    let path = dir.path().join("clean.json");
    let old = std::fs::read(&path).unwrap();
    pass(dir.path(), 5);
    let new = std::fs::read(&path).unwrap();
    assert_eq!((old.len(), verified(dir.path()).signed_size), (new.len(), 6));
    let place = memchr::memmem::rfind(&new, b"lazaret-").unwrap();
    let mixed = [&new[..place], &old[place..]].concat();
    assert!(serde_json::from_slice::<Value>(&mixed).is_ok());

    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.lock().unwrap();
    file.write_all_at(&mixed, 0).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            file.write_all_at(&new, 0).unwrap();
            file.unlock().unwrap();
        });
        let found = verified(dir.path());
        assert_eq!((found.damages.len(), found.signed_size), (0, 6), "{:?}", found.damages);
    });
}

#[test]
fn who_passes_does_not_wait_for_one_who_reads_the_note() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 3);
    let reading = std::fs::File::open(dir.path().join("clean.json")).unwrap();
    reading.lock_shared().unwrap();
    let before = std::io::read_to_string(&reading).unwrap();
    pass(dir.path(), 3);
    assert_eq!(verified(dir.path()).signed_size, 4);
    let mut after = String::new();
    (&reading).seek(SeekFrom::Start(0)).unwrap();
    (&reading).read_to_string(&mut after).unwrap();
    assert_eq!(after, before, "it stays what it was for the one who reads it");
}

#[test]
fn what_is_missing_before_the_note_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 5);
    let mut bytes = std::fs::read(segment(dir.path(), 0)).unwrap();
    let last = memchr::memmem::rfind(&bytes, b"{\"batch\":").unwrap();
    bytes[last..].fill(0);
    overwrite(&segment(dir.path(), 0), &bytes);
    let refused = append_passing(&config(dir.path()), numbered(9)).unwrap_err();
    assert!(matches!(refused, PassingError::Open(OpenError::Damaged(_))), "{refused}");
    assert!(!damages(dir.path(), &Against::default()).is_empty());
}

#[test]
fn a_note_that_was_changed_leads_nobody_on() {
    let changes: [(&str, Change); 8] = [
        ("head", |it| it["head"] = json!("0".repeat(64))),
        ("size", |it| it["size"] = json!(4)),
        ("segment", |it| it["segment"] = json!(u64::MAX)),
        ("end", |it| it["end"] = json!(u64::MAX)),
        ("peaks", |it| it["standing"]["peaks"][0] = json!("1".repeat(64))),
        ("no peaks", |it| it["standing"]["peaks"] = json!([])),
        ("seq", |it| it["standing"]["seq"] = json!(u64::MAX)),
        ("first", |it| it["standing"]["first"] = json!(u64::MAX)),
    ];
    for (what, change) in changes {
        let dir = tempfile::tempdir().unwrap();
        passed(dir.path(), 5);
        set_note(dir.path(), change);
        let before = std::fs::read(segment(dir.path(), 0)).unwrap();
        match append_passing(&config(dir.path()), numbered(5)) {
            // What was noted wrongly was found out by reading.
            Ok(_) => {
                assert_eq!(numbers(dir.path()), [0, 1, 2, 3, 4, 5], "{what}");
                assert_sound(dir.path());
            }
            Err(_) => {
                assert_eq!(std::fs::read(segment(dir.path(), 0)).unwrap(), before, "{what}");
            }
        }
    }
}

#[test]
fn the_list_of_checkpoints_keeps_its_pace() {
    let dir = tempfile::tempdir().unwrap();
    let clock = TestClock::at(1_800_000_000);
    let config = evidence::Config { clock: clock.clone(), ..config(dir.path()) };
    for number in 0..10 {
        append_passing(&config, numbered(number)).unwrap();
    }
    let listed = || {
        let text = std::fs::read_to_string(dir.path().join("checkpoints.jsonl")).unwrap();
        text.lines().count()
    };
    assert_eq!(listed(), 1, "the first one opened and closed it");
    clock.advance(61);
    append_passing(&config, numbered(10)).unwrap();
    append_passing(&config, numbered(11)).unwrap();
    assert_eq!(listed(), 2);
    assert_eq!(verified(dir.path()).signed_size, 12);
}

#[test]
fn a_list_that_says_more_than_the_note_leads_nobody_on() {
    let dir = tempfile::tempdir().unwrap();
    let clock = TestClock::at(1_800_000_000);
    let config = evidence::Config { clock: clock.clone(), ..config(dir.path()) };
    append_passing(&config, numbered(0)).unwrap();
    append_passing(&config, numbered(1)).unwrap();
    let places = [segment(dir.path(), 0), dir.path().join("clean.json")];
    let old = places.each_ref().map(|it| std::fs::read(it).unwrap());
    clock.advance(61);
    append_passing(&config, numbered(2)).unwrap();
    // Segment and note are put back to what they were; the list still knows of three records.
    for (place, bytes) in places.iter().zip(&old) {
        overwrite(place, bytes);
    }
    let refused = append_passing(&config, numbered(3)).unwrap_err();
    assert!(matches!(refused, PassingError::Open(OpenError::Damaged(_))), "{refused}");
}

#[test]
fn a_list_that_ends_in_half_a_line_is_mended_in_passing() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 3);
    let list = dir.path().join("checkpoints.jsonl");
    let torn = [std::fs::read(&list).unwrap(), b"{\"size\":3,".to_vec()].concat();
    overwrite(&list, &torn);
    passed(dir.path(), 2);
    let lines = std::fs::read_to_string(&list).unwrap();
    assert!(lines.lines().all(|it| serde_json::from_str::<Value>(it).is_ok()), "{lines}");
    let found = verified(dir.path());
    assert_eq!((found.damages.len(), found.signed_size), (0, 5));
}

#[test]
fn the_room_of_a_segment_has_the_same_bounds_for_those_who_pass() {
    let dir = tempfile::tempdir().unwrap();
    passed(dir.path(), 2);
    let config = evidence::Config { segment_bytes: 1, ..config(dir.path()) };
    let refused = append_passing(&config, numbered(2)).unwrap_err();
    assert!(matches!(refused, PassingError::Open(OpenError::SegmentBytes(1))), "{refused}");
}
