//! Values as columns hold them. What cannot be read back was changed by somebody else: an error,
//! never a guess.

use aegx::Digest;
use model::ipc::Uuid;
use model::{AgentId, SessionId, Source, Taint, TaintTag, UserId};
use rusqlite::Row;

use crate::error::Broken;

/// The columns of a tag, in the order of [`tag`] and [`tag_values`].
pub(super) const TAG: &str = "tag_source, tag_taint, tag_origin, tag_time, tag_record";

/// The tag in the five columns from `first` on; none if they are empty.
pub(super) fn tag(row: &Row<'_>, first: usize) -> Result<Option<TaintTag>, Broken> {
    let Some(source) = row.get::<_, Option<String>>(first)? else { return Ok(None) };
    Ok(Some(TaintTag {
        source: Source::parse(&source).map_err(|_| unreadable("source", &source))?,
        taint: taint(row.get(first + 1)?)?,
        origin: row.get(first + 2)?,
        unix_seconds: row.get(first + 3)?,
        record: row.get(first + 4)?,
    }))
}

/// What the five columns of a tag hold.
pub(super) type TagValues<'a> =
    (Option<&'static str>, Option<u32>, Option<&'a str>, Option<i64>, Option<&'a str>);

/// A tag for its five columns.
pub(super) fn tag_values(tag: Option<&TaintTag>) -> TagValues<'_> {
    let Some(tag) = tag else { return (None, None, None, None, None) };
    (
        Some(tag.source.as_str()),
        Some(tag.taint.bits()),
        Some(&tag.origin),
        Some(tag.unix_seconds),
        Some(&tag.record),
    )
}

/// Counts saturate: SQLite has no unsigned 64-bit numbers.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count as it was kept.
pub(super) fn unsigned(column: i64) -> Result<u64, Broken> {
    u64::try_from(column).map_err(|_| unreadable("count", &column))
}

/// Taint as it was kept.
pub(super) fn taint(column: i64) -> Result<Taint, Broken> {
    let bits = u32::try_from(column).ok();
    bits.and_then(Taint::from_bits).ok_or_else(|| unreadable("taint", &column))
}

/// A digest that was kept as bytes.
pub(super) fn digest(column: &[u8]) -> Result<Digest, Broken> {
    let bytes = column.try_into().map_err(|_| unreadable("digest of bytes", &column.len()))?;
    Ok(Digest::from_bytes(bytes))
}

/// A user as it was kept.
pub(super) fn user(column: &str) -> Result<UserId, Broken> {
    UserId::parse(column).map_err(|_| unreadable("user", &column))
}

/// An agent as it was kept.
pub(super) fn agent(column: &str) -> Result<AgentId, Broken> {
    AgentId::parse(column).map_err(|_| unreadable("agent", &column))
}

/// A session as it was kept.
pub(super) fn session(column: &str) -> Result<SessionId, Broken> {
    SessionId::parse(column).map_err(|_| unreadable("session", &column))
}

/// A UUID as it was kept.
pub(super) fn uuid(column: &str) -> Result<Uuid, Broken> {
    Uuid::parse(column).ok_or_else(|| unreadable("UUID", &column))
}

/// A new UUID.
pub(super) fn new_uuid() -> Result<Uuid, Broken> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Broken::new(format_args!("no random numbers: {error}")))?;
    Ok(Uuid::from_random(bytes))
}

/// A column that holds what nobody here wrote.
pub(super) fn unreadable(what: &str, found: &dyn std::fmt::Display) -> Broken {
    Broken::new(format_args!("it holds the {what} `{found}`, which nobody here wrote"))
}
