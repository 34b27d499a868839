//! What outlives a session: sessions, memory, approvals, and the labels of content.
//!
//! INVARIANT (NothingLaunders): a label that was acknowledged is there after any crash, and no
//! sequence of calls takes one away. Only a person does, by `lazaret taint clear`.

mod error;
mod sessions;
mod sqlite;

pub use error::{Broken, OpenError};
pub use evidence::Durability;
pub use sessions::{SessionRow, SessionState, Sessions};
pub use sqlite::{CHANGE_BYTES_MAX, SESSIONS_MAX, SqliteStore};
