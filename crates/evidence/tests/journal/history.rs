//! What a pinned key finds: a history that was altered, cut, reordered or written anew.

use std::path::Path;

use aegx::note::VerifierKey;
use evidence::Against;

use crate::common::{copy_tree, damages, numbered, open, overwrite, record, segment};

fn pinned(dir: &Path) -> Against {
    let key = std::fs::read_to_string(dir.join("checkpoint.pub")).unwrap();
    Against { key: Some(VerifierKey::parse(key.trim_end()).unwrap()), checkpoint: None }
}

fn journal_of(dir: &Path, numbers: impl Iterator<Item = u64>) {
    let journal = open(dir);
    for number in numbers {
        journal.append(numbered(number)).unwrap();
    }
    journal.close().unwrap();
}

#[test]
fn an_untouched_history_verifies_with_the_pinned_key() {
    let dir = tempfile::tempdir().unwrap();
    journal_of(dir.path(), 0..20);
    journal_of(dir.path(), 20..30);
    assert_eq!(damages(dir.path(), &pinned(dir.path())), Vec::<String>::new());
}

/// Builds the honest journal, and what an attacker makes of it who can write every file but has
/// not the key.
fn attack(forge: impl Fn(&Path)) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let (honest, forged) = (dir.path().join("honest"), dir.path().join("forged"));
    journal_of(&honest, 0..20);
    forge(&forged);
    let against = pinned(&honest);
    // The attacker keeps what the owner signed, as far as it helps.
    for name in ["checkpoints.jsonl", "checkpoint.pub"] {
        std::fs::copy(honest.join(name), forged.join(name)).unwrap();
    }
    damages(&forged, &against)
}

#[test]
fn an_altered_history_is_found_even_if_every_hash_was_made_anew() {
    let found = attack(|dir| journal_of(dir, (0..20).map(|it| if it == 7 { 700 } else { it })));
    assert!(!found.is_empty());
}

#[test]
fn a_dropped_record_is_found() {
    let found = attack(|dir| journal_of(dir, (0..20).filter(|it| *it != 7)));
    assert!(!found.is_empty());
}

#[test]
fn a_dropped_tail_is_found() {
    let found = attack(|dir| journal_of(dir, 0..15));
    assert!(found.iter().any(|it| it.contains("20 records were signed")), "{found:?}");
}

#[test]
fn reordered_records_are_found() {
    let order = |it| match it {
        7 => 8,
        8 => 7,
        it => it,
    };
    assert!(!attack(|dir| journal_of(dir, (0..20).map(order))).is_empty());
}

#[test]
fn a_history_signed_anew_from_scratch_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (honest, forged) = (dir.path().join("honest"), dir.path().join("forged"));
    journal_of(&honest, 0..20);
    journal_of(&forged, 0..20);
    // In itself it is flawless; only the key tells.
    assert_eq!(damages(&forged, &Against::default()), Vec::<String>::new());
    let found = damages(&forged, &pinned(&honest));
    assert!(found.iter().any(|it| it.contains("pinned key")), "{found:?}");
}

#[test]
fn removing_all_checkpoints_does_not_help() {
    let dir = tempfile::tempdir().unwrap();
    journal_of(dir.path(), 0..20);
    let against = pinned(dir.path());
    std::fs::remove_file(dir.path().join("checkpoints.jsonl")).unwrap();
    assert_eq!(damages(dir.path(), &against), Vec::<String>::new(), "the note has the last one");
    std::fs::remove_file(dir.path().join("clean.json")).unwrap();
    let found = damages(dir.path(), &against);
    assert!(found.iter().any(|it| it.contains("no checkpoint by the pinned key")), "{found:?}");
}

#[test]
fn a_history_rolled_back_to_an_older_checkpoint_is_found_by_one_kept_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let (live, old) = (dir.path().join("live"), dir.path().join("old"));
    journal_of(&live, 0..10);
    copy_tree(&live, &old);
    let journal = open(&live);
    journal.append(numbered(10)).unwrap();
    let kept = journal.checkpoint().unwrap();
    journal.close().unwrap();
    assert_eq!(damages(&old, &pinned(&live)), Vec::<String>::new(), "nothing inside can tell");
    let against = Against { checkpoint: Some(kept.note), ..pinned(&live) };
    assert_eq!(damages(&live, &against), Vec::<String>::new());
    let found = damages(&old, &against);
    assert!(found.iter().any(|it| it.contains("11 records were signed, 10 are left")), "{found:?}");
}

#[test]
fn a_forged_header_of_a_later_segment_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for number in 0..900 {
        journal
            .append(record("s", serde_json::json!({ "n": number, "t": "x".repeat(3000) })))
            .unwrap();
    }
    journal.close().unwrap();
    let path = segment(dir.path(), 1);
    let bytes = std::fs::read(&path).unwrap();
    let end = memchr::memchr(b'\n', &bytes).unwrap();
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let peaks = header.find("\"peaks\":[\"").unwrap() + 10;
    let mut forged = bytes.clone();
    forged[peaks] = if forged[peaks] == b'0' { b'1' } else { b'0' };
    overwrite(&path, &forged);
    assert!(!damages(dir.path(), &Against::default()).is_empty());
}
