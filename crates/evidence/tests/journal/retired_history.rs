//! A checkpoint that was kept elsewhere holds for what was retired, too.

use std::path::{Path, PathBuf};

use aegx::note::VerifierKey;
use evidence::{Against, Reader, RetentionRule};
use serde_json::json;

use crate::common::{copy_tree, damages, fill, open, overwrite, record};

#[test]
fn what_was_signed_before_its_records_went_still_holds() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fill(dir.path(), 5);
    let kept = journal.checkpoint().unwrap().note;
    drop(journal);
    let journal = fill(dir.path(), 900);
    retire(&journal);
    journal.close().unwrap();
    let verified = evidence::verify(&reader(dir.path()), &against(dir.path(), &kept)).unwrap();
    assert!(verified.first > 5 && verified.damages.is_empty(), "{:?}", verified.damages);
    assert!(verified.checkpoints > 1 && verified.signed_size > verified.first);
}

#[test]
fn a_history_made_anew_behind_a_claimed_retention_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let Forged { home, kept, .. } = forged(dir.path());
    let found = damages(&home, &against(&home, &kept));
    let what = "the checkpoint given: the records are not those that were signed";
    assert_eq!(found, [what]);
    // Nothing else tells: the forged history is sound in itself.
    assert!(damages(&home, &Against { checkpoint: None, ..against(&home, &kept) }).is_empty());
}

#[test]
fn where_the_hashes_of_what_was_retired_are_lost_nothing_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let Forged { home, kept, .. } = forged(dir.path());
    std::fs::remove_dir_all(home.join("tree")).unwrap();
    let found = damages(&home, &against(&home, &kept));
    assert!(found.len() == 1 && found[0].contains("cannot be verified: `tree/`"), "{found:?}");
    let short = home.join("tree/level-0");
    std::fs::create_dir(home.join("tree")).unwrap();
    overwrite(&short, &[0; 3 * 32]);
    let found = damages(&home, &against(&home, &kept));
    assert!(found.len() == 1 && found[0].contains("cannot be verified: `tree/`"), "{found:?}");
}

#[test]
fn the_true_hashes_of_a_beginning_do_not_vouch_for_another_tree() {
    let dir = tempfile::tempdir().unwrap();
    let Forged { home, kept, true_leaves } = forged(dir.path());
    // The levels above stay those of the forged tree, so that its roots can be had from them.
    let level = home.join("tree/level-0");
    let mut leaves = std::fs::read(&level).unwrap();
    leaves[..true_leaves.len()].copy_from_slice(&true_leaves);
    overwrite(&level, &leaves);
    let found = damages(&home, &against(&home, &kept));
    assert!(found.len() == 1 && found[0].contains("does not go on from the hashes"), "{found:?}");
}

struct Forged {
    home: PathBuf,
    /// The checkpoint of the true history.
    kept: String,
    true_leaves: Vec<u8>,
}

/// Two histories under one name and one key: the true one was signed, the other claims to have
/// retired as many records and more.
fn forged(dir: &Path) -> Forged {
    let (truth, home) = (dir.join("true"), dir.join("forged"));
    open(&truth).close().unwrap();
    copy_tree(&truth, &home);
    let journal = open(&truth);
    for number in 0..5 {
        journal.append(record("s", json!({ "true": number }))).unwrap();
    }
    let kept = journal.checkpoint().unwrap().note;
    journal.close().unwrap();
    drop(evidence::Tree::open(&reader(&truth)).unwrap());
    let true_leaves = std::fs::read(truth.join("tree/level-0")).unwrap();

    let journal = fill(&home, 900);
    retire(&journal);
    journal.close().unwrap();
    Forged { home, kept, true_leaves }
}

fn retire(journal: &evidence::Journal) {
    journal.checkpoint().unwrap();
    let outcome = evidence::retire(journal, RetentionRule { before: i64::MAX }).unwrap();
    assert!(!outcome.segments.is_empty());
}

fn reader(home: &Path) -> Reader {
    Reader::open(home).unwrap()
}

fn against(home: &Path, kept: &str) -> Against {
    let key = std::fs::read_to_string(home.join("checkpoint.pub")).unwrap();
    let key = VerifierKey::parse(key.trim_end()).unwrap();
    Against { key: Some(key), checkpoint: Some(kept.to_owned()) }
}
