//! Reads `manifest.json` in one pass and in bounded memory: `root_records` may name millions, and
//! whatever else a hostile manifest holds is looked at and dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::finding::{Code, Finding};
use super::fingerprint::{Fingerprint, Fingerprints};
use super::report::Findings;
use crate::digest::{Digest, Hasher};
use crate::manifest::Manifest;
use crate::source::MANIFEST;

/// What stands under one key; of a list or an object only that it is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    Text(String),
    Unsigned(u64),
    /// A double, or an integer that only fits one.
    Double(f64),
    Object,
    Other,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{text}`"),
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Double(number) => write!(f, "{number:?}"),
            Self::Object => f.write_str("an object"),
            Self::Other => f.write_str("of another kind"),
        }
    }
}

/// A manifest as it was read.
pub(crate) struct Parsed<'i> {
    ids: &'i Fingerprints,
    /// What stands under the keys of the format but `root_records`.
    pub(crate) fields: BTreeMap<&'static str, Field>,
    /// The roots in order; `None` if there is no such list.
    pub(crate) roots: Option<Vec<Fingerprint>>,
    /// Keys that stand twice. Strict verification alone minds.
    pub(crate) duplicates: Findings,
    /// Keys and roots that the schema does not know.
    pub(crate) schema: Findings,
    /// Is it an object at all?
    pub(crate) is_object: bool,
    /// Are its bytes what the writer would store for these fields?
    pub(crate) is_stored_form: bool,
    /// Hash of what the writer would store, as far as was read.
    stored: Hasher,
}

/// Reads everything.
///
/// # Errors
/// If it is not JSON, or cannot be read.
pub(crate) fn read(input: impl Read, ids: &Fingerprints) -> serde_json::Result<Parsed<'_>> {
    let mut parsed = Parsed {
        ids,
        fields: BTreeMap::new(),
        roots: None,
        duplicates: Findings::default(),
        schema: Findings::default(),
        is_object: false,
        is_stored_form: false,
        stored: Hasher::new(),
    };
    let mut input = Hashing { input, hasher: Hasher::new() };
    let mut reader = serde_json::Deserializer::from_reader(BufReader::new(&mut input));
    let outermost = Reading { parsed: &mut parsed, place: Place::Top }.deserialize(&mut reader)?;
    reader.end()?;
    parsed.stored.update(b"\n}");
    parsed.is_object = outermost == Field::Object;
    parsed.is_stored_form = input.hasher.finish() == std::mem::take(&mut parsed.stored).finish();
    Ok(parsed)
}

const KNOWN: [&str; 10] = [
    "aegx_version",
    "audit_head",
    "blob_count",
    "canonicalization",
    "created_at",
    "extensions",
    "hash_alg",
    "meta",
    "record_count",
    ROOTS,
];
const ROOTS: &str = "root_records";

/// Where in the manifest a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    Roots,
    Elsewhere,
}

struct Reading<'p, 'i> {
    parsed: &'p mut Parsed<'i>,
    place: Place,
}

impl<'i> Reading<'_, 'i> {
    fn at(&mut self, place: Place) -> Reading<'_, 'i> {
        Reading { parsed: self.parsed, place }
    }

    fn bad_key(&mut self, key: &str) {
        let detail = format!("`{key}` is no field of a manifest");
        self.parsed.schema.add(Finding::new(Code::ManifestSchema, MANIFEST, detail));
    }

    fn root(&mut self, position: usize, root: &Field) -> Option<Fingerprint> {
        let id = match root {
            Field::Text(text) => Digest::from_hex(text.as_bytes()),
            Field::Unsigned(_) | Field::Double(_) | Field::Object | Field::Other => None,
        };
        if id.is_none() {
            let at = format!("{MANIFEST}: {ROOTS}[{position}]");
            let detail = format!("{root} is not 64 lower-case hex digits");
            self.parsed.schema.add(Finding::new(Code::ManifestSchema, at, detail));
        }
        let id = id?;
        let before: &[u8] = if position == 0 { b"[\n    \"" } else { b",\n    \"" };
        self.parsed.stored.update(before);
        self.parsed.stored.update(id.to_hex().as_bytes());
        self.parsed.stored.update(b"\"");
        Some(self.parsed.ids.of(&id))
    }

    /// The writer stores `root_records` last, so here everything before it is known.
    fn begin_roots(&mut self) {
        let text = |key| match self.parsed.fields.get(key) {
            Some(Field::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let count = |key| match self.parsed.fields.get(key) {
            Some(Field::Unsigned(count)) => *count,
            _ => 0,
        };
        let manifest = Manifest {
            aegx_version: text("aegx_version"),
            audit_head: text("audit_head"),
            blob_count: count("blob_count"),
            canonicalization: text("canonicalization"),
            hash_alg: text("hash_alg"),
            record_count: count("record_count"),
            ..Manifest::empty(&text("created_at"))
        };
        let stored = manifest.to_bytes().unwrap_or_default();
        self.parsed.stored.update(stored.strip_suffix(b"[]\n}").unwrap_or_default());
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_, '_> {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Field, D::Error> {
        // Not `IgnoredAny`, which would let pass what a reader that builds a tree refuses.
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_, '_> {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Field, A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let known = KNOWN.into_iter().find(|known| *known == key);
            let twice = match known.filter(|_| self.place == Place::Top) {
                None => {
                    map.next_value_seed(self.at(Place::Elsewhere))?;
                    if self.place == Place::Top {
                        self.bad_key(&key);
                    }
                    false
                }
                Some(ROOTS) => {
                    let twice = self.parsed.roots.take().is_some();
                    self.begin_roots();
                    map.next_value_seed(self.at(Place::Roots))?;
                    twice
                }
                Some(known) => {
                    let field = map.next_value_seed(self.at(Place::Elsewhere))?;
                    self.parsed.fields.insert(known, field).is_some()
                }
            };
            if twice {
                let detail = format!("key `{key}` stands twice");
                self.parsed.duplicates.add(Finding::new(Code::DuplicateKey, MANIFEST, detail));
            }
        }
        Ok(Field::Object)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Field, A::Error> {
        let mut roots = Vec::new();
        let mut position = 0;
        while let Some(field) = seq.next_element_seed(self.at(Place::Elsewhere))? {
            if self.place == Place::Roots {
                roots.extend(self.root(position, &field));
            }
            position += 1;
        }
        if self.place == Place::Roots {
            self.parsed.stored.update(if position == 0 { b"[]" } else { b"\n  ]" });
            self.parsed.roots = Some(roots);
        }
        Ok(Field::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Field, E> {
        Ok(Field::Text(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Field, E> {
        Ok(Field::Unsigned(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Field, E> {
        Ok(Field::Double(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_unit<E>(self) -> Result<Field, E> {
        Ok(Field::Other)
    }
}

/// Hashes what is read through it.
struct Hashing<R> {
    input: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.hasher.update(out.get(..read).unwrap_or_default());
        Ok(read)
    }
}
