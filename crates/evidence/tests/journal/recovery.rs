//! Starts after crashes: a torn tail is cut and kept, any other damage stops the start.

use std::path::Path;

use evidence::{Against, Journal, OpenError};
use serde_json::json;

use crate::common::{
    assert_sound, config, copy_tree, damages, for_each_of, kinds, numbered, numbers, open,
    overwrite, record, segment, snapshot,
};

/// A journal as a crash would leave it: `count` records, one a batch, never closed.
fn crashed(dir: &Path, count: u64) {
    let live = dir.with_extension("live");
    let journal = open(&live);
    for number in 0..count {
        journal.append(numbered(number)).unwrap();
    }
    copy_tree(&live, dir);
    drop(journal);
    std::fs::remove_dir_all(&live).unwrap();
}

/// The used part of a segment.
fn used(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    bytes.truncate(end);
    bytes
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_back_to_the_last_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let origin = dir.path().join("origin");
    crashed(&origin, 5);
    let full = std::fs::read(segment(&origin, 0)).unwrap();
    let whole = used(&segment(&origin, 0));
    let last_batch = memchr::memmem::rfind(&whole, b"{\"batch\":").unwrap();
    let cuts: Vec<usize> = (last_batch..whole.len()).collect();
    for_each_of(&cuts, |cut| {
        let cut = *cut;
        let copy = dir.path().join(format!("cut-{cut}"));
        copy_tree(&origin, &copy);
        let mut torn = full.clone();
        torn[cut..whole.len()].fill(0);
        overwrite(&segment(&copy, 0), &torn);
        let (journal, recovery) = Journal::open(&config(&copy)).unwrap();
        // A batch line alone is whole.
        let between = cut == last_batch || whole[cut - 1] == b'\n' && cut < last_batch + 20;
        assert_eq!(recovery.cut.is_none(), between, "cut at {cut}");
        if let Some(cut) = recovery.cut {
            assert_eq!(std::fs::read(cut.aside).unwrap().len() as u64, cut.bytes);
        }
        journal.append(numbered(99)).unwrap();
        journal.close().unwrap();
        assert_eq!(numbers(&copy), [0, 1, 2, 3, 99], "cut at {cut}");
        assert_sound(&copy);
        std::fs::remove_dir_all(&copy).unwrap();
    });
}

#[test]
fn pages_of_the_last_batch_may_be_lost_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let origin = dir.path().join("origin");
    crashed(&origin, 4);
    let full = std::fs::read(segment(&origin, 0)).unwrap();
    let whole = used(&segment(&origin, 0));
    let last_batch = memchr::memmem::rfind(&whole, b"{\"batch\":").unwrap();
    for hole in (last_batch..whole.len() - 64).step_by(64) {
        let copy = dir.path().join(format!("hole-{hole}"));
        copy_tree(&origin, &copy);
        let mut torn = full.clone();
        torn[hole..hole + 64].fill(0);
        overwrite(&segment(&copy, 0), &torn);
        let (journal, _) = Journal::open(&config(&copy)).unwrap();
        journal.close().unwrap();
        assert_eq!(numbers(&copy), [0, 1, 2], "hole at {hole}");
        assert_sound(&copy);
    }
}

#[test]
fn that_a_tail_was_cut_is_itself_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let origin = dir.path().join("origin");
    crashed(&origin, 2);
    let mut bytes = std::fs::read(segment(&origin, 0)).unwrap();
    let end = used(&segment(&origin, 0)).len();
    bytes[end..end + 5].copy_from_slice(b"{\"bat");
    overwrite(&segment(&origin, 0), &bytes);
    drop(Journal::open(&config(&origin)).unwrap());
    assert_eq!(kinds(&origin), ["test", "test", "journal_tail_cut"]);
}

#[test]
fn damage_before_the_last_batch_stops_the_start_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let origin = dir.path().join("origin");
    crashed(&origin, 6);
    let full = std::fs::read(segment(&origin, 0)).unwrap();
    let whole = used(&segment(&origin, 0));
    let last_batch = memchr::memmem::rfind(&whole, b"{\"batch\":").unwrap();
    let places: Vec<usize> = (0..last_batch).step_by(41).collect();
    for_each_of(&places, |at| {
        let at = *at;
        let copy = dir.path().join(format!("flip-{at}"));
        copy_tree(&origin, &copy);
        let mut damaged = full.clone();
        damaged[at] ^= 1;
        overwrite(&segment(&copy, 0), &damaged);
        let before = snapshot(&copy.join("segments"));
        let error = Journal::open(&config(&copy)).err().unwrap();
        let stopped = matches!(error, OpenError::Damaged(_) | OpenError::Checkpoints(_));
        assert!(stopped, "flip at {at}: {error}");
        assert_eq!(snapshot(&copy.join("segments")), before, "flip at {at}");
        assert!(!copy.join("aside").exists());
        assert!(!damages(&copy, &Against::default()).is_empty(), "flip at {at}");
    });
}

#[test]
fn after_an_orderly_end_no_byte_may_differ() {
    let dir = tempfile::tempdir().unwrap();
    let origin = dir.path().join("origin");
    let journal = open(&origin);
    for number in 0..3 {
        journal.append(numbered(number)).unwrap();
    }
    journal.close().unwrap();
    let full = std::fs::read(segment(&origin, 0)).unwrap();
    let end = used(&segment(&origin, 0)).len();
    for at in (0..end + 40).step_by(29) {
        let copy = dir.path().join("copy");
        let _ = std::fs::remove_dir_all(&copy);
        copy_tree(&origin, &copy);
        let mut damaged = full.clone();
        damaged[at] ^= 2;
        overwrite(&segment(&copy, 0), &damaged);
        let error = Journal::open(&config(&copy)).err();
        let stopped = matches!(error, Some(OpenError::Damaged(_) | OpenError::Checkpoints(_)));
        assert!(stopped, "flip at {at}: {error:?}");
    }
}

#[test]
fn damage_in_an_older_segment_stops_a_start_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let (live, dead) = (dir.path().join("live"), dir.path().join("dead"));
    let journal = open(&live);
    for number in 0..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    copy_tree(&live, &dead);
    drop(journal);
    let mut bytes = std::fs::read(segment(&dead, 1)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    overwrite(&segment(&dead, 1), &bytes);
    let error = Journal::open(&config(&dead)).err().unwrap().to_string();
    assert!(error.contains("segment 000000000001"), "{error}");
}

#[test]
fn a_missing_segment_stops_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for number in 0..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    journal.close().unwrap();
    assert!(segment(dir.path(), 2).exists());
    for lost in [0, 1, 2] {
        let copy = dir.path().join(format!("lost-{lost}"));
        std::fs::create_dir(&copy).unwrap();
        copy_tree(&dir.path().join("segments"), &copy.join("segments"));
        std::fs::copy(dir.path().join("checkpoints.jsonl"), copy.join("checkpoints.jsonl"))
            .unwrap();
        std::fs::remove_file(segment(&copy, lost)).unwrap();
        let error = Journal::open(&config(&copy)).err();
        assert!(matches!(error, Some(OpenError::Damaged(_))), "{error:?}");
    }
}

#[test]
fn losing_all_segments_is_noticed_because_they_were_signed() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    journal.append(numbered(1)).unwrap();
    journal.close().unwrap();
    std::fs::remove_file(segment(dir.path(), 0)).unwrap();
    let error = Journal::open(&config(dir.path())).err().unwrap();
    assert!(matches!(error, OpenError::Damaged(_)), "{error}");
}

#[test]
fn a_crash_between_seal_and_next_segment_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let live = dir.path().join("live");
    let journal = open(&live);
    for number in 0..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    drop(journal);
    let dead = dir.path().join("dead");
    std::fs::create_dir_all(dead.join("segments")).unwrap();
    std::fs::copy(segment(&live, 0), segment(&dead, 0)).unwrap();
    let (journal, _) = Journal::open(&config(&dead)).unwrap();
    journal.append(numbered(5000)).unwrap();
    journal.close().unwrap();
    assert!(segment(&dead, 1).exists());
    assert_sound(&dead);
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let key = dir.path().join("checkpoint.key");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = Journal::open(&config(dir.path())).err().unwrap().to_string();
    assert!(error.contains("can be read by others"), "{error}");
}
