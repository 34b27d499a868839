//! Things planted in the state directory by somebody who means harm.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use evidence::{Against, Filter, Journal, Reader, RetentionRule, Target, Tree};
use serde_json::json;

use crate::common::{
    assert_sound, blob_path, config, damages, fill, numbered, open, overwrite, record, segment,
};

const VICTIM: &[u8] = b"precious";

/// A journal that was closed, and a file of somebody else.
pub(crate) fn prepared() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (home, victim) = (dir.path().join("home"), dir.path().join("victim"));
    let journal = open(&home);
    journal.append(numbered(1)).unwrap();
    journal.close().unwrap();
    overwrite(&victim, VICTIM);
    (dir, home, victim)
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    for name in [
        "journal.lock",
        "clean.json",
        "checkpoints.jsonl",
        "checkpoint.key",
        "checkpoint.pub",
        "retired.jsonl",
        "segments/000000000000.seg",
    ] {
        let (_dir, home, victim) = prepared();
        let _ = std::fs::remove_file(home.join(name));
        symlink(&victim, home.join(name)).unwrap();
        assert!(Journal::open(&config(&home)).is_err(), "{name}");
        assert_eq!(std::fs::read(&victim).unwrap(), VICTIM, "{name}");
    }
}

#[test]
fn a_link_where_a_file_is_made_is_replaced() {
    let (_dir, home, victim) = prepared();
    let names = ["clean.new", "checkpoint.new", "segments/000000000001.new", "blobs/.new-0"];
    for name in names {
        symlink(&victim, home.join(name)).unwrap();
    }
    let blob = blob_path(&home, b"a blob");
    std::fs::create_dir_all(blob.parent().unwrap()).unwrap();
    symlink(&victim, &blob).unwrap();
    std::fs::remove_file(home.join("checkpoint.pub")).unwrap();

    let journal = fill(&home, 500);
    let bytes = b"a blob".to_vec();
    let content = evidence::Content::Bytes { mime: "text/plain".to_owned(), bytes };
    journal.append(evidence::NewRecord { content, ..numbered(2) }).unwrap();
    journal.close().unwrap();
    assert!(segment(&home, 1).exists());
    assert_eq!(std::fs::read(&victim).unwrap(), VICTIM);
    assert_sound(&home);
}

#[test]
fn a_link_in_the_place_of_a_directory_is_refused() {
    for name in ["segments", "blobs", "tree"] {
        let (dir, home, _) = prepared();
        let elsewhere = dir.path().join("elsewhere");
        let _ = std::fs::create_dir(home.join(name));
        std::fs::rename(home.join(name), &elsewhere).unwrap();
        symlink(&elsewhere, home.join(name)).unwrap();
        if name == "tree" {
            assert!(Tree::open(&Reader::open(&home).unwrap()).is_err());
        } else {
            assert!(Journal::open(&config(&home)).is_err(), "{name}");
        }
    }
}

#[test]
fn the_journal_itself_may_be_a_link_to_where_there_is_room() {
    let (dir, home, _) = prepared();
    let elsewhere = dir.path().join("elsewhere");
    std::fs::rename(&home, &elsewhere).unwrap();
    symlink(&elsewhere, &home).unwrap();
    open(&home).append(numbered(2)).unwrap();
    let reader = Reader::open(&home).unwrap();
    assert_eq!(evidence::count(&reader, &Filter::default()).unwrap(), 2);
    assert_sound(&home);
}

#[expect(clippy::disallowed_methods, reason = "std cannot make a pipe with a name")]
fn pipe(path: &Path) {
    let _ = std::fs::remove_file(path);
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn nobody_waits_for_the_other_end_of_a_planted_pipe() {
    for name in ["journal.lock", "clean.json", "checkpoints.jsonl", "segments/000000000000.seg"] {
        let (_dir, home, _) = prepared();
        pipe(&home.join(name));
        assert!(Journal::open(&config(&home)).is_err(), "{name}");
    }
    let (_dir, home, _) = prepared();
    pipe(&segment(&home, 0));
    assert!(!damages(&home, &Against::default()).is_empty());
}

/// Everything below `dir` that somebody else may look at.
fn open_to_others(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.metadata().unwrap().permissions().mode() & 0o077 != 0 {
            found.push(path.clone());
        }
        if path.is_dir() {
            found.extend(open_to_others(&path));
        }
    }
    found
}

#[test]
fn everything_is_for_the_owner_alone_even_where_the_directory_was_open() {
    let dir = tempfile::tempdir().unwrap();
    let (home, bundle) = (dir.path().join("home"), dir.path().join("bundle"));
    std::fs::create_dir(&home).unwrap();
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755)).unwrap();
    let journal = fill(&home, 700);
    journal.append(record("s", json!("x".repeat(10_000)))).unwrap();
    journal.checkpoint().unwrap();
    evidence::retire(&journal, RetentionRule { before: i64::MAX }).unwrap();
    let reader = Reader::open(&home).unwrap();
    let now = "2026-01-01T00:00:00Z";
    let target = Target::Directory(&bundle);
    evidence::export(&reader, &Filter::default(), target, now).unwrap();
    evidence::import(&journal, &bundle).unwrap();
    drop(journal);
    // A crash and a torn tail, for what is kept aside.
    std::fs::remove_file(home.join("clean.json")).unwrap();
    let last = reader.segments().unwrap().last().copied().unwrap();
    let mut bytes = std::fs::read(segment(&home, last)).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    bytes.truncate(end);
    bytes.extend_from_slice(b"{\"bat");
    overwrite(&segment(&home, last), &bytes);
    assert!(Journal::open(&config(&home)).unwrap().1.cut.is_some());

    let mode = home.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    assert_eq!(open_to_others(&home), Vec::<PathBuf>::new());
}
