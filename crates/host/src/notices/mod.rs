//! Notifications: what a person, or the agent on their behalf, should know. They are a view of the journal: whatever was stopped,
//! withheld, refused or missed has its record, and so its notification; none can be lost, changed or forged apart from it.
//!
//! What was drained is remembered as a place in the journal, in a private file of the state directory.

mod cursor;
mod read;

pub use cursor::{CursorError, Drained};
pub use read::of;

use std::ops::ControlFlow;

use aegx::{Digest, Record};
use evidence::{Position, ReadError, Reader};
use serde_json::{Value, json};

/// Records that are looked through for notifications at least, the newest; those of whole segments.
pub const RECORDS_MAX: u64 = 200_000;
/// Notifications that are given at once.
pub const NOTICES_MAX: usize = 1_000;

/// How much a notification matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Good to know.
    Info,
    /// Somebody is asked, or should look.
    Warn,
    /// Something was stopped.
    Error,
    /// Something looks like an attack, or protects no longer.
    Critical,
}

impl Level {
    /// All of them, the mildest first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Warn, Self::Error, Self::Critical];

    /// Returns the name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }

    /// Returns the level of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// One notification. Its texts may hold what others wrote: whoever shows them escapes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The place of its record in the journal.
    pub idx: u64,
    /// When, as the record says.
    pub at: String,
    /// How much it matters.
    pub level: Level,
    /// The part that it is about: `CIO`, `CPI`, `MI`, `FS`, `NET`, `TOOL`, `DOOR`, `SYS`.
    pub source: &'static str,
    /// What happened, in one sentence.
    pub message: String,
    /// The record of it.
    pub record: Digest,
    /// The session that it is about.
    pub session: Option<String>,
    /// What can be done about it.
    pub action: Option<String>,
}

impl Notice {
    /// Returns it for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "idx": self.idx,
            "at": self.at,
            "level": self.level.as_str(),
            "source": self.source,
            "message": self.message,
            "record": self.record.to_string(),
            "session": self.session,
            "suggested_action": self.action,
        })
    }
}

/// What there is to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// The newest ones, oldest first.
    pub found: Vec<Notice>,
    /// Milder and older ones that there is no room for.
    pub left_out: u64,
    /// Older records that were not looked at.
    pub not_looked_at: u64,
    /// The place behind the last record that was looked at.
    pub end: u64,
}

/// Returns the notifications of records from `from` on that matter at least so much. Where there are too many, the mildest
/// and oldest go first: whoever floods the journal does not push out what matters.
///
/// # Errors
/// If the journal cannot be read.
pub fn peek(reader: &Reader, from: u64, level: Level) -> Result<Notices, ReadError> {
    let mut all = Notices { end: from, ..Notices::default() };
    let (mut at, skipped) = start(reader, from)?;
    all.not_looked_at = skipped;
    at.idx = 0;
    reader.read(at, |entry| {
        if entry.idx < from {
            return ControlFlow::<()>::Continue(());
        }
        all.end = entry.idx.saturating_add(1);
        let Ok(record) = serde_json::from_slice::<Record>(entry.record) else {
            return ControlFlow::Continue(());
        };
        // Content that cannot be read leaves what the record itself says.
        let content = reader.content(&record.payload).unwrap_or_default();
        let notice = of(entry.idx, entry.id, &record, &content).filter(|it| it.level >= level);
        all.add(notice);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

impl Notices {
    fn add(&mut self, notice: Option<Notice>) {
        self.found.extend(notice);
        if self.found.len() > NOTICES_MAX {
            let mildest = self.found.iter().map(|it| it.level).min();
            let first = self.found.iter().position(|it| Some(it.level) == mildest);
            self.found.remove(first.unwrap_or(0));
            self.left_out += 1;
        }
    }
}

/// The segment in which the record `from` lies, and how many records before the newest [`RECORDS_MAX`] are passed over.
fn start(reader: &Reader, from: u64) -> Result<(Position, u64), ReadError> {
    let mut newest = None;
    let segments = reader.segments()?;
    for segment in segments.iter().rev() {
        let at = Position { segment: *segment, offset: 0, idx: 0 };
        let (_, first) = reader.read(at, |entry| ControlFlow::Break(entry.idx))?;
        let Some(first) = first else { continue };
        let newest = *newest.get_or_insert(first);
        let is_far = newest.saturating_sub(first) >= RECORDS_MAX;
        if first <= from || is_far {
            return Ok((at, first.saturating_sub(from)));
        }
    }
    Ok((reader.start()?, 0))
}
