//! Bundles signed as a whole: what the ids and the chain do not cover, the note does.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]
#![expect(clippy::disallowed_methods, reason = "a test damages files of its own")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use aegx::bundle::{self, Builder, BundleError};
use aegx::note::{NoteName, SEED_BYTES, SigningKey, VerifierKey};
use aegx::record::{Draft, Payload, Principal, RecordType};
use aegx::{Digest, Progress, Report, Rules, Source, verify_any_signed, verify_signed};
use serde_json::json;

fn key(name: &str, byte: u8) -> SigningKey {
    SigningKey::from_seed(NoteName::new(name).unwrap(), &[byte; SEED_BYTES])
}

fn draft(number: u64) -> Draft {
    let ts = json!(format!("2026-02-15T00:00:0{number}Z"));
    Draft {
        record_type: RecordType::ToolCall,
        principal: Principal::Tool,
        taint: vec![],
        parents: vec![],
        meta: [("ts".to_owned(), ts)].into_iter().collect(),
        payload: Payload::Inline { inline: json!({ "n": number }) },
    }
}

/// A signed bundle of two records and a blob.
fn signed(dir: &Path) -> PathBuf {
    let bundle = dir.join("bundle");
    let mut builder = Builder::create(&bundle, "2026-02-15T00:00:00Z").unwrap();
    builder.add_record(&draft(1).seal().unwrap()).unwrap();
    let blob = Digest::of(b"content");
    builder.add_blob(&blob, &b"content"[..]).unwrap();
    let payload = Payload::Blob { blob: blob.to_string(), mime: "text/plain".to_owned(), size: 7 };
    builder.add_record(&Draft { payload, ..draft(2) }.seal().unwrap()).unwrap();
    builder.sign_with(key("here", 1));
    builder.finish_directory(&bundle).unwrap();
    bundle
}

fn judge(path: &Path, key: Option<&VerifierKey>) -> Report {
    let source = Source::open(path, Rules::Strict).unwrap();
    verify_signed(&source, Rules::Strict, key, &Progress::default())
}

fn codes(report: &Report) -> BTreeSet<&'static str> {
    report.findings.iter().map(aegx::Finding::code_text).collect()
}

#[test]
fn a_bundle_signed_as_a_whole_verifies_with_that_key_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = signed(dir.path());
    let zip = dir.path().join("bundle.zip");
    bundle::pack(&bundle, &zip, aegx::archive::Overwrite::No).unwrap();
    for path in [&bundle, &zip] {
        let with = judge(path, Some(key("here", 1).verifier()));
        assert!(with.ok() && with.notes.is_empty(), "{with:?}");
        let without = judge(path, None);
        assert!(without.ok(), "{without:?}");
        assert!(without.notes.iter().any(|it| it.contains("signed as a whole by `here`")));
        for other in [key("here", 2), key("there", 1)] {
            let other = judge(path, Some(other.verifier()));
            assert_eq!(codes(&other), BTreeSet::from(["bundle_signature"]));
        }
    }
}

#[test]
fn what_no_hash_covers_cannot_be_changed_once_it_is_signed() {
    let replaced = |path: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from));
        fs::write(path, text.replace(from, to)).unwrap();
    };
    let created_at: &dyn Fn(&Path) = &|bundle| {
        replaced(
            &bundle.join("manifest.json"),
            "\"2026-02-15T00:00:00Z\"",
            "\"2020-01-01T00:00:00Z\"",
        );
    };
    let emptied: &dyn Fn(&Path) = &|bundle| {
        fs::remove_dir_all(bundle).unwrap();
        bundle::init(bundle, "2026-02-15T00:00:00Z").unwrap();
    };
    let unsigned: &dyn Fn(&Path) = &|bundle| fs::remove_file(bundle.join("bundle.note")).unwrap();
    let key = key("here", 1);
    for (change, want) in
        [(created_at, "bundle_note"), (emptied, "bundle_signature"), (unsigned, "bundle_signature")]
    {
        let dir = tempfile::tempdir().unwrap();
        let bundle = signed(dir.path());
        change(&bundle);
        let report = judge(&bundle, Some(key.verifier()));
        assert_eq!(codes(&report), BTreeSet::from([want]), "{report:?}");
    }
}

#[test]
fn nothing_is_added_to_a_signed_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = signed(dir.path());
    let refused = |it: BundleError| assert!(matches!(it, BundleError::Signed), "{it}");
    refused(bundle::add_record(&bundle, draft(3)).unwrap_err());
    refused(bundle::add_blob(&bundle, &b"more"[..]).unwrap_err());
    assert!(judge(&bundle, Some(key("here", 1).verifier())).ok());
}

#[test]
fn what_is_not_signed_does_not_pass_for_signed() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    bundle::init(&bundle, "2026-02-15T00:00:00Z").unwrap();
    assert!(judge(&bundle, None).ok());
    let report = judge(&bundle, Some(key("here", 1).verifier()));
    assert_eq!(codes(&report), BTreeSet::from(["bundle_signature"]));
    let older =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx/aer-v0.1/valid.aegx.zip");
    let source = Source::open(&older, Rules::Strict).unwrap();
    let key = key("here", 1);
    let report =
        verify_any_signed(&source, Rules::Strict, Some(key.verifier()), &Progress::default());
    assert!(codes(&report).contains("bundle_signature"));
}

#[test]
fn what_is_stored_is_what_is_hashed_whatever_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    bundle::init(&bundle, "2026-02-15T00:00:00Z").unwrap();
    let mut given = draft(1);
    given.taint = vec!["SECRET_RIS\u{212a}".to_owned()];
    given.meta.insert("e\u{301}".to_owned(), json!("\u{212b}"));
    given.payload = Payload::Inline { inline: json!([{ "\u{1f71}": -0.0 }]) };
    bundle::add_record(&bundle, given).unwrap();
    let report = judge(&bundle, None);
    assert!(report.ok(), "{report:?}");
    let stored = fs::read_to_string(bundle.join("records.jsonl")).unwrap();
    assert!(stored.contains("\"SECRET_RISK\"") && stored.contains("\"\u{e9}\":\"\u{c5}\""));
    assert!(stored.contains("[{\"\u{3ac}\":0}]"), "{stored}");

    let mut alike = draft(2);
    alike.meta.insert("e\u{301}".to_owned(), json!(1));
    alike.meta.insert("\u{e9}".to_owned(), json!(2));
    let error = alike.seal().unwrap_err();
    assert!(error.to_string().contains("stands twice"), "{error}");
}
