//! Checks one line of `records.jsonl` by itself.

use serde_json::Value;

use super::diagnose;
use super::finding::{Code, Finding};
use super::lines::Line;
use super::pinned::loose;
use super::report::Findings;
use crate::archive::Rules;
use crate::digest::Digest;
use crate::plain::Plain;
use crate::record::{Payload, Principal, Record, RecordType, SCHEMA};
use crate::sorted::Sorted;
use crate::source::RECORDS;
use crate::timestamp::{self, Ts};

/// What the rest of verification needs to know of a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The id that the line claims, if it can be one.
    pub(crate) id: Option<Digest>,
    /// The parents that can be ids, in order.
    pub(crate) parents: Vec<Digest>,
    /// Does it have parents at all?
    pub(crate) is_root: bool,
    /// The blob it names.
    pub(crate) blob: Option<BlobUse>,
    /// What it is, if it could be read.
    pub(crate) kind: Option<(RecordType, Principal)>,
    /// `meta.ts`, if it is a normal time.
    pub(crate) ts: Option<Ts>,
    /// Could its text be spelled otherwise under the same id?
    pub(crate) unpinned: bool,
}

/// A record's claim about a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobUse {
    /// Its name.
    pub blob: Digest,
    /// Its length, as the record says.
    pub bytes: u64,
}

/// Reads a line; `None` if there is nothing on it.
pub(crate) fn check(line: &Line<'_>, rules: Rules, findings: &mut Findings) -> Option<Seen> {
    let plain = if line.ended { check_plain(line, findings) } else { None };
    plain.or_else(|| check_any(line, rules, findings))
}

/// The long way, for any line.
pub(crate) fn check_any(line: &Line<'_>, rules: Rules, findings: &mut Findings) -> Option<Seen> {
    let at = format!("{RECORDS}:{}", line.number);
    let text = super::frame::unwrap(line, &at, rules, findings)?;
    let record: Record = match serde_json::from_str(text) {
        Ok(record) => record,
        Err(error) => {
            findings.add(Finding::new(Code::RecordParse, at, error));
            return Some(Seen::default());
        }
    };
    check_schema(&record, &at, findings);
    let actual = record.compute_id();
    let id = Digest::from_hex(record.record_id.as_bytes());
    if id != Some(actual) {
        findings.add(id_mismatch(&at, &actual, &record.record_id));
    }
    if rules == Rules::Strict {
        diagnose::record(text, &record, &at, findings);
    }
    let blob = match &record.payload {
        Payload::Inline { .. } => None,
        Payload::Blob { blob, size, .. } => {
            Digest::from_hex(blob.as_bytes()).map(|blob| BlobUse { blob, bytes: *size })
        }
    };
    Some(Seen {
        id,
        is_root: record.parents.is_empty(),
        parents: record.parents.iter().filter_map(|it| Digest::from_hex(it.as_bytes())).collect(),
        blob,
        kind: Some((record.record_type, record.principal)),
        ts: record.ts().and_then(timestamp::normal_bytes),
        unpinned: !loose(&record).is_empty(),
    })
}

/// The short way: a line that is its own canonical form, which is also beyond reproach.
pub(crate) fn check_plain(line: &Line<'_>, findings: &mut Findings) -> Option<Seen> {
    let mut text = Plain::new(line.text);
    text.token(b"{\"recordId\":")?;
    let id = Digest::from_hex(text.string()?)?;
    text.token(b",\"type\":")?;
    let record_type = RecordType::from_name(text.string()?)?;
    text.token(b",\"principal\":")?;
    let principal = Principal::from_name(text.string()?)?;
    text.token(b",\"taint\":")?;
    let taint = text.strings(|_| Some(()))?;
    text.token(b",\"parents\":")?;
    let mut parents = Vec::new();
    let parents_text = text.strings(|it| Digest::from_hex(it).map(|it| parents.push(it)))?;
    text.token(b",\"meta\":")?;
    let mut ts: Option<&[u8]> = None;
    let meta = text.object(|key, value| {
        if key == b"ts" {
            ts = Some(value);
        }
    })?;
    let ts = std::str::from_utf8(ts?.strip_prefix(b"\"")?.strip_suffix(b"\"")?).ok()?;
    let ts = timestamp::normal_bytes(ts)?;
    text.token(b",\"payload\":")?;
    let (payload, blob) = plain_payload(&mut text)?;
    text.token(b",\"schema\":\"0.1\"}")?;
    text.end()?;

    let actual = Digest::of_parts(&[
        b"{\"meta\":",
        meta,
        b",\"parents\":",
        parents_text,
        b",\"payload\":",
        payload,
        b",\"principal\":\"",
        principal.as_str().as_bytes(),
        b"\",\"schema\":\"0.1\",\"taint\":",
        taint,
        b",\"type\":\"",
        record_type.as_str().as_bytes(),
        b"\"}",
    ]);
    if id != actual {
        let at = format!("{RECORDS}:{}", line.number);
        findings.add(id_mismatch(&at, &actual, &id.to_string()));
    }
    let is_root = parents.is_empty();
    let kind = Some((record_type, principal));
    Some(Seen { id: Some(id), parents, is_root, blob, kind, ts: Some(ts), unpinned: false })
}

fn plain_payload<'a>(text: &mut Plain<'a>) -> Option<(&'a [u8], Option<BlobUse>)> {
    let start = text.position();
    let mut blob = None;
    if text.token(b"{\"inline\":").is_some() {
        text.value()?;
    } else {
        text.token(b"{\"blob\":")?;
        let name = Digest::from_hex(text.string()?)?;
        text.token(b",\"mime\":")?;
        text.string()?;
        text.token(b",\"size\":")?;
        blob = Some(BlobUse { blob: name, bytes: text.unsigned()? });
    }
    text.token(b"}")?;
    Some((text.since(start)?, blob))
}

/// The rules of upstream's JSON Schema, on the record as it was read.
fn check_schema(record: &Record, at: &str, findings: &mut Findings) {
    let mut bad = |detail: String| findings.add(Finding::new(Code::RecordSchema, at, detail));
    if Digest::from_hex(record.record_id.as_bytes()).is_none() {
        bad(format!("`recordId` is `{}`, not 64 lower-case hex digits", record.record_id));
    }
    for parent in &record.parents {
        if Digest::from_hex(parent.as_bytes()).is_none() {
            bad(format!("parent `{parent}` is not 64 lower-case hex digits"));
        }
    }
    match (record.meta.is_object(), record.meta.get("ts")) {
        (false, _) => bad("`meta` is not an object".to_owned()),
        (true, None) => bad("`meta` has no `ts`".to_owned()),
        (true, Some(Value::String(ts))) if timestamp::has_shape(ts) => {}
        (true, Some(ts)) => {
            bad(format!("`meta.ts` is `{}`, not `YYYY-MM-DDTHH:MM:SSZ`", Sorted(ts)));
        }
    }
    if let Payload::Blob { blob, .. } = &record.payload
        && Digest::from_hex(blob.as_bytes()).is_none()
    {
        bad(format!("`payload.blob` is `{blob}`, not 64 lower-case hex digits"));
    }
    if record.schema.as_deref().is_some_and(|schema| schema != SCHEMA) {
        bad("`schema` is not `0.1`".to_owned());
    }
    if record.extensions.as_ref().is_some_and(|extensions| !extensions.is_object()) {
        bad("`extensions` is not an object".to_owned());
    }
}

fn id_mismatch(at: &str, actual: &Digest, claimed: &str) -> Finding {
    Finding::new(Code::RecordId, at, format!("recordId is `{claimed}`, the content has {actual}"))
}
