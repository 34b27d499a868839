//! What outlives a session: sessions, memory, approvals, turns, and the labels of content.
//!
//! INVARIANT (NothingLaunders): a label that was acknowledged is there after any crash, and no
//! sequence of calls takes one away. Only a person does, by `lazaret taint clear`.

mod bond;
mod content;
mod error;
pub mod file;
mod labels;
mod memory;
mod notes;
mod oversight;
mod rank;
mod scope;
mod sessions;
mod sqlite;
mod tag;
mod turns;
pub mod workspace;

pub use bond::{Bond, BondError};
pub use content::Fingerprint;
pub use error::{Broken, OpenError};
pub use evidence::Durability;
pub use file::FileMemory;
pub use labels::LABELS_MAX;
pub use memory::{
    MEMORY_RESULTS_DEFAULT, MEMORY_ROWS_PER_USER_MAX, Memory, MemoryError, MemoryRow,
    QUERY_WORDS_MAX, Written,
};
pub use monitor::{Approvals, Labels};
pub use notes::{
    NOTES_MAX, NOTES_PER_USER_MAX, NoteError, NoteRow, Notes, TASKS_CLOSED_MAX, TASKS_OPEN_MAX,
    TaskRow,
};
pub use oversight::{ClearError, Clearing, Oversight, REASON_BYTES_MAX, Subject, Word};
pub use sessions::{SessionRow, SessionState};
pub use sqlite::{CHANGE_BYTES_MAX, Identity, SESSIONS_MAX, Seen, SqliteStore};
pub use tag::{tag_from_json, tag_to_json};
pub use turns::{TURNS_PER_SESSION_MAX, Turn, TurnError, Turns, inherit};

/// Everything that a store does. Whatever keeps it, SQLite or another, does all of it.
pub trait Store:
    monitor::State + Memory + Approvals + Turns + Labels + Oversight + Send + Sync
{
}

impl<T: monitor::State + Memory + Approvals + Turns + Labels + Oversight> Store for T {}
