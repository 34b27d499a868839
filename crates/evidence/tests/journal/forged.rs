//! Files of the state directory with contents that somebody made up.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use evidence::{Against, Filter, Journal, Reader, RecordError, Target, Tree};
use serde_json::json;

use crate::common::{
    assert_sound, blob_path, config, copy_tree, damages, fill, lines, numbered, numbers, open,
    overwrite, record, segment,
};
use crate::hostile::prepared;

#[test]
fn numbers_at_the_end_of_their_type_are_damage_and_no_panic() {
    let max = u64::MAX.to_string();
    let origin = tempfile::tempdir().unwrap();
    let journal = fill(origin.path(), 500);
    journal.close().unwrap();
    for (file, from, to) in [
        ("segments/000000000000.seg", "\"segment\":0".to_owned(), format!("\"segment\":{max}")),
        ("segments/000000000001.seg", "\"segment\":1".to_owned(), format!("\"segment\":{max}")),
        ("segments/000000000000.seg", "\"first\":0".to_owned(), format!("\"first\":{max}")),
        ("segments/000000000000.seg", "\"count\":".to_owned(), "\"count\":1844674407370955".into()),
    ] {
        let dir = tempfile::tempdir().unwrap();
        copy_tree(origin.path(), dir.path());
        let path = dir.path().join(file);
        let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        assert!(text.contains(&from), "{from}");
        overwrite(&path, text.replacen(&from, &to, 1).as_bytes());
        attacked(dir.path());
    }
    let dir = tempfile::tempdir().unwrap();
    copy_tree(origin.path(), dir.path());
    let head = "0".repeat(64);
    let line = format!(
        "{{\"segment\":{max},\"first\":{max},\"count\":{max},\"head\":\"{head}\",\"root\":\"{head}\"}}\n"
    );
    overwrite(&dir.path().join("retired.jsonl"), line.as_bytes());
    assert!(Journal::open(&config(dir.path())).is_err());
    assert!(!damages(dir.path(), &Against::default()).is_empty());
}

/// A start refuses, verification finds something, and nothing else panics.
fn attacked(dir: &Path) {
    assert!(Journal::open(&config(dir)).is_err());
    assert!(!damages(dir, &Against::default()).is_empty());
    let reader = Reader::open(dir).unwrap();
    let _ = reader.read(reader.start().unwrap(), |_| std::ops::ControlFlow::<()>::Continue(()));
    let _ = evidence::count(&reader, &Filter::default());
    let _ = Tree::open(&reader);
}

#[test]
fn files_that_are_almost_named_like_segments_are_none() {
    let (_dir, home, _) = prepared();
    for name in ["7.seg", "+00000000007.seg", "18446744073709551615.seg", "000000000009.seg.bak"] {
        overwrite(&home.join("segments").join(name), b"{}\n");
    }
    assert_eq!(Reader::open(&home).unwrap().segments().unwrap(), [0]);
    drop(open(&home));
    assert_sound(&home);
}

#[test]
fn a_renamed_segment_is_found() {
    let (_dir, home, _) = prepared();
    std::fs::rename(segment(&home, 0), segment(&home, 5)).unwrap();
    attacked(&home);
}

#[test]
fn a_segment_longer_than_any_is_not_read_into_memory() {
    let (_dir, home, _) = prepared();
    let file = std::fs::OpenOptions::new().write(true).open(segment(&home, 0)).unwrap();
    file.set_len(1 << 40).unwrap();
    attacked(&home);
}

#[test]
fn a_record_cannot_pose_as_one_that_an_export_issued_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut forged = numbered(1);
    forged.meta.insert("withheld".to_owned(), json!({ "id": "0".repeat(64) }));
    let error = open(dir.path()).append(forged).unwrap_err();
    let evidence::AppendError::Record(error) = error else { panic!("{error}") };
    assert!(matches!(error, RecordError::ReservedKey(_)), "{error}");
}

#[test]
fn nothing_is_exported_into_the_journal() {
    let (_dir, home, _) = prepared();
    let reader = Reader::open(&home).unwrap();
    let now = "2026-01-01T00:00:00Z";
    let export =
        |out: &Path| evidence::export(&reader, &Filter::default(), Target::Directory(out), now);
    assert!(export(&segment(&home, 1)).is_err());
    assert!(export(&home.join("blobs/../segments/000000000001.seg")).is_err());
    assert_eq!(reader.segments().unwrap(), [0]);
}

#[test]
fn a_blob_that_holds_something_else_under_its_name_is_put_right() {
    let (_dir, home, _) = prepared();
    let long = json!("z".repeat(10_000));
    let stored = serde_json::to_vec(&long).unwrap();
    let blob = blob_path(&home, &stored);
    std::fs::create_dir_all(blob.parent().unwrap()).unwrap();
    for wrong in [&b"short"[..], &stored[1..], &[&stored[..], b"more"].concat()] {
        overwrite(&blob, wrong);
        open(&home).append(record("s", long.clone())).unwrap();
        assert_eq!(std::fs::read(&blob).unwrap(), stored);
    }
    assert_sound(&home);
}

#[test]
fn a_lost_key_is_not_silently_replaced() {
    let (_dir, home, _) = prepared();
    let public = std::fs::read(home.join("checkpoint.pub")).unwrap();
    let key = std::fs::read(home.join("checkpoint.key")).unwrap();
    std::fs::remove_file(home.join("checkpoint.key")).unwrap();
    let error = Journal::open(&config(&home)).err().unwrap().to_string();
    assert!(error.contains("is gone") && error.contains("checkpoint.key"), "{error}");
    assert!(!home.join("checkpoint.key").exists());
    assert_eq!(std::fs::read(home.join("checkpoint.pub")).unwrap(), public);
    overwrite(&home.join("checkpoint.key"), &key);
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(home.join("checkpoint.key"), private).unwrap();
    drop(open(&home));
}

#[test]
fn nothing_is_signed_on_top_of_a_history_that_is_not_the_one_that_was_signed() {
    let dir = tempfile::tempdir().unwrap();
    let (honest, forged) = (dir.path().join("honest"), dir.path().join("forged"));
    for (home, content) in [(&honest, "true"), (&forged, "false")] {
        let journal = open(home);
        journal.append(record("s", json!(content))).unwrap();
        journal.close().unwrap();
    }
    // The forged segment gets the name of the honest journal, and its note of an orderly end.
    let name = |home: &Path| {
        let text = String::from_utf8(std::fs::read(segment(home, 0)).unwrap()).unwrap();
        let start = text.find("\"journal\":\"").unwrap() + 11;
        (text.get(start..start + 16).unwrap().to_owned(), text)
    };
    let (honest_name, _) = name(&honest);
    let (forged_name, text) = name(&forged);
    overwrite(&segment(&honest, 0), text.replacen(&forged_name, &honest_name, 1).as_bytes());
    std::fs::copy(forged.join("clean.json"), honest.join("clean.json")).unwrap();
    let before = std::fs::read(honest.join("checkpoints.jsonl")).unwrap();
    let error = Journal::open(&config(&honest)).err().unwrap().to_string();
    assert!(error.contains("not those that were signed"), "{error}");
    assert_eq!(std::fs::read(honest.join("checkpoints.jsonl")).unwrap(), before);
}

#[test]
fn an_imported_bundle_is_asked_for_the_newest_only() {
    let dir = tempfile::tempdir().unwrap();
    let (home, bundle) = (dir.path().join("home"), dir.path().join("bundle"));
    let journal = open(&home);
    for number in 0..5 {
        journal.append(numbered(number)).unwrap();
    }
    let reader = Reader::open(&home).unwrap();
    let now = "2026-01-01T00:00:00Z";
    let target = Target::Directory(&bundle);
    evidence::export(&reader, &Filter::default(), target, now).unwrap();
    let unfinished = home.join("imports/.new-1-0");
    std::fs::create_dir_all(unfinished.join("blobs")).unwrap();
    let name = evidence::import(&journal, &bundle).unwrap().name;
    assert!(!unfinished.exists(), "what a crash left of another import is gone");
    let mut found = Vec::new();
    let filter = Filter { limit: Some(2), ..Filter::default() };
    evidence::Imports::of(&reader)
        .query(&name, &filter, &mut |row| {
            found.push(row.idx);
            true
        })
        .unwrap();
    assert_eq!(found, [3, 4]);
    journal.close().unwrap();
    assert_eq!(lines(&home).len(), 6);
    assert_eq!(numbers(&home), [0, 1, 2, 3, 4]);
}
