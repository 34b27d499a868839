//! Things to do, and notes of a session: rows of memory in parts of it that no message can name.
//!
//! INVARIANT (NothingLaunders): they are rows like any other. What a tainted session wrote carries its tag, whoever reads
//! it back, and equal content keeps its worst label.

use aegx::Digest;
use model::ipc::{
    MemoryKind, ScratchList, ScratchRead, ScratchWrite, TaskAdd, TaskClose, TaskEnd, TaskList, Uuid,
};
use model::{AgentId, SessionId, TaintTag, UserId};
use monitor::Permit;

use crate::memory::{MemoryError, MemoryRow, NewMemory, Rows, Written};

/// Keeps things to do for each user and agent, and notes for each session. Nobody reaches those of others.
pub trait Notes: Send + Sync {
    /// Notes something to do, with the tag of the session that says it.
    ///
    /// # Errors
    /// If it says nothing, there is too much to do, or the store does not work.
    fn add_task(&self, permit: Permit<TaskAdd>, now: i64) -> Result<Written, NoteError>;

    /// What there is to do, the newest first; then what was closed, if that is wanted.
    ///
    /// # Errors
    /// If the store does not work.
    fn tasks(&self, permit: Permit<TaskList>) -> Result<Vec<TaskRow>, NoteError>;

    /// Closes something to do. It keeps its words and their tag.
    ///
    /// # Errors
    /// If nothing of this name is to do, or the store does not work.
    fn close_task(&self, permit: Permit<TaskClose>, now: i64) -> Result<TaskRow, NoteError>;

    /// Keeps a note, in the place of an earlier one of that name, with the tag of the session.
    ///
    /// # Errors
    /// If there are too many, or the store does not work.
    fn write_note(&self, permit: Permit<ScratchWrite>, now: i64) -> Result<Written, NoteError>;

    /// One note.
    ///
    /// # Errors
    /// If the session has none of that name, or the store does not work.
    fn read_note(&self, permit: Permit<ScratchRead>) -> Result<NoteRow, NoteError>;

    /// All notes of the session, the newest first.
    ///
    /// # Errors
    /// If the store does not work.
    fn notes(&self, permit: Permit<ScratchList>) -> Result<Vec<NoteRow>, NoteError>;

    /// Takes the notes of a session away that is over and does not come back, and gives how many. Their labels stay.
    ///
    /// # Errors
    /// If the store does not work.
    fn forget_notes(&self, user: &UserId, session: &SessionId) -> Result<u64, NoteError>;
}

/// Something to do, or that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// Its name, which stays the same when it is closed.
    pub id: Uuid,
    /// What is to be done.
    pub text: String,
    /// What became of it; nothing yet if it is to be done.
    pub end: Option<TaskEnd>,
    /// When it was noted, or closed, in seconds since 1970.
    pub at: i64,
    /// Where its words have been; none if they are clean.
    pub tag: Option<TaintTag>,
}

/// A note of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteRow {
    /// Its name.
    pub name: String,
    /// What it says.
    pub content: String,
    /// When it was written, in seconds since 1970.
    pub at: i64,
    /// Where its content has been; none if it is clean.
    pub tag: Option<TaintTag>,
}

/// Why nothing was noted or found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// A task without words.
    #[error("a task says what is to be done")]
    Empty,
    /// As many things are to be done as may be.
    #[error("{TASKS_OPEN_MAX} things are to be done already: close some first")]
    TooManyTasks,
    /// None of that name is to be done.
    #[error("there is no open task `{id}`")]
    NoTask {
        /// What was asked for.
        id: Uuid,
    },
    /// As many notes are there as may be.
    #[error("this session has {NOTES_MAX} notes already: write over one of them")]
    TooManyNotes,
    /// None of that name is there.
    #[error("this session has no note `{name}`")]
    NoNote {
        /// What was asked for.
        name: String,
    },
    /// The memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// How many things one agent may have to do for one user.
pub const TASKS_OPEN_MAX: usize = 200;
/// How many closed tasks of each kind are kept.
pub const TASKS_CLOSED_MAX: usize = 100;
/// How many notes a session may have.
pub const NOTES_MAX: usize = 100;
/// How many notes a user may have in all sessions; beyond it those of the session go first whose last sign is the oldest.
pub const NOTES_PER_USER_MAX: usize = if cfg!(test) { 250 } else { 5000 };
/// Earlier notes of one name that are taken away at once; one is there, unless the host was ended between two steps.
const STALE_MAX: u64 = 10;

impl<T: Rows> Notes for T {
    fn add_task(&self, permit: Permit<TaskAdd>, now: i64) -> Result<Written, NoteError> {
        let scope = open(&permit.who().agent);
        let text = permit.effect().text.as_str().to_owned();
        let new = row(&permit, scope, text, now);
        drop(permit.spend());
        add(self, new)
    }

    fn tasks(&self, permit: Permit<TaskList>) -> Result<Vec<TaskRow>, NoteError> {
        let who = permit.who().clone();
        let all = permit.spend().all == Some(true);
        let found = self.find(&who.user, &open(&who.agent), "", as_limit(TASKS_OPEN_MAX))?;
        let mut tasks: Vec<TaskRow> = found.into_iter().map(|it| task(it, None)).collect();
        for end in ENDS.into_iter().filter(|_| all) {
            let scope = closed(&who.agent, end);
            let found = self.find(&who.user, &scope, "", as_limit(TASKS_CLOSED_MAX))?;
            tasks.extend(found.into_iter().map(|it| task(it, Some(end))));
        }
        Ok(tasks)
    }

    fn close_task(&self, permit: Permit<TaskClose>, now: i64) -> Result<TaskRow, NoteError> {
        let end = permit.effect().status.unwrap_or(TaskEnd::Done);
        let new = row(&permit, closed(&permit.who().agent, end), String::new(), now);
        let open = open(&permit.who().agent);
        let id = permit.spend().id;
        close(self, new, id, &open, end)
    }

    fn write_note(&self, permit: Permit<ScratchWrite>, now: i64) -> Result<Written, NoteError> {
        let all = of_session(&permit.who().session);
        let ScratchWrite { name, content, .. } = permit.effect();
        let scope = format!("{all}/{}", name.as_str());
        let new = row(&permit, scope, content.as_str().to_owned(), now);
        drop(permit.spend());
        write(self, new, &all)
    }

    fn read_note(&self, permit: Permit<ScratchRead>) -> Result<NoteRow, NoteError> {
        let who = permit.who().clone();
        let name = permit.spend().name.as_str().to_owned();
        let scope = format!("{}/{name}", of_session(&who.session));
        let found = self.find(&who.user, &scope, "", 1)?.pop();
        found.map(note).ok_or(NoteError::NoNote { name })
    }

    fn notes(&self, permit: Permit<ScratchList>) -> Result<Vec<NoteRow>, NoteError> {
        let who = permit.who().clone();
        let ScratchList { .. } = permit.spend();
        let found = self.find(&who.user, &of_session(&who.session), "", as_limit(NOTES_MAX))?;
        let mut notes: Vec<NoteRow> = Vec::with_capacity(found.len());
        for it in found.into_iter().map(note) {
            // The newest of a name is the note; what it replaced may not be gone yet.
            if !notes.iter().any(|known| known.name == it.name) {
                notes.push(it);
            }
        }
        Ok(notes)
    }

    fn forget_notes(&self, user: &UserId, session: &SessionId) -> Result<u64, NoteError> {
        take_away(self, user, &of_session(session))
    }
}

/// Keeps something to do.
fn add(rows: &dyn Rows, new: NewMemory) -> Result<Written, NoteError> {
    if new.content.trim().is_empty() {
        return Err(NoteError::Empty);
    }
    if rows.find(&new.user, &new.scope, "", as_limit(TASKS_OPEN_MAX))?.len() >= TASKS_OPEN_MAX {
        return Err(NoteError::TooManyTasks);
    }
    Ok(rows.keep(new)?)
}

/// Puts the words of an open task where closed ones are. They are the task's own, so that they carry its tag and not
/// that of the session that closes it.
fn close(
    rows: &dyn Rows,
    new: NewMemory,
    id: Uuid,
    open: &str,
    end: TaskEnd,
) -> Result<TaskRow, NoteError> {
    let no_task = || NoteError::NoTask { id };
    let found = match rows.read_row(&new.user, id) {
        Err(MemoryError::NotFound { .. }) => return Err(no_task()),
        found => found?,
    };
    if found.scope != open {
        return Err(no_task());
    }
    let (user, scope, now) = (new.user.clone(), new.scope.clone(), new.created);
    let (content, tag) = (found.content, found.tag);
    let text = content.clone();
    // It is closed before it is not open any more: what is lost between both is found open again.
    let written = rows.keep(NewMemory { content, related_id: Some(id), tag, ..new })?;
    delete(rows, &found.user, id)?;
    let kept = rows.find(&user, &scope, "", as_limit(TASKS_CLOSED_MAX + 1))?;
    for oldest in kept.iter().skip(TASKS_CLOSED_MAX) {
        delete(rows, &user, oldest.id)?;
    }
    Ok(TaskRow { id, text, end: Some(end), at: now, tag: written.tag })
}

/// Keeps a note of a session whose notes are all beneath `all`.
fn write(rows: &dyn Rows, new: NewMemory, all: &str) -> Result<Written, NoteError> {
    let (user, scope) = (new.user.clone(), new.scope.clone());
    let before = rows.find(&user, &scope, "", STALE_MAX)?;
    if before.is_empty() {
        if rows.numbers(&user, all, as_limit(NOTES_MAX))?.len() >= NOTES_MAX {
            return Err(NoteError::TooManyNotes);
        }
        make_room(rows, &user, all)?;
    }
    let written = rows.keep(new)?;
    for old in before.iter().filter(|it| it.id != written.id) {
        delete(rows, &user, old.id)?;
    }
    Ok(written)
}

/// Where a user has as many notes as may be, those of the oldest other session go.
fn make_room(rows: &dyn Rows, user: &UserId, own: &str) -> Result<(), NoteError> {
    let numbers = rows.numbers(user, NOTES, as_limit(NOTES_PER_USER_MAX))?;
    if numbers.len() < NOTES_PER_USER_MAX {
        return Ok(());
    }
    for n in numbers.into_iter().rev() {
        let found = rows.page(user, n.saturating_sub(1), 1)?;
        let scope = found.first().filter(|(at, _)| *at == n).map(|(_, it)| it.scope.as_str());
        let session = scope.and_then(|it| it.rsplit_once('/')).map(|(session, _)| session);
        if let Some(session) = session.filter(|it| *it != own) {
            return take_away(rows, user, session).map(drop);
        }
    }
    Ok(())
}

/// Takes all rows of a scope away, and gives how many.
fn take_away(rows: &dyn Rows, user: &UserId, scope: &str) -> Result<u64, NoteError> {
    let mut gone = 0;
    loop {
        let found = rows.find(user, scope, "", as_limit(NOTES_MAX))?;
        if found.is_empty() {
            return Ok(gone);
        }
        for row in found {
            delete(rows, user, row.id)?;
            gone += 1;
        }
    }
}

/// Takes a row away, unless somebody else was faster.
fn delete(rows: &dyn Rows, user: &UserId, id: Uuid) -> Result<(), NoteError> {
    match rows.delete_row(user, id) {
        Ok(()) | Err(MemoryError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A row for what the permit allows, with the permit's tag.
fn row<E>(permit: &Permit<E>, scope: String, content: String, now: i64) -> NewMemory {
    let who = permit.who();
    NewMemory {
        user: who.user.clone(),
        agent: who.agent.clone(),
        scope,
        kind: MemoryKind::Context,
        content,
        source: None,
        related_id: None,
        created: now,
        record: permit.record(),
        tag: permit.tag().cloned(),
    }
}

const ENDS: [TaskEnd; 2] = [TaskEnd::Done, TaskEnd::Dropped];

/// Where the open tasks of an agent are. A scope that a message names begins with a letter or digit, so that none leads
/// here; names that are none for a scope are known by their digests.
fn open(agent: &AgentId) -> String {
    format!(".tasks/{}/open", Digest::of(agent.as_str().as_bytes()))
}

fn closed(agent: &AgentId, end: TaskEnd) -> String {
    format!(".tasks/{}/{}", Digest::of(agent.as_str().as_bytes()), end.as_str())
}

/// Where all notes are.
const NOTES: &str = ".notes";

fn of_session(session: &SessionId) -> String {
    format!("{NOTES}/{}", Digest::of(session.as_str().as_bytes()))
}

fn task(row: MemoryRow, end: Option<TaskEnd>) -> TaskRow {
    let id = row.related_id.filter(|_| end.is_some()).unwrap_or(row.id);
    TaskRow { id, text: row.content, end, at: row.created, tag: row.tag }
}

fn note(row: MemoryRow) -> NoteRow {
    let name = row.scope.rsplit('/').next().unwrap_or_default().to_owned();
    NoteRow { name, content: row.content, at: row.created, tag: row.tag }
}

fn as_limit(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
