//! Checks `manifest.json` by itself, in one pass: `root_records` may name millions.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::finding::{Code, Finding};
use super::fingerprint::{Fingerprint, Fingerprints};
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
    findings: &mut Vec<Finding>,
) -> Option<Claims> {
    let mut reader = serde_json::Deserializer::from_reader(BufReader::new(input));
    let mut parsed = Parsed { ids, roots: None, fields: BTreeMap::new(), findings: Vec::new() };
    let outcome = Reading(&mut parsed).deserialize(&mut reader).and_then(|()| reader.end());
    let Parsed { roots, fields, findings: found, .. } = parsed;
    if let Err(error) = outcome {
        // Not an object is JSON all the same: a schema error, as upstream has it.
        let code = if error.is_data() { Code::ManifestSchema } else { Code::ManifestParse };
        findings.push(Finding::new(code, MANIFEST, error));
        return error_is_fatal(code).then(Claims::default);
    }
    findings.extend(found.into_iter().filter(|it| rules == Rules::Strict || is_compat(it)));
    let mut bad = |detail: String| {
        findings.push(Finding::new(Code::ManifestSchema, MANIFEST, detail));
    };

    let constant = |key: &str, want: &str| match fields.get(key) {
        Some(Value::String(text)) if text == want => None,
        Some(other) => Some(format!("`{key}` is {other}, not `{want}`")),
        None => Some(format!("`{key}` is missing")),
    };
    for (key, want) in CONSTANTS {
        constant(key, want).into_iter().for_each(&mut bad);
    }
    match fields.get("created_at") {
        Some(Value::String(ts)) if timestamp::has_shape(ts) => {}
        Some(other) => bad(format!("`created_at` is {other}, not `YYYY-MM-DDTHH:MM:SSZ`")),
        None => bad("`created_at` is missing".to_owned()),
    }
    if roots.is_none() {
        bad("`root_records` is missing or not a list".to_owned());
    }
    let audit_head = match fields.get("audit_head") {
        Some(Value::String(text)) => Digest::from_hex(text.as_bytes()),
        _ => None,
    };
    if audit_head.is_none() {
        bad("`audit_head` is not 64 lower-case hex digits".to_owned());
    }
    for key in fields.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
        bad(format!("`{key}` is no field of a manifest"));
    }
    for key in ["meta", "extensions"] {
        if fields.get(key).is_some_and(|it| !it.is_object()) {
            bad(format!("`{key}` is not an object"));
        }
    }
    let record_count = count(&fields, "record_count", rules, findings);
    let blob_count = count(&fields, "blob_count", rules, findings);
    if rules == Rules::Strict {
        check_strict(&fields, findings);
    }
    Some(Claims { record_count, blob_count, audit_head, roots: roots.unwrap_or_default() })
}

const CONSTANTS: [(&str, &str); 3] =
    [("aegx_version", VERSION), ("hash_alg", ALGORITHM), ("canonicalization", CANONICALIZATION)];
const KNOWN: &[&str] = &[
    "aegx_version",
    "audit_head",
    "blob_count",
    "canonicalization",
    "created_at",
    "extensions",
    "hash_alg",
    "meta",
    "record_count",
    "root_records",
];

fn check_strict(fields: &BTreeMap<String, Value>, findings: &mut Vec<Finding>) {
    for key in ["meta", "extensions"] {
        if fields.contains_key(key) {
            let detail = format!("`{key}` is covered by no hash; anybody may have written it");
            findings.push(Finding::new(Code::ManifestUnhashed, MANIFEST, detail));
        }
    }
    if let Some(Value::String(ts)) = fields.get("created_at")
        && timestamp::has_shape(ts)
        && !timestamp::is_normal(ts)
    {
        let detail = format!("`created_at` is `{ts}`, which is no date and time");
        findings.push(Finding::new(Code::TimeImpossible, MANIFEST, detail));
    }
}

fn count(
    fields: &BTreeMap<String, Value>,
    key: &str,
    rules: Rules,
    findings: &mut Vec<Finding>,
) -> Option<u64> {
    let value = fields.get(key);
    if let Some(count) = value.and_then(Value::as_u64) {
        return Some(count);
    }
    // JSON Schema calls 12.0 an integer; upstream then compares it with nothing.
    let whole = value.and_then(Value::as_f64).filter(|it| it.fract() == 0.0 && *it >= 0.0);
    match whole {
        Some(_) if rules == Rules::Compat => {}
        Some(double) => {
            let detail = format!("`{key}` is {double:?}, a double and not an integer");
            findings.push(Finding::new(Code::CountNotInteger, MANIFEST, detail));
        }
        None => {
            let detail = format!("`{key}` is not an integer of at least 0");
            findings.push(Finding::new(Code::ManifestSchema, MANIFEST, detail));
        }
    }
    None
}

fn error_is_fatal(code: Code) -> bool {
    code == Code::ManifestSchema
}

fn is_compat(finding: &Finding) -> bool {
    finding.code.class() != super::finding::Class::Strict
}

struct Parsed<'i> {
    ids: &'i Fingerprints,
    roots: Option<Vec<Fingerprint>>,
    fields: BTreeMap<String, Value>,
    findings: Vec<Finding>,
}

struct Reading<'p, 'i>(&'p mut Parsed<'i>);

impl<'de> DeserializeSeed<'de> for Reading<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let twice = match key.as_str() {
                "root_records" => {
                    let read = map.next_value_seed(Roots(self.0))?;
                    std::mem::replace(&mut self.0.roots, read).is_some()
                }
                _ => self.0.fields.insert(key.clone(), map.next_value()?).is_some(),
            };
            if twice {
                let detail = format!("key `{key}` stands twice");
                self.0.findings.push(Finding::new(Code::DuplicateKey, MANIFEST, detail));
            }
        }
        Ok(())
    }
}

/// Reads `root_records`; `None` if it is no list.
struct Roots<'p, 'i>(&'p mut Parsed<'i>);

impl<'de> DeserializeSeed<'de> for Roots<'_, '_> {
    type Value = Option<Vec<Fingerprint>>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Roots<'_, '_> {
    type Value = Option<Vec<Fingerprint>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of record ids")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut roots = Vec::new();
        while let Some(value) = seq.next_element::<Value>()? {
            match value.as_str().and_then(|text| Digest::from_hex(text.as_bytes())) {
                Some(id) => roots.push(self.0.ids.of(&id)),
                None => {
                    let at = format!("{MANIFEST}: root_records[{}]", roots.len());
                    let detail = format!("{value} is not 64 lower-case hex digits");
                    self.0.findings.push(Finding::new(Code::ManifestSchema, at, detail));
                }
            }
        }
        Ok(Some(roots))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
}
