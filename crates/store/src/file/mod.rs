//! Memory in one private file: a log of JSON lines, with all rows in memory.
//!
//! It keeps rows and the labels of their content. Sessions, turns and what the host knows of content in
//! general stay where the rest of the state is.

mod event;
mod log;
mod numbers;
mod table;
mod words;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aegx::Digest;
use evidence::{Durability, Receipt};
use model::ipc::Uuid;
use model::{SessionId, Taint, TaintTag, UserId};
use monitor::Labels;
use monitor::taint::worse;

use self::event::Event;
use self::log::Log;
use self::table::Table;
use crate::content::Fingerprint;
use crate::error::{Broken, OpenError};
use crate::memory::{MEMORY_ROWS_PER_USER_MAX, MemoryError, MemoryRow, NewMemory, Rows, Written};
use crate::oversight::{ClearError, Clearing, REASON_BYTES_MAX, Subject, Word};
use crate::turns::{Turn, TurnError, Turns};

/// What a line costs beside the content of a row, at most, and twice the content for its escapes.
const LINE_BYTES: usize = 4096;

/// What the rest of the state knows: labels of content in general, and turns of conversations.
pub trait Beside: Labels + Turns {
    /// Takes away what is known of contents in general and of this user's, and notes on whose word. Whole or not at
    /// all.
    ///
    /// # Errors
    /// If it may not be durable.
    fn forget_content(
        &self,
        user: &UserId,
        contents: [Digest; 2],
        clearing: &Clearing,
    ) -> Result<(), Broken>;
}

/// Memory in one private file. One process has it open at a time.
pub struct FileMemory {
    state: Mutex<State>,
    beside: Arc<dyn Beside>,
}

struct State {
    log: Log,
    table: Table,
}

impl FileMemory {
    /// Opens the memory in the directory `dir`, or makes it.
    ///
    /// # Errors
    /// If it cannot be opened, is damaged, or another process has it open; then nothing was changed.
    pub fn open(dir: &Path, beside: Arc<dyn Beside>) -> Result<Self, OpenError> {
        Self::open_with(dir, beside, Durability::Synced)
    }

    /// As [`FileMemory::open`]; with [`Durability::DangerouslyUnsynced`] a power cut may cost what was
    /// acknowledged: for benchmarks only.
    ///
    /// # Errors
    /// As [`FileMemory::open`].
    pub fn open_with(
        dir: &Path,
        beside: Arc<dyn Beside>,
        durability: Durability,
    ) -> Result<Self, OpenError> {
        let mut table = Table::default();
        let (mut log, lines) = Log::open(dir, durability, &mut |event| table.apply(event))?;
        log.compact(lines, &table.events())?;
        Ok(Self { state: Mutex::new(State { log, table }), beside })
    }

    /// One row, whoever it belongs to.
    ///
    /// # Errors
    /// If the store does not work.
    pub fn row(&self, id: Uuid) -> Result<Option<MemoryRow>, Broken> {
        let found = self.state().table.row(id);
        found.map(|it| self.with_labels(it)).transpose()
    }

    /// The newest tainted rows, at most `limit`, newest first.
    #[must_use]
    pub fn tainted(&self, limit: u32) -> Vec<MemoryRow> {
        self.state().table.tainted(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// Clears a row, its equals and the labels of its content, on a person's word. The receipt proves
    /// that their word was recorded first.
    ///
    /// # Errors
    /// If there is no such row, or it may not be durable.
    pub fn clear(&self, id: Uuid, word: &Word, receipt: &Receipt) -> Result<Clearing, ClearError> {
        self.clear_on(id, word, receipt.id().to_string())
    }

    fn clear_on(&self, id: Uuid, word: &Word, record: String) -> Result<Clearing, ClearError> {
        let bytes = word.reason.len();
        if bytes > REASON_BYTES_MAX || word.reason.trim().is_empty() {
            return Err(ClearError::Reason { bytes });
        }
        let subject = Subject::Memory(id);
        let Some(row) = self.row(id)? else { return Err(ClearError::NotFound { subject }) };
        let contents = Fingerprint::of(row.content.as_bytes()).both();
        let user = row.user.clone();
        self.state().change(vec![Event::Cleared { user: row.user, contents }])?;
        let taint = row.tag.map_or(Taint::NONE, |it| it.taint);
        let clearing = Clearing { subject, word: word.clone(), taint, record };
        // The last of both: until then it counts as tainted, and can be cleared again.
        self.beside.forget_content(&user, contents, &clearing)?;
        Ok(clearing)
    }

    /// The row with what the host knows of its content in general.
    fn with_labels(&self, mut row: MemoryRow) -> Result<MemoryRow, Broken> {
        let general = self.general(&Fingerprint::of(row.content.as_bytes()).both())?;
        row.tag = worse(row.tag.as_ref(), general.as_ref());
        Ok(row)
    }

    fn general(&self, contents: &[Digest]) -> Result<Option<TaintTag>, Broken> {
        self.beside.label_of(contents).map_err(Broken::new)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows for FileMemory {
    fn keep(&self, new: NewMemory) -> Result<Written, MemoryError> {
        let print = Fingerprint::of(new.content.as_bytes());
        let general = self.general(&print.both())?;
        let mut state = self.state();
        let known = state.table.label(&new.user, &print.both());
        let tag = worse(new.tag.as_ref(), known.as_ref());
        let tag = worse(tag.as_ref(), general.as_ref());
        let same = state.table.same(&new.user, print.exact(), &new.scope, new.kind);
        let count = i64::try_from(state.table.count(&new.user)).unwrap_or(i64::MAX);
        let room = state.log.has_room(new.content.len().saturating_mul(2) + LINE_BYTES);
        if same.is_none() && (count >= MEMORY_ROWS_PER_USER_MAX || !room) {
            return Err(MemoryError::Full);
        }
        let mut events = Vec::new();
        if let Some(tag) = tag.as_ref().filter(|it| known.as_ref() != Some(it)) {
            let (user, content) = (new.user.clone(), print.seen());
            events.push(Event::Labelled { user, content, tag: tag.clone() });
        }
        let id = match same {
            Some(id) => id,
            None => {
                let id = new_uuid()?;
                events.push(Event::Written(Box::new(row(id, new))));
                id
            }
        };
        state.change(events)?;
        Ok(Written { id, tag, is_duplicate: same.is_some() })
    }

    fn find(
        &self,
        user: &UserId,
        scope: &str,
        words: &str,
        limit: u64,
    ) -> Result<Vec<MemoryRow>, MemoryError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let state = self.state();
        let found = if words.trim().is_empty() {
            state.table.newest(user, scope, limit)
        } else {
            state.table.best(user, scope, words, limit)
        };
        drop(state);
        let found: Result<Vec<_>, Broken> =
            found.into_iter().map(|it| self.with_labels(it)).collect();
        Ok(found?)
    }

    fn read_row(&self, user: &UserId, id: Uuid) -> Result<MemoryRow, MemoryError> {
        let found = self.state().table.row(id).filter(|it| it.user == *user);
        let found = found.ok_or(MemoryError::NotFound { id })?;
        Ok(self.with_labels(found)?)
    }

    fn delete_row(&self, user: &UserId, id: Uuid) -> Result<(), MemoryError> {
        let mut state = self.state();
        if state.table.row(id).is_none_or(|it| it.user != *user) {
            return Err(MemoryError::NotFound { id });
        }
        Ok(state.change(vec![Event::Deleted { id }])?)
    }

    fn page(
        &self,
        user: &UserId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<(i64, MemoryRow)>, MemoryError> {
        let found = self.state().table.after(user, after, usize::try_from(limit).unwrap_or(0));
        let labelled = found.into_iter().map(|(n, it)| Ok((n, self.with_labels(it)?)));
        Ok(labelled.collect::<Result<_, Broken>>()?)
    }

    fn numbers(&self, user: &UserId, scope: &str, limit: u64) -> Result<Vec<i64>, MemoryError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(self.state().table.numbers(user, scope, limit))
    }

    fn delete_all(&self, user: &UserId) -> Result<u64, MemoryError> {
        let mut state = self.state();
        let ids = state.table.ids(user);
        let gone = ids.len();
        if gone > 0 {
            state.change(ids.into_iter().map(|id| Event::Deleted { id }).collect())?;
            // What is only said to be deleted still stands in the log.
            let State { log, table } = &mut *state;
            log.write_anew(&table.events()).map_err(Broken::new)?;
        }
        Ok(gone as u64)
    }

    fn wipe_beside(&self) -> Result<bool, MemoryError> {
        let mut state = self.state();
        let State { log, table } = &mut *state;
        log.write_anew(&table.events()).map_err(Broken::new)?;
        Ok(true)
    }

    fn known(&self, row: &MemoryRow) -> Result<Option<TaintTag>, MemoryError> {
        let contents = Fingerprint::of(row.content.as_bytes()).both();
        let known = self.state().table.label(&row.user, &contents);
        Ok(worse(known.as_ref(), self.general(&contents)?.as_ref()))
    }

    fn spoken_in(&self, session: &SessionId) -> Result<Vec<Turn>, MemoryError> {
        match self.beside.turns(session, u32::MAX) {
            Ok(kept) => Ok(kept),
            Err(TurnError::Unknown { .. }) => Ok(Vec::new()),
            Err(error) => Err(Broken::new(error).into()),
        }
    }
}

/// One row in `dir` as it is now, to look at, with the labels that `beside` knows of its content.
///
/// # Errors
/// If it is damaged or cannot be read.
pub fn look_at(dir: &Path, beside: &dyn Labels, id: Uuid) -> Result<Option<MemoryRow>, OpenError> {
    let Some(mut row) = table(dir)?.row(id) else { return Ok(None) };
    let contents = Fingerprint::of(row.content.as_bytes()).both();
    let general = beside.label_of(&contents);
    let general = general.map_err(|error| OpenError::io(dir, std::io::Error::other(error)))?;
    row.tag = worse(row.tag.as_ref(), general.as_ref());
    Ok(Some(row))
}

/// The newest tainted rows in `dir` as they are now, to look at; none if there is no memory.
///
/// # Errors
/// If it is damaged or cannot be read.
pub fn look_at_tainted(dir: &Path, limit: u32) -> Result<Vec<MemoryRow>, OpenError> {
    Ok(table(dir)?.tainted(usize::try_from(limit).unwrap_or(usize::MAX)))
}

/// Empty if there is no memory.
fn table(dir: &Path) -> Result<Table, OpenError> {
    let mut table = Table::default();
    Log::look(dir, &mut |event| table.apply(event))?;
    Ok(table)
}

impl State {
    /// Durable first, then seen.
    fn change(&mut self, events: Vec<Event>) -> Result<(), Broken> {
        if events.is_empty() {
            return Ok(());
        }
        self.log.append(&events)?;
        events.into_iter().for_each(|it| self.table.apply(it));
        Ok(())
    }
}

fn row(id: Uuid, new: NewMemory) -> MemoryRow {
    MemoryRow {
        id,
        user: new.user,
        agent: new.agent,
        scope: new.scope,
        kind: new.kind,
        content: new.content,
        source: new.source,
        related_id: new.related_id,
        created: new.created,
        record: new.record.to_string(),
        tag: None,
    }
}

fn new_uuid() -> Result<Uuid, Broken> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Broken::new(format_args!("no random numbers: {error}")))?;
    Ok(Uuid::from_random(bytes))
}

#[cfg(test)]
mod tests;
