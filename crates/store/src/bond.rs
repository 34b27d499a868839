//! The store that belongs to a journal: a gate opens no other.
//!
//! INVARIANT (NothingLaunders): where sessions were tainted, a store that does not know of them is not begun with. It may
//! have been lost, emptied, exchanged for another, or put back from an older copy. The file `store.note` in the state
//! directory remembers which store it was, how far it had come, and how far the journal had; so does the store. What the
//! journal says since then of the taint of sessions the store must know; where there is no note, all that it says.
//!
//! What is not noticed: a state directory that was put back as a whole, with its journal; and, of a gate that was killed,
//! what a session heard last, if nothing else of the session is on record after it and nothing was signed.

mod recorded;

use std::io;
use std::path::{Path, PathBuf};

use evidence::{Durability, ReadError};
use files::private;
use model::Taint;
use serde::{Deserialize, Serialize};

use crate::error::{Broken, OpenError};
use crate::oversight::Oversight;
use crate::sqlite::{Identity, Seen, SqliteStore};
use recorded::Recorded;

/// The store, in a state directory.
const STORE: &str = "store.sqlite";
/// What is remembered of it.
const NOTE: &str = "store.note";
/// The journal.
const JOURNAL: &str = "evidence";
/// The longest note, in bytes.
const NOTE_BYTES_MAX: u64 = 4096;
/// How a person goes on.
const NEXT: &str = "put the right one back, or accept that labels are lost with `lazaret sessions recover --accept-lost-state`";

/// Why a gate does not begin with the store that is there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BondError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It does not work.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It is not there, or there is nothing in it.
    #[error(
        "`{path}` is missing or empty, and the state directory knows of a store that was in use: {NEXT}"
    )]
    Lost {
        /// Where it was.
        path: String,
    },
    /// It is one that was made elsewhere or anew.
    #[error("`{path}` is not the store that the state directory was used with: {NEXT}")]
    Other {
        /// Where it is.
        path: String,
    },
    /// It is an earlier copy.
    #[error(
        "`{path}` is an older copy of the store: it was opened and closed {found} times, and {known} are known: {NEXT}"
    )]
    Older {
        /// Where it is.
        path: String,
        /// How far it has come.
        found: u64,
        /// How far it had come.
        known: u64,
    },
    /// The journal knows better.
    #[error(
        "`{path}` does not know that the session `{session}` is tainted, which the journal does: {NEXT}"
    )]
    Unknown {
        /// Where it is.
        path: String,
        /// One of the sessions.
        session: String,
    },
    /// What is remembered cannot be read.
    #[error("`{path}` cannot be used: {why}; {NEXT}")]
    Note {
        /// The note.
        path: String,
        /// Why.
        why: String,
    },
    /// The journal.
    #[error("the journal does not say which sessions are tainted: {0}")]
    Journal(#[from] ReadError),
}

/// A store and where it is remembered.
pub struct Bond {
    home: PathBuf,
}

/// What is remembered.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    store: String,
    count: u64,
    /// How far the journal had come; earlier versions did not note it.
    #[serde(default)]
    seen: Option<Seen>,
}

impl Bond {
    /// Of a state directory.
    #[must_use]
    pub fn of(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// Opens the store for a gate, which has the journal open already. One is made where there was none.
    ///
    /// # Errors
    /// If the store is not the one that was used before. Then nothing was changed.
    pub fn open(&self, durability: Durability) -> Result<SqliteStore, BondError> {
        let (path, note) = (self.path(), self.note()?);
        let empty = std::fs::metadata(&path).map_or(true, |it| it.len() == 0);
        if empty && (note.is_some() || !self.recorded(None)?.taint.is_empty()) {
            return Err(BondError::Lost { path: path.display().to_string() });
        }
        let store = SqliteStore::open_with(&path, durability)?;
        let path = path.display().to_string();
        let from = match note {
            Some(note) => fits(note, store.identity()?, &path)?,
            // A state directory of an earlier version, or a note that was lost.
            None => None,
        };
        let recorded = self.recorded(from.as_ref())?;
        for (session, taint) in &recorded.taint {
            let known = store.session(session)?.map_or(Taint::NONE, |it| it.summary.taint);
            if !known.contains(*taint) {
                return Err(BondError::Unknown { path, session: session.to_string() });
            }
        }
        self.count_at(&store, recorded.newest)?;
        Ok(store)
    }

    /// A gate opens the store, or has done its work with it.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn count(&self, store: &SqliteStore) -> Result<(), BondError> {
        let newest = Recorded::end_of(&self.home.join(JOURNAL))?;
        self.count_at(store, newest)
    }

    /// The same where the store knows what the journal says up to `newest`.
    fn count_at(&self, store: &SqliteStore, newest: Option<Seen>) -> Result<(), BondError> {
        // First there: after a crash in between the store has come further than is known.
        let Identity { id, count, seen } = store.count_up(newest)?;
        let text = serde_json::to_vec(&Note { store: id, count, seen });
        let written = text.map_err(io::Error::from);
        let written = written.and_then(|it| private::replace(&self.home.join(NOTE), &it));
        written.map_err(|error| self.unusable(&error.to_string()))
    }

    /// Takes the store that is there from now on, whatever it does not know. One is made where there is none.
    ///
    /// # Errors
    /// If it cannot be opened or that cannot be kept.
    pub fn dangerously_accept(&self) -> Result<(), BondError> {
        let store = SqliteStore::open(&self.path())?;
        self.count(&store)
    }

    fn path(&self) -> PathBuf {
        self.home.join(STORE)
    }

    fn note(&self) -> Result<Option<Note>, BondError> {
        let found = private::read_if_there(&self.home.join(NOTE), NOTE_BYTES_MAX);
        let found = found.map_err(|error| self.unusable(&error.to_string()))?;
        let parse = |it: Vec<u8>| serde_json::from_slice(&it);
        found.map(parse).transpose().map_err(|_| self.unusable("it is no note of this program"))
    }

    fn unusable(&self, why: &str) -> BondError {
        BondError::Note { path: self.home.join(NOTE).display().to_string(), why: why.to_owned() }
    }

    fn recorded(&self, from: Option<&Seen>) -> Result<Recorded, BondError> {
        Ok(Recorded::read(&self.home.join(JOURNAL), from)?)
    }
}

/// How far the journal had come when both were there, the note and the store.
fn fits(note: Note, store: Identity, path: &str) -> Result<Option<Seen>, BondError> {
    let path = path.to_owned();
    if note.store != store.id {
        return Err(BondError::Other { path });
    }
    if store.count < note.count {
        return Err(BondError::Older { path, found: store.count, known: note.count });
    }
    let both = note.seen.zip(store.seen);
    Ok(both.map(|(one, other)| if one.idx < other.idx { one } else { other }))
}
