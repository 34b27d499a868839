//! Checks one line of `audit-log.jsonl` by itself.

use super::diagnose;
use super::finding::{Code, Finding};
use super::lines::Line;
use super::report::Findings;
use crate::archive::Rules;
use crate::audit::{self, AuditEntry};
use crate::digest::Digest;
use crate::plain::Plain;
use crate::source::AUDIT_LOG;
use crate::timestamp::{self, Ts};

/// What the chain needs to know of an entry. What cannot be a digest is `None`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) line: u64,
    /// `None` if the line could not be read.
    pub(crate) idx: Option<u64>,
    pub(crate) record_id: Option<Digest>,
    pub(crate) prev: Option<Digest>,
    pub(crate) entry_hash: Option<Digest>,
    /// `None` if it is no normal time, which was reported.
    pub(crate) ts: Option<Ts>,
    /// Is `entry_hash` the hash of the other four?
    pub(crate) sound: bool,
}

/// Reads a line; `None` if there is nothing on it.
pub(crate) fn check(line: &Line<'_>, rules: Rules, findings: &mut Findings) -> Option<Link> {
    let plain = if line.ended { read_plain(line) } else { None };
    match plain {
        Some((link, actual)) => Some(conclude(link, actual, findings)),
        None => check_any(line, rules, findings),
    }
}

/// The long way, for any line.
pub(crate) fn check_any(line: &Line<'_>, rules: Rules, findings: &mut Findings) -> Option<Link> {
    let at = format!("{AUDIT_LOG}:{}", line.number);
    let (link, actual) = read_any(line, &at, rules, findings)?;
    Some(conclude(link, actual, findings))
}

fn conclude(link: Link, actual: Digest, findings: &mut Findings) -> Link {
    let sound = link.entry_hash == Some(actual);
    if link.idx.is_some() && !sound {
        let at = format!("{AUDIT_LOG}:{}", link.line);
        let claimed = link.entry_hash.map_or_else(|| "no digest".to_owned(), |it| it.to_string());
        let detail = format!("entryHash is `{claimed}`, the entry has {actual}");
        findings.add(Finding::new(Code::AuditHash, at, detail));
    }
    Link { sound, ..link }
}

/// The short way: an entry spelled exactly as the writer stores it.
fn read_plain(line: &Line<'_>) -> Option<(Link, Digest)> {
    let mut text = Plain::new(line.text);
    text.token(b"{\"idx\":")?;
    let idx = text.unsigned()?;
    text.token(b",\"ts\":")?;
    let ts = text.string()?;
    text.token(b",\"recordId\":")?;
    let record_id = Digest::from_hex(text.string()?)?;
    text.token(b",\"prev\":")?;
    let prev = Digest::from_hex(text.string()?)?;
    text.token(b",\"entryHash\":")?;
    let entry_hash = Digest::from_hex(text.string()?)?;
    text.token(b"}")?;
    text.end()?;
    let time = std::str::from_utf8(ts).ok().and_then(timestamp::normal_bytes)?;
    let actual = audit::entry_hash(idx, ts, &record_id, &prev);
    let link = Link {
        line: line.number,
        idx: Some(idx),
        record_id: Some(record_id),
        prev: Some(prev),
        entry_hash: Some(entry_hash),
        ts: Some(time),
        sound: false,
    };
    Some((link, actual))
}

fn read_any(
    line: &Line<'_>,
    at: &str,
    rules: Rules,
    findings: &mut Findings,
) -> Option<(Link, Digest)> {
    let text = super::frame::unwrap(line, at, rules, findings)?;
    let unread = Link { line: line.number, ..Link::default() };
    let entry: AuditEntry = match serde_json::from_str(text) {
        Ok(entry) => entry,
        Err(error) => {
            findings.add(Finding::new(Code::AuditParse, at, error));
            return Some((unread, Digest::ZERO));
        }
    };
    let mut digest = |field: &str, text: &str| {
        let digest = Digest::from_hex(text.as_bytes());
        if digest.is_none() {
            let detail = format!("`{field}` is `{text}`, not 64 lower-case hex digits");
            findings.add(Finding::new(Code::AuditSchema, at, detail));
        }
        digest
    };
    let link = Link {
        idx: Some(entry.idx),
        record_id: digest("recordId", &entry.record_id),
        prev: digest("prev", &entry.prev),
        entry_hash: digest("entryHash", &entry.entry_hash),
        ts: timestamp::normal_bytes(&entry.ts),
        ..unread
    };
    if !timestamp::has_shape(&entry.ts) {
        let detail = format!("`ts` is `{}`, not `YYYY-MM-DDTHH:MM:SSZ`", entry.ts);
        findings.add(Finding::new(Code::AuditSchema, at, detail));
    }
    if rules == Rules::Strict {
        diagnose::audit(text, &entry, at, findings);
    }
    Some((link, entry.compute_hash()))
}
