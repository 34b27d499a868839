//! Directories that somebody else prepared: special files, links that lead out, and files made to
//! cost memory or time. What can be a file of the corpus is in `corpus/aegx/strict`.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use aegx::bundle::{self, BundleError};
use aegx::record::{Draft, DraftError, Payload, Principal, RecordType};
use aegx::verify::{FINDINGS_LISTED_MAX, LINE_BYTES_MAX};
use aegx::{AuditEntry, Code, Digest, Manifest, Progress, Report, Rules, Source, verify};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

const FILES: [&str; 3] = ["manifest.json", "records.jsonl", "audit-log.jsonl"];

/// A bundle with one record, whose content is a blob.
fn bundle() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("bundle");
    bundle::init(&dir, "2026-02-15T00:00:00Z").unwrap();
    let blob = bundle::add_blob(&dir, &b"evidence"[..]).unwrap().to_string();
    let payload = Payload::Blob { blob, mime: "text/plain".to_owned(), size: 8 };
    bundle::add_record(&dir, Draft { payload, ..draft(Value::Null) }).unwrap();
    (home, dir)
}

fn draft(inline: Value) -> Draft {
    let meta = Map::from_iter([("ts".to_owned(), json!("2026-02-15T00:00:00Z"))]);
    Draft {
        record_type: RecordType::SessionMessage,
        principal: Principal::User,
        taint: Vec::new(),
        parents: Vec::new(),
        meta,
        payload: Payload::Inline { inline },
    }
}

fn judge(dir: &Path, rules: Rules) -> Report {
    let dir = dir.to_owned();
    in_time(move || verify(&Source::open(&dir, rules).unwrap(), rules, &Progress::default()))
}

/// Runs `work`; to wait for ever is a failure of its own.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    wait.recv_timeout(Duration::from_secs(60)).unwrap()
}

fn write(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the standard library makes no pipes with names")]
fn make_pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn has(report: &Report, code: Code) -> bool {
    report.findings.iter().any(|finding| finding.code == code)
}

#[test]
fn a_pipe_in_the_place_of_a_file_keeps_nobody_waiting() {
    for name in FILES {
        let (_home, dir) = bundle();
        make_pipe(&dir.join(name));
        for rules in [Rules::Strict, Rules::Compat] {
            assert!(has(&judge(&dir, rules), Code::FileUnreadable), "{name}");
        }
        let added = in_time(move || {
            let blob = bundle::add_blob(&dir, &b"more"[..]).is_ok();
            blob || bundle::add_record(&dir, draft(json!(1))).is_ok()
        });
        assert!(!added, "{name}");
    }
    let (_home, dir) = bundle();
    make_pipe(&dir.join("blobs").join(Digest::of(b"evidence").to_string()));
    assert!(has(&judge(&dir, Rules::Strict), Code::FileNotRegular));
    judge(&dir, Rules::Compat);
    make_pipe(&dir.join(".aegx-pending"));
    assert!(in_time(move || bundle::add_record(&dir, draft(json!(1))).is_err()));
    let home = tempfile::tempdir().unwrap();
    let pipe = home.path().join("pipe");
    make_pipe(&pipe);
    assert!(in_time(move || bundle::add_record(&pipe, draft(json!(1))).is_err()));
}

/// The note of an interrupted addition that, believed, would cut both logs back to nothing.
fn write_note(dir: &Path) {
    let manifest: Value = serde_json::from_slice(&fs::read(dir.join(FILES[0])).unwrap()).unwrap();
    let note = json!({
        "manifest": manifest, "records_bytes": 0, "audit_bytes": 0,
        "blob": Digest::of(b"evidence").to_string(),
    });
    write(&dir.join(".aegx-pending"), note.to_string().as_bytes());
}

#[test]
fn no_link_leads_a_writer_out_of_the_bundle() {
    for name in FILES {
        let (home, dir) = bundle();
        let outside = home.path().join("outside");
        fs::rename(dir.join(name), &outside).unwrap();
        symlink(&outside, dir.join(name)).unwrap();
        let before = fs::read(&outside).unwrap();
        for note in [false, true] {
            if note {
                write_note(&dir);
            }
            bundle::add_record(&dir, draft(json!(1))).unwrap_err();
            bundle::add_blob(&dir, &b"more"[..]).unwrap_err();
            bundle::pack(&dir, &home.path().join("out.zip"), aegx::archive::Overwrite::No)
                .unwrap_err();
            assert_eq!(fs::read(&outside).unwrap(), before, "{name} with note: {note}");
        }
    }
}

#[test]
fn a_linked_blob_folder_is_neither_written_to_nor_emptied() {
    let (home, dir) = bundle();
    let outside = home.path().join("outside");
    fs::rename(dir.join("blobs"), &outside).unwrap();
    symlink(&outside, dir.join("blobs")).unwrap();
    write_note(&dir);
    bundle::add_blob(&dir, &b"more"[..]).unwrap_err();
    bundle::add_record(&dir, draft(json!(1))).unwrap_err();
    let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, [Digest::of(b"evidence").to_string().as_str()]);
    assert!(has(&judge(&dir, Rules::Strict), Code::FileNotRegular));
}

#[test]
fn a_blob_that_is_a_link_or_damaged_is_replaced_by_adding_it() {
    let (home, dir) = bundle();
    let blob = dir.join("blobs").join(Digest::of(b"evidence").to_string());
    let outside = home.path().join("outside");
    fs::rename(&blob, &outside).unwrap();
    symlink(&outside, &blob).unwrap();
    assert!(!judge(&dir, Rules::Strict).ok());
    bundle::add_blob(&dir, &b"evidence"[..]).unwrap();
    assert!(judge(&dir, Rules::Strict).ok());
    write(&blob, b"evidenc3");
    bundle::add_blob(&dir, &b"evidence"[..]).unwrap();
    assert!(judge(&dir, Rules::Strict).ok());
    assert_eq!(fs::read(outside).unwrap(), b"evidence");
}

#[test]
fn names_that_are_not_utf8_are_found() {
    let (_home, dir) = bundle();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    write(&dir.join(odd), b"x");
    write(&dir.join("blobs").join(odd), b"x");
    let report = judge(&dir, Rules::Strict);
    assert!(has(&report, Code::FileUnexpected));
    assert!(has(&report, Code::BlobName));
}

#[test]
fn a_line_without_end_is_given_up() {
    let (_home, dir) = bundle();
    write(&dir.join("records.jsonl"), &vec![b'x'; LINE_BYTES_MAX + (3 << 20)]);
    let report = judge(&dir, Rules::Strict);
    assert!(has(&report, Code::LineTooLong));
    assert!(has(&report, Code::AuditWithoutRecord));
}

#[test]
fn a_flood_of_faults_is_counted_but_not_kept() {
    let (_home, dir) = bundle();
    let lines = 1 << 18;
    write(&dir.join("records.jsonl"), &vec![b'\n'; lines]);
    let report = judge(&dir, Rules::Strict);
    assert!(report.findings_total > lines as u64);
    assert_eq!(report.findings.len(), FINDINGS_LISTED_MAX);

    let mut line = br#"{"recordId":"","type":"Snapshot","principal":"SYS","taint":[],"#.to_vec();
    line.extend(br#""meta":{},"payload":{"inline":0},"parents":["#);
    line.extend(br#""","#.repeat(1 << 17));
    line.extend(b"\"\"]}\n");
    write(&dir.join("records.jsonl"), &line);
    let report = judge(&dir, Rules::Strict);
    assert!(report.findings_total > 1 << 17);
    assert_eq!(report.findings.len(), FINDINGS_LISTED_MAX);
}

#[test]
fn an_object_with_very_many_keys_takes_no_longer_than_its_length() {
    let (_home, dir) = bundle();
    let keys: Vec<_> = (0..300_000).map(|it| format!("\"{:06}\":0", (it * 7) % 299_990)).collect();
    let line = format!(
        r#"{{"recordId":"","type":"Snapshot","principal":"SYS","taint":[],"parents":[],"meta":{{}},"payload":{{"inline":{{{}}}}}}}"#,
        keys.join(",")
    );
    write(&dir.join("records.jsonl"), format!("{line}\n").as_bytes());
    let report = judge(&dir, Rules::Strict);
    assert!(has(&report, Code::DuplicateKey));
}

#[test]
fn a_manifest_may_name_very_many_roots_and_be_wrong_about_each() {
    let (_home, dir) = bundle();
    let text = fs::read_to_string(dir.join(FILES[0])).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    let root = manifest.root_records.first().unwrap().clone();
    for (root, code) in [(root, Code::RootsIncomplete), ("x".to_owned(), Code::ManifestSchema)] {
        let forged = Manifest { root_records: vec![root; 100_000], ..manifest.clone() };
        write(&dir.join(FILES[0]), &forged.to_bytes().unwrap());
        let report = judge(&dir, Rules::Strict);
        assert!(has(&report, code));
        assert!(report.findings.len() <= FINDINGS_LISTED_MAX);
    }
}

#[test]
fn a_count_that_cannot_grow_is_refused() {
    let (_home, dir) = bundle();
    let idx = u64::MAX - 1;
    let id = Digest::of(b"x");
    let (entry, head) = AuditEntry::next(idx, "2026-02-15T00:00:00Z", id, Digest::ZERO);
    write(&dir.join("audit-log.jsonl"), (json!(entry).to_string() + "\n").as_bytes());
    let text = fs::read_to_string(dir.join(FILES[0])).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    let forged =
        Manifest { record_count: u64::MAX, audit_head: head.to_string(), ..manifest.clone() };
    write(&dir.join(FILES[0]), &forged.to_bytes().unwrap());
    let error = bundle::add_record(&dir, draft(json!(1))).unwrap_err();
    assert!(matches!(error, BundleError::Inconsistent { .. }), "{error}");
    assert!(has(&judge(&dir, Rules::Strict), Code::AuditIdx));
}

#[test]
fn nothing_is_added_to_a_bundle_whose_files_disagree() {
    type Change = fn(&[u8]) -> Vec<u8>;
    let cases: [(&str, Change); 5] = [
        ("records.jsonl", |it| it.strip_suffix(b"\n").unwrap().to_vec()),
        ("records.jsonl", |_| Vec::new()),
        ("audit-log.jsonl", |it| it.strip_suffix(b"\n").unwrap().to_vec()),
        ("audit-log.jsonl", |_| Vec::new()),
        ("manifest.json", |it| String::from_utf8_lossy(it).replace("\"0.1\"", "\"0.2\"").into()),
    ];
    for (position, (name, change)) in cases.into_iter().enumerate() {
        let (_home, dir) = bundle();
        let path = dir.join(name);
        write(&path, &change(&fs::read(&path).unwrap()));
        let before: Vec<_> = FILES.iter().map(|it| fs::read(dir.join(it)).unwrap()).collect();
        bundle::add_record(&dir, draft(json!(1))).unwrap_err();
        bundle::add_blob(&dir, &b"more"[..]).unwrap_err();
        let after: Vec<_> = FILES.iter().map(|it| fs::read(dir.join(it)).unwrap()).collect();
        assert_eq!(before, after, "case {position}");
    }
}

#[test]
fn what_no_reader_would_take_is_not_written() {
    let nested = |levels| (0..levels).fold(json!(0), |inner, _| json!([inner]));
    let (_home, dir) = bundle();
    bundle::add_record(&dir, draft(nested(125))).unwrap();
    assert!(judge(&dir, Rules::Strict).ok());
    let error = bundle::add_record(&dir, draft(nested(126))).unwrap_err();
    assert!(matches!(error, BundleError::Draft(DraftError::TooDeep)), "{error}");
    let long = draft(Value::String("x".repeat(LINE_BYTES_MAX)));
    let error = bundle::add_record(&dir, long).unwrap_err();
    assert!(matches!(error, BundleError::TooLong { .. }), "{error}");
    assert!(judge(&dir, Rules::Strict).ok());
}

#[test]
fn an_interrupted_addition_is_named_by_verify_and_undone_by_export() {
    let (home, dir) = bundle();
    let [manifest, records, _] = FILES.map(|it| fs::read(dir.join(it)).unwrap());
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let note = json!({
        "manifest": manifest, "records_bytes": records.len(), "blob": null,
        "audit_bytes": fs::metadata(dir.join(FILES[2])).unwrap().len(),
    });
    write(&dir.join(".aegx-pending"), note.to_string().as_bytes());
    write(&dir.join(FILES[1]), &records.repeat(2));
    let report = judge(&dir, Rules::Strict);
    let named = report.findings.iter().any(|it| it.detail.contains("interrupted addition"));
    assert!(named && has(&report, Code::RecordUnaudited), "{report:?}");
    let zip = home.path().join("out.zip");
    bundle::pack(&dir, &zip, aegx::archive::Overwrite::No).unwrap();
    assert!(judge(&dir, Rules::Strict).ok());
    assert!(judge(&zip, Rules::Strict).ok());
}
