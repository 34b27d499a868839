//! Checks `manifest.json` by itself.

use std::collections::BTreeMap;
use std::io::Read;

use super::finding::{Code, Finding};
use super::fingerprint::{Fingerprint, Fingerprints};
use super::manifest_read::{self, Field};
use super::report::Findings;
use crate::archive::Rules;
use crate::digest::Digest;
use crate::manifest::{ALGORITHM, CANONICALIZATION, VERSION};
use crate::source::MANIFEST;
use crate::timestamp;

/// What the manifest claims about the rest.
#[derive(Default)]
pub(crate) struct Claims {
    /// `None` if it is a double, which upstream compares with nothing, or not there.
    pub(crate) record_count: Option<u64>,
    /// As `record_count`.
    pub(crate) blob_count: Option<u64>,
    pub(crate) audit_head: Option<Digest>,
    /// In order.
    pub(crate) roots: Vec<Fingerprint>,
}

/// Reads a manifest; `None` if it cannot be read as JSON at all.
pub(crate) fn check(
    input: impl Read,
    rules: Rules,
    ids: &Fingerprints,
    findings: &mut Findings,
) -> Option<Claims> {
    let parsed = match manifest_read::read(input, ids) {
        Ok(parsed) => parsed,
        Err(error) => {
            findings.add(Finding::new(Code::ManifestParse, MANIFEST, error));
            return None;
        }
    };
    let mut found = parsed.schema;
    let mut bad = |detail: &str| found.add(Finding::new(Code::ManifestSchema, MANIFEST, detail));
    if !parsed.is_object {
        bad("not a JSON object");
        findings.append(found);
        return Some(Claims::default());
    }
    if parsed.roots.is_none() {
        bad("`root_records` is missing or not a list");
    }
    let audit_head = match parsed.fields.get("audit_head") {
        Some(Field::Text(text)) => Digest::from_hex(text.as_bytes()),
        _ => None,
    };
    if audit_head.is_none() {
        bad("`audit_head` is not 64 lower-case hex digits");
    }
    check_schema(&parsed.fields, &mut found);
    let record_count = count(&parsed.fields, "record_count", rules, &mut found);
    let blob_count = count(&parsed.fields, "blob_count", rules, &mut found);
    if rules == Rules::Strict {
        found.append(parsed.duplicates);
        check_strict(&parsed.fields, &mut found);
        // Said only if nothing else explains it.
        if found.is_empty() && !parsed.is_stored_form {
            let detail = "the manifest is not spelled as the writer stores it";
            found.add(Finding::new(Code::StoredForm, MANIFEST, detail));
        }
    }
    findings.append(found);
    Some(Claims { record_count, blob_count, audit_head, roots: parsed.roots.unwrap_or_default() })
}

const CONSTANTS: [(&str, &str); 3] =
    [("aegx_version", VERSION), ("hash_alg", ALGORITHM), ("canonicalization", CANONICALIZATION)];

fn check_schema(fields: &BTreeMap<&'static str, Field>, findings: &mut Findings) {
    let mut bad = |detail| findings.add(Finding::new(Code::ManifestSchema, MANIFEST, detail));
    for (key, want) in CONSTANTS {
        match fields.get(key) {
            Some(Field::Text(text)) if text == want => {}
            Some(other) => bad(format!("`{key}` is {other}, not `{want}`")),
            None => bad(format!("`{key}` is missing")),
        }
    }
    match fields.get("created_at") {
        Some(Field::Text(ts)) if timestamp::has_shape(ts) => {}
        Some(other) => bad(format!("`created_at` is {other}, not `YYYY-MM-DDTHH:MM:SSZ`")),
        None => bad("`created_at` is missing".to_owned()),
    }
    for key in ["meta", "extensions"] {
        if fields.get(key).is_some_and(|it| *it != Field::Object) {
            bad(format!("`{key}` is not an object"));
        }
    }
}

fn check_strict(fields: &BTreeMap<&'static str, Field>, findings: &mut Findings) {
    for key in ["meta", "extensions"] {
        if fields.contains_key(key) {
            let detail = format!("`{key}` is covered by no hash; anybody may have written it");
            findings.add(Finding::new(Code::ManifestUnhashed, MANIFEST, detail));
        }
    }
    if let Some(Field::Text(ts)) = fields.get("created_at")
        && timestamp::has_shape(ts)
        && !timestamp::is_normal(ts)
    {
        let detail = format!("`created_at` is `{ts}`, which is no date and time");
        findings.add(Finding::new(Code::TimeImpossible, MANIFEST, detail));
    }
}

fn count(
    fields: &BTreeMap<&'static str, Field>,
    key: &str,
    rules: Rules,
    findings: &mut Findings,
) -> Option<u64> {
    // JSON Schema calls 12.0 an integer; upstream then compares it with nothing.
    let is_whole = |double: &f64| double.fract() == 0.0 && *double >= 0.0;
    match fields.get(key) {
        Some(Field::Unsigned(count)) => return Some(*count),
        Some(Field::Double(double)) if is_whole(double) => {
            if rules == Rules::Strict {
                let detail = format!("`{key}` is {double:?}, a double and not an integer");
                findings.add(Finding::new(Code::CountNotInteger, MANIFEST, detail));
            }
        }
        _ => {
            let detail = format!("`{key}` is not an integer of at least 0");
            findings.add(Finding::new(Code::ManifestSchema, MANIFEST, detail));
        }
    }
    None
}
