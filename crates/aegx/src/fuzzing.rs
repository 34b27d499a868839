//! What the fuzz targets and the property tests assert. Not part of the API.
//!
//! Each function takes any bytes and returns quietly, or panics because a promise was broken. The
//! answer says whether the input got past the parser, so that a test can see that it tests something.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::Value;

use crate::archive::{Archive, Limits, Rules, extract};
use crate::audit::AuditEntry;
use crate::canon;
use crate::manifest::Manifest;
use crate::plain::Plain;
use crate::record::Record;
use crate::sorted::Sorted;
use crate::verify::fingerprint::Fingerprints;
use crate::verify::lines::Line;
use crate::verify::report::Findings;
use crate::verify::{audit_line, manifest_check, record_line};

/// A JSON value: its stored form is read back as it was, its canonical form is its own.
#[must_use]
pub fn json_line(bytes: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return false };
    if has_double(&value) {
        // Upstream's number parser does not round correctly; nothing more can be promised.
        return true;
    }
    let stored = Sorted(&value).to_string();
    assert_eq!(serde_json::from_str::<Value>(&stored).ok().as_ref(), Some(&value), "stored form");
    let canonical = canon::canonical(&value);
    let again = serde_json::from_slice::<Value>(&canonical);
    let Ok(again) = again else { panic_on("canonical form is not JSON", &canonical) };
    // Keys are sorted before they are normalised, so only normal keys keep their places.
    if has_normal_keys(&value) {
        assert_eq!(canon::canonical(&again), canonical, "canonical form is not canonical");
    }
    true
}

/// Text that [`Plain`] takes for its own canonical and stored form is both.
#[must_use]
pub fn plain(bytes: &[u8]) -> bool {
    let mut text = Plain::new(bytes);
    if text.value().is_none() || text.end().is_none() {
        return false;
    }
    let value = serde_json::from_slice::<Value>(bytes);
    let Ok(value) = value else { panic_on("plain text is not JSON", bytes) };
    assert_eq!(canon::canonical(&value), bytes, "plain text is not canonical");
    assert_eq!(Sorted(&value).to_string().as_bytes(), bytes, "plain text is not in stored form");
    true
}

/// A line of `records.jsonl`: the short way and the long way agree, and what is beyond reproach is
/// what the writer would store.
#[must_use]
pub fn record_line(bytes: &[u8]) -> bool {
    let line = Line { number: 1, text: bytes, ended: true };
    for rules in [Rules::Strict, Rules::Compat] {
        let (mut found, mut expected) = (Findings::default(), Findings::default());
        let long = record_line::check_any(&line, rules, &mut expected);
        if let Some(short) = record_line::check_plain(&line, &mut found) {
            assert_eq!(Some(short), long, "the two ways see different things");
            assert_eq!(found.into_listed(), expected.into_listed(), "and find different things");
        }
    }
    let Ok(record) = serde_json::from_slice::<Record>(bytes) else { return false };
    let mut found = Findings::default();
    let seen = record_line::check(&line, Rules::Strict, &mut found);
    if found.is_empty() {
        assert_eq!(seen.and_then(|it| it.id), Some(record.compute_id()), "a false id");
        assert_eq!(record.to_line().unwrap_or_default().as_bytes(), bytes, "not the stored form");
    }
    true
}

/// A line of `audit-log.jsonl`, as [`record_line`].
#[must_use]
pub fn audit_line(bytes: &[u8]) -> bool {
    let line = Line { number: 1, text: bytes, ended: true };
    for rules in [Rules::Strict, Rules::Compat] {
        let (mut found, mut expected) = (Findings::default(), Findings::default());
        let long = audit_line::check_any(&line, rules, &mut expected);
        let short = audit_line::check(&line, rules, &mut found);
        assert_eq!(short, long, "the two ways see different things");
        assert_eq!(found.into_listed(), expected.into_listed(), "and find different things");
    }
    let Ok(entry) = serde_json::from_slice::<AuditEntry>(bytes) else { return false };
    let mut found = Findings::default();
    let link = audit_line::check(&line, Rules::Strict, &mut found);
    if found.is_empty() {
        assert!(link.is_some_and(|it| it.sound), "a false hash");
        assert_eq!(serde_json::to_vec(&entry).unwrap_or_default(), bytes, "not the stored form");
    }
    true
}

/// A manifest: read in one pass as a tree would be, and if beyond reproach what the writer would
/// store.
#[must_use]
pub fn manifest(bytes: &[u8]) -> bool {
    let ids = Fingerprints::default();
    let is_json = serde_json::from_slice::<Value>(bytes).is_ok();
    let claims = manifest_check::check(bytes, Rules::Compat, &ids, &mut Findings::default());
    assert_eq!(claims.is_some(), is_json, "another idea of what is JSON");
    let mut found = Findings::default();
    let claims = manifest_check::check(bytes, Rules::Strict, &ids, &mut found);
    if let Some(claims) = claims.filter(|_| found.is_empty()) {
        let manifest = serde_json::from_slice::<Manifest>(bytes);
        let Ok(manifest) = manifest else { panic_on("an unreadable manifest was accepted", bytes) };
        assert_eq!(manifest.to_bytes().unwrap_or_default(), bytes, "not the stored form");
        assert_eq!(claims.record_count, Some(manifest.record_count), "another count");
        assert_eq!(claims.roots.len(), manifest.root_records.len(), "other roots");
    }
    is_json
}

/// An archive: what opens strictly and can be read has the declared sizes, and is extracted with
/// them. Works in the directory for temporary files.
#[must_use]
pub fn zip(bytes: &[u8]) -> bool {
    let scratch = std::env::temp_dir().join(format!("aegx-fuzz-{}", std::process::id()));
    let opened = zip_in(bytes, &scratch);
    let _ = fs::remove_dir_all(&scratch);
    opened.unwrap_or(false)
}

fn zip_in(bytes: &[u8], scratch: &Path) -> io::Result<bool> {
    fs::create_dir_all(scratch)?;
    let path = scratch.join("in.zip");
    File::create(&path)?.write_all(bytes)?;
    let limits = Limits { entry_bytes: 1 << 20, total_bytes: 4 << 20, ..Limits::default() };
    let Ok(archive) = Archive::open_within(&path, Rules::Strict, &limits) else { return Ok(false) };
    let mut total = 0;
    for entry in archive.entries().filter(|entry| !entry.is_dir()) {
        let Ok(mut input) = archive.open_entry(entry) else { return Ok(true) };
        let read = io::copy(&mut input, &mut io::sink());
        let Ok(read) = read else { return Ok(true) };
        assert_eq!(read, entry.size(), "`{}` has another size", entry.name());
        total += read;
    }
    let out = scratch.join("out");
    let Ok(extracted) = extract(&archive, &out, &mut |_| {}) else { return Ok(true) };
    assert_eq!(extracted.bytes, total, "another total");
    for entry in archive.entries().filter(|entry| !entry.is_dir()) {
        let bytes = fs::symlink_metadata(out.join(entry.name()))?.len();
        assert_eq!(bytes, entry.size(), "`{}` was extracted with another size", entry.name());
    }
    Ok(true)
}

/// Does the value hold a double?
#[must_use]
pub fn has_double(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
        Value::Array(items) => items.iter().any(has_double),
        Value::Object(map) => map.values().any(has_double),
    }
}

fn has_normal_keys(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => items.iter().all(has_normal_keys),
        Value::Object(map) => {
            map.iter().all(|(key, value)| !canon::is_rewritten(key) && has_normal_keys(value))
        }
    }
}

#[expect(clippy::panic, reason = "to panic is what a broken promise does here")]
fn panic_on(what: &str, bytes: &[u8]) -> ! {
    panic!("{what}: {}", String::from_utf8_lossy(bytes))
}
