//! A record: what happened, who caused it, what it came from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::canon;
use crate::digest::Digest;
use crate::normal;
use crate::sorted;
use crate::timestamp;

/// The only schema there is.
pub const SCHEMA: &str = "0.1";

/// A record as its line says, believed in nothing but its shape.
///
/// Reads as upstream does: unknown fields are dropped, the last of duplicate keys in `meta` and
/// `payload` wins, `null` is an absent `schema` or `extensions`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The id that the line claims; [`Record::compute_id`] says whether it is true.
    pub record_id: String,
    /// What happened.
    #[serde(rename = "type")]
    pub record_type: RecordType,
    /// Who caused it.
    pub principal: Principal,
    /// Free labels, in the order that was hashed.
    pub taint: Vec<String>,
    /// Ids of the records it came from.
    pub parents: Vec<String>,
    /// An object that holds at least `ts`.
    #[serde(serialize_with = "sorted::serialize")]
    pub meta: Value,
    /// The content, or the name of the blob that holds it.
    pub payload: Payload,
    /// Optional, and then [`SCHEMA`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Optional, and covered by no hash.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "sorted::serialize_option"
    )]
    pub extensions: Option<Value>,
}

impl Record {
    /// The id that this content has: SHA-256 over the canonical form of seven of its fields.
    #[must_use]
    pub fn compute_id(&self) -> Digest {
        let mut out = Vec::with_capacity(1024);
        out.extend_from_slice(b"{\"meta\":");
        write_meta(&mut out, &self.meta);
        out.extend_from_slice(b",\"parents\":");
        canon::write_array(&mut out, &self.parents, |out, it| canon::write_string(out, it));
        out.extend_from_slice(b",\"payload\":");
        write_payload(&mut out, &self.payload);
        out.extend_from_slice(b",\"principal\":\"");
        out.extend_from_slice(self.principal.as_str().as_bytes());
        // Always this schema, whatever the record says: upstream's rule.
        out.extend_from_slice(b"\",\"schema\":\"0.1\",\"taint\":");
        canon::write_array(&mut out, &self.taint, |out, it| canon::write_string(out, it));
        out.extend_from_slice(b",\"type\":\"");
        out.extend_from_slice(self.record_type.as_str().as_bytes());
        out.extend_from_slice(b"\"}");
        Digest::of(&out)
    }

    /// The line as upstream's writer would store it, without the final newline.
    ///
    /// # Errors
    /// Only if serde_json cannot print a value, which no value read from text can cause.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// `meta.ts`, if it is a string.
    #[must_use]
    pub fn ts(&self) -> Option<&str> {
        self.meta.get("ts")?.as_str()
    }
}

/// What a new record says, before it has an id.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What happened.
    pub record_type: RecordType,
    /// Who caused it.
    pub principal: Principal,
    /// Free labels.
    pub taint: Vec<String>,
    /// Ids of the records it came from.
    pub parents: Vec<Digest>,
    /// Must hold `ts` as an RFC 3339 time; any zone and fraction are folded away.
    pub meta: Map<String, Value>,
    /// The content, or the name of the blob that holds it.
    pub payload: Payload,
}

impl Draft {
    /// Gives the record its normal time and its id. Code points that are not known are replaced, and
    /// text is brought into Unicode normal form C, in which it is hashed.
    ///
    /// # Errors
    /// If `meta.ts` is not a time, if a double would not survive being stored and read again, if a
    /// value is nested deeper than a reader follows, or if two keys have one normal form.
    pub fn seal(mut self) -> Result<Record, DraftError> {
        let Some(Value::String(ts)) = self.meta.get_mut("ts") else {
            return Err(DraftError::TimeMissing);
        };
        match timestamp::normalize(ts).filter(|normal| timestamp::has_shape(normal)) {
            Some(normal) => *ts = normal,
            None => return Err(DraftError::TimeUnreadable { ts: ts.clone() }),
        }
        let deep = !map_is_within(&self.meta, DEPTH_MAX)
            || !self.payload.inline().is_none_or(|it| is_within(it, DEPTH_MAX));
        if deep {
            return Err(DraftError::TooDeep);
        }
        normal::draft(&mut self)?;
        let meta = Value::Object(self.meta);
        if ![Some(&meta), self.payload.inline()].into_iter().flatten().all(is_stable) {
            return Err(DraftError::UnstableNumber);
        }
        let mut record = Record {
            record_id: String::new(),
            record_type: self.record_type,
            principal: self.principal,
            taint: self.taint,
            parents: self.parents.iter().map(Digest::to_string).collect(),
            meta,
            payload: self.payload,
            schema: Some(SCHEMA.to_owned()),
            extensions: None,
        };
        record.record_id = record.compute_id().to_string();
        Ok(record)
    }
}

/// Why a draft cannot become a record.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// No `meta.ts`.
    #[error("`meta` must hold `ts`, the time as RFC 3339 text")]
    TimeMissing,
    /// `meta.ts` is no time.
    #[error("`meta.ts` is `{ts}`, which is not an RFC 3339 time such as `2026-02-15T00:00:00Z`")]
    TimeUnreadable {
        /// What stood there.
        ts: String,
    },
    /// Upstream's number parser would read it back as another number.
    #[error("a number changes when it is stored and read again; write it as text or as an integer")]
    UnstableNumber,
    /// Two keys of one object that cannot be told apart once they are in normal form C.
    #[error("the key `{key}` stands twice in one object, spelled in two ways; name one otherwise")]
    KeysAlike {
        /// The key in normal form.
        key: String,
    },
    /// A reader would refuse the line.
    #[error("a value is nested more than {DEPTH_MAX} deep; write it as text or as a blob")]
    TooDeep,
}

/// serde_json reads 127 levels; two of them are the record and its payload.
const DEPTH_MAX: usize = 125;

/// Where the content of a record is.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Payload {
    /// In the record.
    Inline {
        /// Any JSON value.
        #[serde(serialize_with = "sorted::serialize")]
        inline: Value,
    },
    /// In a file named by its hash.
    Blob {
        /// 64 hex digits.
        blob: String,
        /// A media type; nothing checks it.
        mime: String,
        /// Length of the blob in bytes.
        size: u64,
    },
}

impl Payload {
    /// The content, if it is in the record.
    #[must_use]
    pub fn inline(&self) -> Option<&Value> {
        match self {
            Self::Inline { inline } => Some(inline),
            Self::Blob { .. } => None,
        }
    }
}

/// Does upstream's number parser read back every double that is printed for it?
pub(crate) fn is_stable(value: &Value) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => {
            serde_json::from_str::<Value>(&number.to_string()).is_ok_and(|again| again == *value)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => items.iter().all(is_stable),
        Value::Object(map) => map.values().all(is_stable),
    }
}

fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => depth > 0 && items.iter().all(|it| is_within(it, depth - 1)),
        Value::Object(map) => map_is_within(map, depth),
    }
}

fn map_is_within(map: &Map<String, Value>, depth: usize) -> bool {
    depth > 0 && map.values().all(|it| is_within(it, depth - 1))
}

fn write_meta(out: &mut Vec<u8>, meta: &Value) {
    let normal_ts = meta.get("ts").and_then(Value::as_str).and_then(timestamp::normalize);
    match (meta, normal_ts) {
        (Value::Object(map), Some(ts)) if map.get("ts").and_then(Value::as_str) != Some(&*ts) => {
            let mut map = map.clone();
            map.insert("ts".to_owned(), Value::String(ts));
            canon::write_value(out, &Value::Object(map));
        }
        _ => canon::write_value(out, meta),
    }
}

fn write_payload(out: &mut Vec<u8>, payload: &Payload) {
    match payload {
        Payload::Inline { inline } => {
            out.extend_from_slice(b"{\"inline\":");
            canon::write_value(out, inline);
        }
        Payload::Blob { blob, mime, size } => {
            out.extend_from_slice(b"{\"blob\":");
            canon::write_string(out, blob);
            out.extend_from_slice(b",\"mime\":");
            canon::write_string(out, mime);
            out.extend_from_slice(b",\"size\":");
            out.extend_from_slice(size.to_string().as_bytes());
        }
    }
    out.push(b'}');
}

/// A closed list of names, the same in Rust, in JSON and on the command line.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every one, in the order of the format's description.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name as it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Reads exactly one of the names.
            #[must_use]
            pub fn from_name(name: &[u8]) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str().as_bytes() == name)
            }
        }
    };
}

pub(crate) use names;

names! {
    /// What a record is about.
    RecordType {
        /// A session began.
        SessionStart = "SessionStart",
        /// Something was said.
        SessionMessage = "SessionMessage",
        /// A tool was called.
        ToolCall = "ToolCall",
        /// A tool answered.
        ToolResult = "ToolResult",
        /// A file was read.
        FileRead = "FileRead",
        /// A file was written.
        FileWrite = "FileWrite",
        /// A file was deleted.
        FileDelete = "FileDelete",
        /// A change of what controls the agent was asked for.
        ControlPlaneChangeRequest = "ControlPlaneChangeRequest",
        /// A change of durable memory was asked for.
        MemoryCommitRequest = "MemoryCommitRequest",
        /// Something was allowed or refused.
        GuardDecision = "GuardDecision",
        /// The state was kept.
        Snapshot = "Snapshot",
        /// The state was put back.
        Rollback = "Rollback",
    }
}

names! {
    /// Who caused a record.
    Principal {
        /// The person.
        User = "USER",
        /// The host itself.
        Sys = "SYS",
        /// A web page.
        Web = "WEB",
        /// A tool.
        Tool = "TOOL",
        /// A skill or plug-in.
        Skill = "SKILL",
        /// A message channel.
        Channel = "CHANNEL",
        /// Anything else outside.
        External = "EXTERNAL",
    }
}
