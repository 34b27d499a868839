//! A record on its way into the journal: checked, timed, numbered, named by its hash.

use aegx::record::{Draft, DraftError, Payload, Principal, RecordType};
use aegx::seal::{Parts, seal_plain};
use aegx::{Digest, Sorted, timestamp};
use model::{AgentId, Kind, SessionId, Taint};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::segment::OpenMark;

/// What is to be recorded. Time, number and id are the journal's to give.
#[derive(Clone, Debug)]
pub struct NewRecord {
    /// What happened.
    pub record_type: RecordType,
    /// What happened, finer.
    pub kind: Kind,
    /// Who caused it.
    pub principal: Principal,
    /// Where its content has been.
    pub taint: Taint,
    /// Records that it came from.
    pub parents: Vec<Digest>,
    /// The session, if it is of one.
    pub session: Option<SessionId>,
    /// The agent, if it is of one.
    pub agent: Option<AgentId>,
    /// Further facts for queries; no key that the journal itself uses.
    pub meta: Map<String, Value>,
    /// The content.
    pub content: Content,
}

/// The content of a record.
#[derive(Clone, Debug)]
pub enum Content {
    /// A value, kept in the record unless it is long.
    Json(Value),
    /// The same as text, for who records much. See [`Content::text`].
    Text(Vec<u8>),
    /// Bytes, kept beside the record.
    Bytes {
        /// Their media type.
        mime: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl From<Value> for Content {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl Content {
    /// What `value` prints. It is stored as it stands if its keys are sorted, its numbers are integers
    /// and its texts are in normal form; otherwise it is brought into that form, which takes longer.
    ///
    /// # Errors
    /// If it cannot be printed as JSON.
    pub fn text(value: &impl Serialize) -> Result<Self, RecordError> {
        let mut text = Vec::with_capacity(CONTENT_BYTES);
        serde_json::to_writer(&mut text, value)?;
        Ok(Self::Text(text))
    }
}

impl NewRecord {
    /// A record about the host itself.
    #[must_use]
    pub fn of_host(record_type: RecordType, kind: Kind, content: Value) -> Self {
        Self {
            record_type,
            kind,
            principal: Principal::Sys,
            taint: Taint::NONE,
            parents: Vec::new(),
            session: None,
            agent: None,
            meta: Map::new(),
            content: Content::Json(content),
        }
    }
}

/// Which part of an entry a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It stands alone.
    Single,
    /// It opens an entry; the entry's number is the record's own.
    Open,
    /// It belongs to the entry that record `entry` opened.
    Step { entry: u64 },
    /// It closes that entry.
    Close { entry: u64 },
}

/// A record ready to be written.
pub(crate) struct Prepared {
    /// Its stored line, without newline.
    pub(crate) line: Vec<u8>,
    pub(crate) facts: Facts,
}

/// What the writer needs to know of a record besides its line.
pub(crate) struct Facts {
    pub(crate) id: Digest,
    pub(crate) ts: [u8; TS_BYTES],
    /// What it does to the list of open entries.
    pub(crate) entry: EntryChange,
}

/// What a record does to the list of open entries.
pub(crate) enum EntryChange {
    None,
    Opens(Box<OpenMark>),
    Closes(u64),
}

/// Length of a normal time.
pub(crate) const TS_BYTES: usize = 20;

/// Content that must be on disk before the record that names it.
pub(crate) struct BlobToWrite {
    pub(crate) name: Digest,
    pub(crate) bytes: Vec<u8>,
}

/// Why something cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Doubles do not print alike everywhere.
    #[error("a record holds integers and text, not the double {0}; write it as text")]
    Double(String),
    /// A key of `meta` that means something to the journal.
    #[error("`{0}` in `meta` is set by the journal")]
    ReservedKey(String),
    /// Nested deeper than can be read back.
    #[error("nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// The line would be too long even without its content.
    #[error("the record has {bytes} bytes, at most {LINE_BYTES_MAX} fit")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The content is too long.
    #[error("the content has {bytes} bytes, at most {CONTENT_BYTES_MAX} fit")]
    ContentTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A parent list that nobody could follow.
    #[error("{count} parents, at most {PARENTS_MAX}")]
    TooManyParents {
        /// How many.
        count: usize,
    },
    /// The clock is so wrong that its time cannot be written.
    #[error("the clock says {unix_seconds} seconds since 1970, which no record can hold")]
    Time {
        /// What the clock says.
        unix_seconds: i64,
    },
    /// Not a record.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// Not JSON.
    #[error("cannot print as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Longer content is kept beside the record.
pub const INLINE_BYTES_MAX: usize = 4096;
/// The longest content.
pub(crate) const CONTENT_BYTES_MAX: usize = 256 << 20;
/// The longest line of a record.
pub(crate) const LINE_BYTES_MAX: usize = 256 << 10;
/// The deepest nesting of `meta` and of content; half of what a reader takes.
pub(crate) const DEPTH_MAX: usize = 64;
/// The most parents.
pub(crate) const PARENTS_MAX: usize = 1024;

/// What the journal sets, and `withheld`, which an export sets.
const RESERVED: [&str; 8] = ["agent", "entry", "kind", "phase", "seq", "session", "ts", "withheld"];
/// The last second that can be written with a year of four digits.
const UNIX_SECONDS_MAX: i64 = 253_402_300_799;

/// Checks a record and gives it its time, number and id.
pub(crate) fn prepare(
    new: NewRecord,
    phase: Phase,
    seq: u64,
    unix_seconds: i64,
) -> Result<(Prepared, Option<BlobToWrite>), RecordError> {
    // Of several the first by name, whatever order they are kept in.
    if let Some(key) = new.meta.keys().filter(|key| RESERVED.contains(&key.as_str())).min() {
        return Err(RecordError::ReservedKey(key.clone()));
    }
    if new.parents.len() > PARENTS_MAX {
        return Err(RecordError::TooManyParents { count: new.parents.len() });
    }
    if !(0..=UNIX_SECONDS_MAX).contains(&unix_seconds) {
        return Err(RecordError::Time { unix_seconds });
    }
    let mut new = new;
    new.parents.sort_unstable();
    new.parents.dedup();
    let ts = timestamp::from_unix(unix_seconds);
    let meta = write_meta(&new, phase, seq, &ts)?;
    let content = std::mem::replace(&mut new.content, Content::Json(Value::Null));
    let (place, blob) = place(content)?;
    let (id, line) = match seal_short(&new, &meta, &place) {
        Some(sealed) => sealed,
        None => seal_long(&new, &meta, place)?,
    };
    if line.len() > LINE_BYTES_MAX {
        return Err(RecordError::TooLong { bytes: line.len() });
    }
    let name = |it: &str| it.to_owned();
    let entry = match phase {
        Phase::Single | Phase::Step { .. } => EntryChange::None,
        Phase::Open => EntryChange::Opens(Box::new(OpenMark {
            entry: seq,
            id: id.to_string(),
            session: new.session.as_ref().map(SessionId::as_str).map(name),
            agent: new.agent.as_ref().map(AgentId::as_str).map(name),
        })),
        Phase::Close { entry } => EntryChange::Closes(entry),
    };
    let ts = ts.as_bytes().try_into().map_err(|_| DraftError::TimeUnreadable { ts: ts.clone() })?;
    Ok((Prepared { line, facts: Facts { id, ts, entry } }, blob))
}

/// `meta` as it is stored: what the caller gave and what the journal adds, keys sorted.
fn write_meta(new: &NewRecord, phase: Phase, seq: u64, ts: &str) -> Result<Vec<u8>, RecordError> {
    let mark = match phase {
        Phase::Single => None,
        Phase::Open => Some((seq, "open")),
        Phase::Step { entry } => Some((entry, "step")),
        Phase::Close { entry } => Some((entry, "close")),
    };
    let mut parts: Vec<(&str, Part<'_>)> = Vec::with_capacity(RESERVED.len() + new.meta.len());
    let session = new.session.as_ref().map(SessionId::as_str);
    let agent = new.agent.as_ref().map(AgentId::as_str);
    parts.extend(agent.map(|it| ("agent", Part::Name(it))));
    parts.extend(mark.map(|(entry, _)| ("entry", Part::Number(entry))));
    parts.push(("kind", Part::Name(new.kind.as_str())));
    parts.extend(mark.map(|(_, phase)| ("phase", Part::Name(phase))));
    parts.push(("seq", Part::Number(seq)));
    parts.extend(session.map(|it| ("session", Part::Name(it))));
    parts.push(("ts", Part::Name(ts)));
    // The depth of `meta` itself counts too.
    let below = DEPTH_MAX - 1;
    new.meta.values().try_for_each(|it| check_value(it, below))?;
    parts.extend(new.meta.iter().map(|(key, value)| (key.as_str(), Part::Value(value))));
    parts.sort_unstable_by_key(|(key, _)| *key);
    let mut out = Vec::with_capacity(META_BYTES);
    for (key, part) in parts {
        out.push(if out.is_empty() { b'{' } else { b',' });
        serde_json::to_writer(&mut out, key)?;
        out.push(b':');
        match part {
            Part::Name(name) => {
                out.push(b'"');
                out.extend_from_slice(name.as_bytes());
                out.push(b'"');
            }
            Part::Number(number) => serde_json::to_writer(&mut out, &number)?,
            Part::Value(value) => serde_json::to_writer(&mut out, &Sorted(value))?,
        }
    }
    out.push(b'}');
    Ok(out)
}

/// A value of `meta`.
enum Part<'a> {
    /// Of a type that is plain, so that it needs no escaping.
    Name(&'a str),
    Number(u64),
    Value(&'a Value),
}

/// Longer than `meta` mostly is.
const META_BYTES: usize = 256;
/// Longer than content mostly is.
const CONTENT_BYTES: usize = 512;

fn seal_short(new: &NewRecord, meta: &[u8], place: &Place) -> Option<(Digest, Vec<u8>)> {
    let Place::Inline(text) = place else { return None };
    let taint: Vec<_> = new.taint.iter_names().collect();
    seal_plain(&Parts {
        record_type: new.record_type,
        principal: new.principal,
        taint: &taint,
        parents: &new.parents,
        meta,
        inline: text,
    })
}

fn seal_long(new: &NewRecord, meta: &[u8], place: Place) -> Result<(Digest, Vec<u8>), RecordError> {
    let payload = match place {
        Place::Inline(text) => {
            let inline: Value = serde_json::from_slice(&text)?;
            check_value(&inline, DEPTH_MAX)?;
            Payload::Inline { inline }
        }
        Place::Blob(payload) => payload,
    };
    let draft = Draft {
        record_type: new.record_type,
        principal: new.principal,
        taint: new.taint.iter_names().map(str::to_owned).collect(),
        parents: new.parents.clone(),
        meta: serde_json::from_slice(meta)?,
        payload,
    };
    let record = draft.seal()?;
    Ok((record.compute_id(), record.to_line()?.into_bytes()))
}

/// Where the content goes.
enum Place {
    Inline(Vec<u8>),
    Blob(Payload),
}

/// Decides where the content goes.
fn place(content: Content) -> Result<(Place, Option<BlobToWrite>), RecordError> {
    let (mime, bytes) = match content {
        // If it is not in its one form, the long way brings it there.
        Content::Text(text) if text.len() <= INLINE_BYTES_MAX => {
            return Ok((Place::Inline(text), None));
        }
        Content::Text(text) => return place(Content::Json(serde_json::from_slice(&text)?)),
        Content::Json(value) => {
            check_value(&value, DEPTH_MAX)?;
            let mut text = Vec::with_capacity(CONTENT_BYTES);
            serde_json::to_writer(&mut text, &Sorted(&value))?;
            if text.len() <= INLINE_BYTES_MAX {
                return Ok((Place::Inline(text), None));
            }
            ("application/json".to_owned(), text)
        }
        Content::Bytes { mime, bytes } => (mime, bytes),
    };
    if bytes.len() > CONTENT_BYTES_MAX {
        return Err(RecordError::ContentTooLong { bytes: bytes.len() });
    }
    let name = Digest::of(&bytes);
    let payload = Payload::Blob { blob: name.to_string(), mime, size: bytes.len() as u64 };
    Ok((Place::Blob(payload), Some(BlobToWrite { name, bytes })))
}

fn check_value(value: &Value, depth: usize) -> Result<(), RecordError> {
    let below = || depth.checked_sub(1).ok_or(RecordError::TooDeep);
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) if number.is_f64() => Err(RecordError::Double(number.to_string())),
        Value::Number(_) => Ok(()),
        Value::Array(items) => {
            let below = below()?;
            items.iter().try_for_each(|item| check_value(item, below))
        }
        Value::Object(map) => {
            let below = below()?;
            map.values().try_for_each(|item| check_value(item, below))
        }
    }
}
