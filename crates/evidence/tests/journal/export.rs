//! Exports pass every rule and leak nothing; imports are verified and stay apart.

use std::path::Path;

use aegx::{Progress, Rules, Source};
use evidence::{Content, Exported, Filter, ImportError, Imports, NewRecord, Reader, Target};
use model::SessionId;
use serde_json::{Value, json};

use crate::common::{assert_sound, blob_path, copy_tree, kinds, open, overwrite, record, snapshot};

fn export_session(dir: &Path, session: &str, out: &Path) -> Exported {
    let reader = Reader::open(dir).unwrap();
    let filter = Filter { session: Some(SessionId::parse(session).unwrap()), ..Filter::default() };
    let now = "2026-01-01T00:00:00Z";
    evidence::export(&reader, &filter, Target::from_path(out), now).unwrap()
}

fn assert_passes(bundle: &Path) {
    for rules in [Rules::Strict, Rules::Compat] {
        let source = Source::open(bundle, rules).unwrap();
        let report = aegx::verify(&source, rules, &Progress::default());
        assert!(report.ok(), "{:?}", report.findings);
    }
}

/// Two sessions that name each other's records and share a blob.
fn two_sessions(dir: &Path) {
    let journal = open(dir);
    let mine = journal.append(record("mine", json!({ "t": "mine-1" }))).unwrap().id();
    let secret = Content::Bytes { mime: "text/plain".to_owned(), bytes: b"theirs-blob".to_vec() };
    let theirs =
        NewRecord { content: secret, parents: vec![mine], ..record("theirs", Value::Null) };
    let theirs = journal.append(theirs).unwrap().id();
    let shared = Content::Bytes { mime: "text/plain".to_owned(), bytes: b"shared-blob".to_vec() };
    for session in ["mine", "theirs"] {
        let new = NewRecord { content: shared.clone(), ..record(session, Value::Null) };
        journal.append(new).unwrap();
    }
    let joined =
        NewRecord { parents: vec![mine, theirs], ..record("mine", json!({ "t": "mine-2" })) };
    let joined = journal.append(joined).unwrap().id();
    let child = NewRecord { parents: vec![joined], ..record("mine", json!({ "t": "mine-3" })) };
    journal.append(child).unwrap();
    journal.append(record("theirs", json!({ "t": "theirs-secret" }))).unwrap();
    journal.close().unwrap();
}

#[test]
fn an_export_passes_both_verifiers_and_holds_nothing_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    two_sessions(&home);
    for name in ["out.aegx", "out.aegx.zip"] {
        let out = dir.path().join(name);
        let exported = export_session(&home, "mine", &out);
        assert_eq!((exported.records, exported.blobs, exported.reissued), (4, 1, 2));
        assert_passes(&out);
    }
    let everything: Vec<u8> =
        snapshot(&dir.path().join("out.aegx")).into_iter().flat_map(|it| it.1).collect();
    for others in ["theirs-secret", "theirs-blob", "\"session\":\"theirs\""] {
        assert!(memchr::memmem::find(&everything, others.as_bytes()).is_none(), "{others}");
    }
    assert!(memchr::memmem::find(&everything, b"shared-blob").is_some());
}

#[test]
fn a_record_issued_anew_tells_how_to_get_the_original_back() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    two_sessions(&home);
    let out = dir.path().join("out");
    export_session(&home, "mine", &out);
    let text = std::fs::read_to_string(out.join("records.jsonl")).unwrap();
    let issued = text.lines().find(|line| line.contains("mine-2")).unwrap();
    let mut record: aegx::Record = serde_json::from_str(issued).unwrap();
    let withheld = record.meta.as_object_mut().unwrap().remove("withheld").unwrap();
    record.parents = serde_json::from_value(withheld["parents"].clone()).unwrap();
    assert_eq!(record.compute_id().to_string(), withheld["id"].as_str().unwrap());
}

#[test]
fn an_empty_selection_is_an_empty_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    two_sessions(&home);
    let out = dir.path().join("out.zip");
    assert_eq!(export_session(&home, "nobody", &out).records, 0);
    assert_passes(&out);
}

#[test]
fn a_target_that_exists_is_not_touched_and_nothing_is_left_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    two_sessions(&home);
    let reader = Reader::open(&home).unwrap();
    let out = dir.path().join("out.zip");
    overwrite(&out, b"precious");
    let export =
        evidence::export(&reader, &Filter::default(), Target::Zip(&out), "2026-01-01T00:00:00Z");
    assert!(export.is_err());
    assert_eq!(std::fs::read(&out).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn a_missing_blob_fails_the_export_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    two_sessions(&home);
    let blob = aegx::Digest::of(b"shared-blob").to_string();
    std::fs::remove_file(blob_path(&home, b"shared-blob")).unwrap();
    let reader = Reader::open(&home).unwrap();
    let out = dir.path().join("out");
    let export = evidence::export(
        &reader,
        &Filter::default(),
        Target::Directory(&out),
        "2026-01-01T00:00:00Z",
    );
    assert!(export.unwrap_err().to_string().contains(&blob));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn an_import_is_verified_kept_apart_and_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let (home, other) = (dir.path().join("home"), dir.path().join("other"));
    two_sessions(&home);
    let bundle = dir.path().join("b.aegx.zip");
    export_session(&home, "mine", &bundle);
    let journal = open(&other);
    let imported = evidence::import(&journal, &bundle).unwrap();
    assert!(imported.records == 4 && !imported.known);
    assert!(evidence::import(&journal, &bundle).unwrap().known);
    journal.close().unwrap();
    assert_eq!(kinds(&other), ["evidence_import"]);
    assert_sound(&other);

    let reader = Reader::open(&other).unwrap();
    let imports = Imports::of(&reader);
    assert_eq!(imports.names(), [imported.name.to_string()]);
    let mut count = 0;
    let filter = Filter { session: Some(SessionId::parse("mine").unwrap()), ..Filter::default() };
    imports
        .query(&imported.name, &filter, &mut |_| {
            count += 1;
            true
        })
        .unwrap();
    assert_eq!(count, 4);
}

#[test]
fn a_copy_without_its_signature_does_not_stand_in_for_the_signed_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let (home, other) = (dir.path().join("home"), dir.path().join("other"));
    two_sessions(&home);
    let (signed, bare) = (dir.path().join("signed"), dir.path().join("bare"));
    export_session(&home, "mine", &signed);
    copy_tree(&signed, &bare);
    std::fs::remove_file(bare.join("bundle.note")).unwrap();
    let journal = open(&other);
    let first = evidence::import(&journal, &bare).unwrap();
    let second = evidence::import(&journal, &signed).unwrap();
    assert!(!first.known && !second.known && first.head == second.head);
    assert!(evidence::import(&journal, &signed).unwrap().known);
    journal.close().unwrap();
    let note = |name: &aegx::Digest| {
        std::fs::read(other.join("imports").join(name.to_string()).join("bundle.note")).ok()
    };
    assert_eq!(note(&first.name), None);
    assert_eq!(note(&second.name), std::fs::read(signed.join("bundle.note")).ok());
    assert_eq!(kinds(&other), ["evidence_import", "evidence_import"]);
}

#[test]
fn a_bundle_that_does_not_verify_is_not_taken_in() {
    let dir = tempfile::tempdir().unwrap();
    let (home, other) = (dir.path().join("home"), dir.path().join("other"));
    two_sessions(&home);
    let bundle = dir.path().join("b");
    export_session(&home, "mine", &bundle);
    let records = bundle.join("records.jsonl");
    let text = std::fs::read_to_string(&records).unwrap();
    overwrite(&records, text.replace("mine-1", "mine-x").as_bytes());
    let journal = open(&other);
    let error = evidence::import(&journal, &bundle).unwrap_err();
    assert!(matches!(error, ImportError::Refused { .. }), "{error}");
    journal.close().unwrap();
    assert_eq!(kinds(&other), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(other.join("imports")).unwrap().count(), 0);
}
