//! Says why a line of an older format is not what its writer would have stored.

use serde::Serialize;
use serde_json::Value;

use super::entry::LegacyEntry;
use super::recipe::Recipe;
use super::record::{LegacyPayload, LegacyRecord};
use crate::digest::Digest;
use crate::verify::diagnose::outline;
use crate::verify::report::Findings;
use crate::verify::{Code, Finding};

const RECORD_KEYS: &[&str] =
    &["record_id", "record_type", "principal", "taint", "parents", "meta", "payload"];
const META_KEYS: &[&str] = &[
    "ts",
    "agent_id",
    "session_id",
    "tool_id",
    "path",
    "channel",
    "ip",
    "config_key",
    "rule_id",
    "snapshot_id",
];
const INLINE_KEYS: &[&str] = &["kind", "data"];
const AER_BLOB_KEYS: &[&str] = &["kind", "hash", "size"];
const UNIFIED_BLOB_KEYS: &[&str] = &["kind", "hash", "size", "mime"];
const ENTRY_KEYS: &[&str] = &["idx", "ts", "record_id", "prev_hash", "entry_hash"];

/// Keys of one line that are listed; a hostile line may hold millions.
const KEYS_LISTED_MAX: usize = 16;

/// Everything that strict verification holds against a record's line by itself.
pub(crate) fn record(
    text: &str,
    record: &LegacyRecord,
    recipe: Recipe,
    at: &str,
    findings: &mut Findings,
) {
    let bad = record.parents.iter().filter(|it| Digest::from_hex(it.as_bytes()).is_none());
    for parent in bad.take(KEYS_LISTED_MAX) {
        let detail = format!("parent `{parent}` is not 64 lower-case hex digits");
        findings.add(Finding::new(Code::RecordSchema, at, detail));
    }
    let (payload_keys, has_mime) = match (&record.payload, recipe) {
        (LegacyPayload::Inline { .. }, _) => (INLINE_KEYS, false),
        (LegacyPayload::Blob { mime, .. }, Recipe::Aer) => (AER_BLOB_KEYS, mime.is_some()),
        (LegacyPayload::Blob { mime, .. }, Recipe::Unified) => (UNIFIED_BLOB_KEYS, mime.is_some()),
    };
    let is_stored = match (has_mime, recipe) {
        (false, _) => is_stored_as(text, record),
        // Where upstream puts the field is not known: the order of keys is left open.
        (true, Recipe::Unified) => is_same_value(text, record),
        (true, Recipe::Aer) => false,
    };
    if !is_stored {
        let known: [(&str, &[&str]); 2] = [("meta", META_KEYS), ("payload", payload_keys)];
        explain(text, RECORD_KEYS, &known, at, findings);
    }
}

/// Everything that strict verification holds against an audit line by itself.
pub(crate) fn entry(text: &str, entry: &LegacyEntry, at: &str, findings: &mut Findings) {
    if !is_stored_as(text, entry) {
        explain(text, ENTRY_KEYS, &[], at, findings);
    }
}

fn is_stored_as(text: &str, value: &impl Serialize) -> bool {
    serde_json::to_string(value).is_ok_and(|stored| stored == text)
}

fn is_same_value(text: &str, value: &impl Serialize) -> bool {
    let has_duplicates = outline(text).is_none_or(|it| !it.duplicates.is_empty());
    let read: Option<Value> = serde_json::from_str(text).ok();
    !has_duplicates && read.is_some() && read == serde_json::to_value(value).ok()
}

fn explain(
    text: &str,
    known: &[&str],
    inner: &[(&str, &[&str])],
    at: &str,
    findings: &mut Findings,
) {
    let before = findings.total();
    let Some(outline) = outline(text) else { return };
    for key in outline.duplicates.iter().take(KEYS_LISTED_MAX) {
        let detail = format!("key `{key}` stands twice in one object");
        findings.add(Finding::new(Code::DuplicateKey, at, detail));
    }
    let mut unknown = |keys: &[String], known: &[&str], prefix: &str| {
        let unknown = keys.iter().filter(|key| !known.contains(&key.as_str()));
        for key in unknown.take(KEYS_LISTED_MAX) {
            let detail = format!("`{prefix}{key}` is no field of the format");
            findings.add(Finding::new(Code::UnknownField, at, detail));
        }
    };
    unknown(&outline.top, known, "");
    for (field, known) in inner {
        let keys = if *field == "meta" { &outline.meta } else { &outline.payload };
        unknown(keys, known, &format!("{field}."));
    }
    if findings.total() == before {
        let detail = "the line is not spelled as the writer stores it";
        findings.add(Finding::new(Code::StoredForm, at, detail));
    }
}
