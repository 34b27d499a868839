//! The two ways of hashing that tell the older formats apart.

use serde_json::Value;

use super::entry::LegacyEntry;
use super::record::{LegacyMeta, LegacyPayload, LegacyRecord};
use crate::canon;
use crate::digest::Digest;
use crate::sorted;
use crate::verify::Format;

/// How ids and entry hashes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// AER 0.1.x: payload and meta only, text as it stands.
    Aer,
    /// Unified 0.2.0: everything but the fraction of the second, text in normal form C.
    Unified,
}

impl Recipe {
    pub(crate) const ALL: [Self; 2] = [Self::Aer, Self::Unified];

    pub(crate) fn format(self) -> Format {
        match self {
            Self::Aer => Format::Aer01,
            Self::Unified => Format::Unified02,
        }
    }

    /// The id that this content has.
    pub(crate) fn record_id(self, record: &LegacyRecord) -> Digest {
        let mut out = Vec::with_capacity(1024);
        match self {
            Self::Aer => {
                self.payload(&mut out, &record.payload);
                self.meta(&mut out, &record.meta);
            }
            Self::Unified => {
                out.extend_from_slice(b"{\"meta\":");
                self.meta(&mut out, &record.meta);
                out.extend_from_slice(b",\"parents\":");
                canon::write_array(&mut out, &record.parents, |out, it| self.string(out, it));
                out.extend_from_slice(b",\"payload\":");
                self.payload(&mut out, &record.payload);
                let (principal, kind) = (record.principal.as_str(), record.record_type.as_str());
                let taint = record.taint.bits();
                let rest = format!(
                    ",\"principal\":\"{principal}\",\"schema\":\"0.1\",\"taint\":{taint},\
                     \"type\":\"{kind}\"}}"
                );
                out.extend_from_slice(rest.as_bytes());
            }
        }
        Digest::of(&out)
    }

    /// The hash that this entry has.
    pub(crate) fn entry_hash(self, entry: &LegacyEntry) -> Digest {
        let ts = entry.ts.to_offset_text();
        let LegacyEntry { idx, record_id, prev_hash, .. } = entry;
        match self {
            Self::Aer => Digest::of(format!("{idx}||{ts}||{record_id}||{prev_hash}").as_bytes()),
            Self::Unified => {
                let mut out = format!("{{\"idx\":{idx},\"prev\":").into_bytes();
                self.string(&mut out, prev_hash);
                out.extend_from_slice(b",\"recordId\":");
                self.string(&mut out, record_id);
                out.extend_from_slice(b",\"ts\":");
                self.string(&mut out, &ts);
                out.push(b'}');
                Digest::of(&out)
            }
        }
    }

    fn meta(self, out: &mut Vec<u8>, meta: &LegacyMeta) {
        out.push(b'{');
        for (name, text) in meta.texts() {
            out.extend_from_slice(format!("\"{name}\":").as_bytes());
            self.string(out, text);
            out.push(b',');
        }
        out.extend_from_slice(b"\"ts\":");
        match self {
            Self::Aer => self.string(out, &meta.ts.to_string()),
            Self::Unified => self.string(out, &meta.ts.to_seconds()),
        }
        out.push(b'}');
    }

    fn payload(self, out: &mut Vec<u8>, payload: &LegacyPayload) {
        match payload {
            LegacyPayload::Inline { data } => {
                out.extend_from_slice(b"{\"data\":");
                self.value(out, data);
                out.extend_from_slice(b",\"kind\":\"inline\"}");
            }
            LegacyPayload::Blob { hash, size, mime } => {
                out.extend_from_slice(b"{\"hash\":");
                self.string(out, hash);
                out.extend_from_slice(b",\"kind\":\"blob\",");
                // AER does not know the field and drops it.
                if let (Self::Unified, Some(mime)) = (self, mime) {
                    out.extend_from_slice(b"\"mime\":");
                    self.string(out, mime);
                    out.push(b',');
                }
                out.extend_from_slice(format!("\"size\":{size}}}").as_bytes());
            }
        }
    }

    fn value(self, out: &mut Vec<u8>, value: &Value) {
        match self {
            Self::Aer => write_as_it_stands(out, value),
            Self::Unified => canon::write_value(out, value),
        }
    }

    fn string(self, out: &mut Vec<u8>, text: &str) {
        match self {
            Self::Aer => canon::write_escaped(out, text),
            Self::Unified => canon::write_string(out, text),
        }
    }
}

/// The canonical form without its normal form of text and with `-0.0` kept.
fn write_as_it_stands(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.extend_from_slice(value.to_string().as_bytes());
        }
        Value::String(text) => canon::write_escaped(out, text),
        Value::Array(items) => canon::write_array(out, items, write_as_it_stands),
        Value::Object(map) => {
            out.push(b'{');
            for (position, (key, value)) in sorted::entries(map).enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                canon::write_escaped(out, key);
                out.push(b':');
                write_as_it_stands(out, value);
            }
            out.push(b'}');
        }
    }
}
