//! A journal that was cut back to an older state: what still knows of the longer one says so.

use std::path::Path;

use evidence::{Against, Journal, Reader, Tree};
use serde_json::Value;

use crate::common::{config, copy_tree, damages, numbered, open, overwrite};

/// A journal of 8 records, closed, with its tree; and what it was when it had 5.
fn grown(dir: &Path, older: &Path) {
    let journal = open(dir);
    for number in 0..5 {
        journal.append(numbered(number)).unwrap();
    }
    journal.close().unwrap();
    copy_tree(dir, older);
    let journal = open(dir);
    for number in 5..8 {
        journal.append(numbered(number)).unwrap();
    }
    journal.close().unwrap();
    assert_eq!(Tree::open(&Reader::open(dir).unwrap()).unwrap().size(), 8);
    crate::common::assert_sound(dir);
}

/// Puts files back as they were.
fn cut_back(dir: &Path, older: &Path, names: &[&str]) {
    for name in names {
        std::fs::copy(older.join(name), dir.join(name)).unwrap();
    }
}

const SEGMENT: &str = "segments/000000000000.seg";

#[test]
fn the_note_of_the_last_end_still_knows() {
    let dir = tempfile::tempdir().unwrap();
    let (home, older) = (dir.path().join("home"), dir.path().join("older"));
    grown(&home, &older);
    cut_back(&home, &older, &[SEGMENT, "checkpoints.jsonl"]);
    std::fs::remove_dir_all(home.join("tree")).unwrap();
    // Without the checkpoint that stands in it, too.
    let path = home.join("clean.json");
    let mut note: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    note["standing"] = Value::Null;
    overwrite(&path, note.to_string().as_bytes());
    let found = damages(&home, &Against::default());
    assert_eq!(found, ["clean.json knows of 8 records, 5 are left"]);
    assert!(Journal::open(&config(&home)).is_err());
}

#[test]
fn the_tree_still_knows() {
    let dir = tempfile::tempdir().unwrap();
    let (home, older) = (dir.path().join("home"), dir.path().join("older"));
    grown(&home, &older);
    cut_back(&home, &older, &[SEGMENT, "checkpoints.jsonl", "clean.json"]);
    let found = damages(&home, &Against::default());
    assert!(
        found.len() == 1 && found[0].contains("`tree/` knows of 8 records, 5 are left"),
        "{found:?}"
    );
    let error = Journal::open(&config(&home)).err().unwrap().to_string();
    assert!(error.contains("`tree/` knows of 8 records"), "{error}");
}

#[test]
fn what_was_written_behind_an_orderly_end_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (home, older) = (dir.path().join("home"), dir.path().join("older"));
    grown(&home, &older);
    cut_back(&home, &older, &["clean.json"]);
    let found = damages(&home, &Against::default());
    assert_eq!(found, ["clean.json says that 5 records are all, 8 are there"]);
}
