//! Says why a line is not what the writer would have stored.
//!
//! Only called for the rare line that did not take the short way, so it may be thorough.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::finding::{Code, Finding};
use super::pinned::{Loose, loose};
use super::report::Findings;
use crate::audit::AuditEntry;
use crate::record::{Record, is_stable};
use crate::timestamp;

const RECORD_KEYS: &[&str] = &[
    "recordId",
    "type",
    "principal",
    "taint",
    "parents",
    "meta",
    "payload",
    "schema",
    "extensions",
];
const AUDIT_KEYS: &[&str] = &["idx", "ts", "recordId", "prev", "entryHash"];
const BLOB_KEYS: &[&str] = &["blob", "mime", "size"];

/// Everything that strict verification holds against a record's line by itself.
pub(crate) fn record(text: &str, record: &Record, at: &str, findings: &mut Findings) {
    let mut strict = |code, detail: String| findings.add(Finding::new(code, at, detail));
    if record.extensions.is_some() {
        strict(Code::ExtensionsUnhashed, "`extensions` is covered by no hash".to_owned());
    }
    if record.schema.is_none() {
        strict(Code::SchemaMissing, "`schema` is missing".to_owned());
    }
    check_time(record.ts(), &mut strict);
    for Loose { code, detail } in loose(record) {
        strict(code, detail);
    }
    let numbers_stable = is_stable(&record.meta) && record.payload.inline().is_none_or(is_stable);
    if !numbers_stable {
        strict(
            Code::NumberUnstable,
            "a number changes when it is printed and read again".to_owned(),
        );
    }
    let stored = record.to_line().unwrap_or_default();
    if stored != text {
        explain(text, RECORD_KEYS, &mut strict);
    }
}

/// Everything that strict verification holds against an audit line by itself.
pub(crate) fn audit(text: &str, entry: &AuditEntry, at: &str, findings: &mut Findings) {
    let mut strict = |code, detail: String| findings.add(Finding::new(code, at, detail));
    check_time(Some(&entry.ts), &mut strict);
    if serde_json::to_string(entry).unwrap_or_default() != text {
        explain(text, AUDIT_KEYS, &mut strict);
    }
}

fn check_time(ts: Option<&str>, strict: &mut impl FnMut(Code, String)) {
    // Without the right shape it is a schema error already.
    if let Some(ts) = ts.filter(|ts| timestamp::has_shape(ts) && !timestamp::is_normal(ts)) {
        strict(Code::TimeImpossible, format!("`{ts}` is no date and time"));
    }
}

fn explain(text: &str, known: &[&str], strict: &mut impl FnMut(Code, String)) {
    let mut said = false;
    let mut say = |code, detail: String| {
        said = true;
        strict(code, detail);
    };
    if has_inner_blanks(text) {
        say(Code::LineWhitespace, "white space between the JSON tokens".to_owned());
    }
    if let Some(literal) = respelled_number(text) {
        say(Code::NumberUnstable, format!("`{literal}` is not how this number is stored"));
    }
    if let Some(outline) = outline(text) {
        for key in &outline.duplicates {
            say(Code::DuplicateKey, format!("key `{key}` stands twice in one object"));
        }
        for key in outline.top.iter().filter(|key| !known.contains(&key.as_str())) {
            say(Code::UnknownField, format!("`{key}` is no field of the format"));
        }
        explain_payload(&outline.payload, &mut say);
        let in_order = known.iter().filter(|key| outline.top.iter().any(|it| it == *key));
        let ordered = in_order.eq(outline.top.iter().filter(|it| known.contains(&it.as_str())));
        if !ordered || outline.unsorted {
            say(Code::KeyOrder, "keys are not in the stored order".to_owned());
        }
    }
    if !said {
        strict(Code::StoredForm, "the line is not spelled as the writer stores it".to_owned());
    }
}

fn explain_payload(keys: &[String], say: &mut impl FnMut(Code, String)) {
    let inline = keys.iter().any(|key| key == "inline");
    if inline && keys.iter().any(|key| BLOB_KEYS.contains(&key.as_str())) {
        say(Code::PayloadShadowed, "`payload` has both shapes; `inline` hides the blob".to_owned());
    }
    for key in keys.iter().filter(|key| *key != "inline" && !BLOB_KEYS.contains(&key.as_str())) {
        say(Code::UnknownField, format!("`payload.{key}` is no field of the format"));
    }
}

fn has_inner_blanks(text: &str) -> bool {
    outside_strings(text).any(|byte| byte.is_ascii_whitespace())
}

fn respelled_number(text: &str) -> Option<String> {
    let bytes: Vec<u8> = outside_strings(text).collect();
    let is_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    bytes
        .split(|byte| !is_number(byte))
        .filter(|word| word.iter().any(u8::is_ascii_digit))
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .find(|word| respells(word))
}

fn respells(literal: &str) -> bool {
    serde_json::from_str::<Value>(literal).is_ok_and(|value| {
        let stored = value.to_string();
        stored != literal
    })
}

/// The bytes of a JSON text that are not in its strings.
fn outside_strings(text: &str) -> impl Iterator<Item = u8> + '_ {
    let (mut inside, mut escaped) = (false, false);
    text.bytes().filter(move |&byte| {
        let was_inside = inside;
        match byte {
            b'"' if !escaped => inside = !inside,
            b'\\' if inside => {
                escaped = !escaped;
                return false;
            }
            _ => {}
        }
        escaped = false;
        !was_inside && byte != b'"'
    })
}

/// The keys of a JSON text; `None` if it is not JSON.
pub(crate) fn outline(text: &str) -> Option<Outline> {
    let mut outline = Outline::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    Walk { outline: &mut outline, depth: 0 }.deserialize(&mut reader).ok()?;
    Some(outline)
}

/// What a tree of JSON hides from a reader for whom the last of two keys wins.
#[derive(Default)]
pub(crate) struct Outline {
    pub(crate) top: Vec<String>,
    pub(crate) meta: Vec<String>,
    pub(crate) payload: Vec<String>,
    pub(crate) duplicates: Vec<String>,
    unsorted: bool,
}

struct Walk<'o> {
    outline: &'o mut Outline,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Vec<String>, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    /// The keys, if it was an object.
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
        let mut keys: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !known.insert(key.clone()) {
                self.outline.duplicates.push(key.clone());
            }
            // Records, entries and payloads have an order of their own.
            let ordered_elsewhere =
                self.depth == 0 || (self.depth == 1 && BLOB_KEYS.contains(&&*key));
            if !ordered_elsewhere && keys.last().is_some_and(|last| *last > key) {
                self.outline.unsorted = true;
            }
            let below = Walk { outline: self.outline, depth: self.depth + 1 };
            let inner = map.next_value_seed(below)?;
            match (self.depth, key.as_str()) {
                (0, "payload") => self.outline.payload = inner,
                (0, "meta") => self.outline.meta = inner,
                _ => {}
            }
            keys.push(key);
        }
        if self.depth == 0 {
            self.outline.top.clone_from(&keys);
        }
        Ok(keys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
        while seq
            .next_element_seed(Walk { outline: self.outline, depth: self.depth + 1 })?
            .is_some()
        {}
        Ok(Vec::new())
    }

    fn visit_unit<E>(self) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }

    fn visit_str<E>(self, _: &str) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }
}
