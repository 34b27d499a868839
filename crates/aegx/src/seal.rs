//! The short way from texts to a stored line, for writers in a hurry.
//!
//! Where the texts of `meta` and `payload` are their own canonical form, the id can be hashed from
//! them as they stand. The outcome is exactly that of [`Draft::seal`](crate::Draft::seal), which
//! the tests hold it against; where the texts are not plain, the answer is `None` and the caller
//! takes the long way.

use crate::digest::Digest;
use crate::plain::Plain;
use crate::record::{Principal, RecordType};
use crate::timestamp;

/// What a record consists of, as text.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// What happened.
    pub record_type: RecordType,
    /// Who caused it.
    pub principal: Principal,
    /// Labels; each must be plain text.
    pub taint: &'a [&'a str],
    /// Ids of the records it came from.
    pub parents: &'a [Digest],
    /// An object with a normal `ts`.
    pub meta: &'a [u8],
    /// The content, which becomes `payload.inline`.
    pub inline: &'a [u8],
}

/// The id and the stored line, without newline, of a record whose parts are plain.
#[must_use]
pub fn seal_plain(parts: &Parts<'_>) -> Option<(Digest, Vec<u8>)> {
    let mut ts: Option<&[u8]> = None;
    let mut text = Plain::new(parts.meta);
    text.object(|key, value| {
        if key == b"ts" {
            ts = Some(value);
        }
    })?;
    text.end()?;
    let ts = std::str::from_utf8(ts?.strip_prefix(b"\"")?.strip_suffix(b"\"")?).ok()?;
    let mut text = Plain::new(parts.inline);
    text.value()?;
    text.end()?;
    let labels_plain = parts.taint.iter().all(|it| it.bytes().all(is_label));
    if !timestamp::is_normal(ts) || !labels_plain {
        return None;
    }

    let mut line = Vec::with_capacity(LINE_BYTES + parts.meta.len() + parts.inline.len());
    line.extend_from_slice(b"{\"recordId\":\"");
    let id_at = line.len();
    line.extend_from_slice(Digest::ZERO.to_hex().as_bytes());
    line.extend_from_slice(b"\",\"type\":\"");
    line.extend_from_slice(parts.record_type.as_str().as_bytes());
    line.extend_from_slice(b"\",\"principal\":\"");
    line.extend_from_slice(parts.principal.as_str().as_bytes());
    line.extend_from_slice(b"\",\"taint\":");
    let taint_at = line.len();
    write_list(&mut line, parts.taint.iter().map(|it| it.as_bytes()));
    let taint_end = line.len();
    line.extend_from_slice(b",\"parents\":");
    let parents_at = line.len();
    let hex: Vec<_> = parts.parents.iter().map(|it| it.to_hex()).collect();
    write_list(&mut line, hex.iter().map(|it| it.as_bytes().as_slice()));
    let parents_end = line.len();
    line.extend_from_slice(b",\"meta\":");
    line.extend_from_slice(parts.meta);
    line.extend_from_slice(b",\"payload\":{\"inline\":");
    line.extend_from_slice(parts.inline);
    line.extend_from_slice(b"},\"schema\":\"0.1\"}");

    let id = Digest::of_parts(&[
        b"{\"meta\":",
        parts.meta,
        b",\"parents\":",
        line.get(parents_at..parents_end)?,
        b",\"payload\":{\"inline\":",
        parts.inline,
        b"},\"principal\":\"",
        parts.principal.as_str().as_bytes(),
        b"\",\"schema\":\"0.1\",\"taint\":",
        line.get(taint_at..taint_end)?,
        b",\"type\":\"",
        parts.record_type.as_str().as_bytes(),
        b"\"}",
    ]);
    line.get_mut(id_at..)?.get_mut(..64)?.copy_from_slice(id.to_hex().as_bytes());
    Some((id, line))
}

/// What stands around `meta` and the content, with a few parents and labels.
const LINE_BYTES: usize = 512;

fn is_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn write_list<'t>(out: &mut Vec<u8>, items: impl Iterator<Item = &'t [u8]>) {
    out.push(b'[');
    for (position, item) in items.enumerate() {
        out.extend_from_slice(if position > 0 { b",\"" } else { b"\"" });
        out.extend_from_slice(item);
        out.push(b'"');
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Draft, Payload};

    #[test]
    fn the_short_way_and_the_long_way_agree() {
        let meta = br#"{"kind":"x","seq":7,"ts":"2026-02-15T00:00:00Z"}"#;
        for inline in ["null", "{}", r#"{"a":[1,-2,"x\n\"y"],"b":{"c":"é"}}"#, "[true,18]"] {
            for parents in [vec![], vec![Digest::of(b"1"), Digest::of(b"2")]] {
                let parts = Parts {
                    record_type: RecordType::ToolCall,
                    principal: Principal::Tool,
                    taint: &["TOOL_OUTPUT", "UNTRUSTED"],
                    parents: &parents,
                    meta,
                    inline: inline.as_bytes(),
                };
                let (id, line) = seal_plain(&parts).unwrap();
                let draft = Draft {
                    record_type: parts.record_type,
                    principal: parts.principal,
                    taint: parts.taint.iter().map(|it| (*it).to_owned()).collect(),
                    parents: parents.clone(),
                    meta: serde_json::from_slice(meta).unwrap(),
                    payload: Payload::Inline { inline: serde_json::from_str(inline).unwrap() },
                };
                let record = draft.seal().unwrap();
                assert_eq!(id, record.compute_id());
                assert_eq!(String::from_utf8(line).unwrap(), record.to_line().unwrap());
            }
        }
    }

    #[test]
    fn what_is_not_plain_takes_the_long_way() {
        let plain = Parts {
            record_type: RecordType::ToolCall,
            principal: Principal::Tool,
            taint: &[],
            parents: &[],
            meta: br#"{"ts":"2026-02-15T00:00:00Z"}"#,
            inline: b"1",
        };
        assert!(seal_plain(&plain).is_some());
        let not_plain = [
            Parts { inline: b"1.5", ..plain },
            Parts { inline: b"{\"b\":1,\"a\":2}", ..plain },
            Parts { inline: b"{} ", ..plain },
            Parts { inline: "\"e\u{301}\"".as_bytes(), ..plain },
            Parts { meta: b"{}", ..plain },
            Parts { meta: br#"{"ts":"2026-02-30T00:00:00Z"}"#, ..plain },
            Parts { taint: &["A\"B"], ..plain },
        ];
        for parts in not_plain {
            assert!(seal_plain(&parts).is_none(), "{parts:?}");
        }
    }
}
