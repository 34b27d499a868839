//! What the operator sees and does. No agent reaches any of it.

use evidence::Receipt;
use model::ipc::Uuid;
use model::{SessionId, Taint, UserId};

use crate::error::Broken;
use crate::memory::MemoryRow;
use crate::sessions::SessionRow;

/// Looks at everything that is kept, and clears taint on a person's word.
pub trait Oversight: Send + Sync {
    /// The newest sessions, at most `limit`, newest first.
    ///
    /// # Errors
    /// If the store does not work.
    fn sessions(&self, limit: u32) -> Result<Vec<SessionRow>, Broken>;

    /// The newest tainted sessions, at most `limit`, newest first.
    ///
    /// # Errors
    /// If the store does not work.
    fn tainted_sessions(&self, limit: u32) -> Result<Vec<SessionRow>, Broken>;

    /// One session.
    ///
    /// # Errors
    /// If the store does not work.
    fn session(&self, id: &SessionId) -> Result<Option<SessionRow>, Broken>;

    /// What was kept of a session, in order, as the monitor wrote it; nothing if there is no such session.
    ///
    /// # Errors
    /// If the store does not work.
    fn changes(&self, id: &SessionId) -> Result<Vec<Vec<u8>>, Broken>;

    /// One memory row, whoever it belongs to.
    ///
    /// # Errors
    /// If the store does not work.
    fn memory_row(&self, id: Uuid) -> Result<Option<MemoryRow>, Broken>;

    /// The newest tainted memory rows, at most `limit`, newest first.
    ///
    /// # Errors
    /// If the store does not work.
    fn tainted_memory(&self, limit: u32) -> Result<Vec<MemoryRow>, Broken>;

    /// What was cleared, newest first, at most `limit`; of one subject if it is named.
    ///
    /// # Errors
    /// If the store does not work.
    fn clearings(&self, of: Option<&Subject>, limit: u32) -> Result<Vec<Clearing>, Broken>;

    /// Clears a session or a memory row, on a person's word. The receipt proves that their word was
    /// recorded first. A session begins anew, as if nothing had come in, but keeps its id and owner;
    /// a row and its equals are clean, and so is the content when it comes back.
    ///
    /// # Errors
    /// If there is no such thing, or it may not be durable.
    fn clear(
        &self,
        subject: &Subject,
        word: &Word,
        receipt: &Receipt,
    ) -> Result<Clearing, ClearError>;
}

/// What can be cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A session.
    Session(SessionId),
    /// A memory row.
    Memory(Uuid),
}

impl Subject {
    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Memory(_) => "memory",
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Session(id) => id.to_string(),
            Self::Memory(id) => id.to_string(),
        }
    }
}

/// A person's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Who.
    pub by: UserId,
    /// When, in seconds since 1970.
    pub at: i64,
    /// Why.
    pub reason: String,
}

/// Something that was cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clearing {
    /// What.
    pub subject: Subject,
    /// Who, when and why.
    pub word: Word,
    /// What it carried until then.
    pub taint: Taint,
    /// Id of the record, as hex.
    pub record: String,
}

/// Why nothing was cleared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClearError {
    /// It is not there.
    #[error("there is no {kind} `{name}`", kind = .subject.kind(), name = .subject.name())]
    NotFound {
        /// What was to be cleared.
        subject: Subject,
    },
    /// A reason that says nothing or too much.
    #[error("a reason has from 1 to {REASON_BYTES_MAX} bytes, this one has {bytes}")]
    Reason {
        /// Its length.
        bytes: usize,
    },
    /// The store.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// The longest reason.
pub const REASON_BYTES_MAX: usize = 2000;
