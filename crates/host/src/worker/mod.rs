//! The parent of workers: agents of our own run in processes that nobody believes.
//!
//! A worker has one socket. By it come messages that are read strictly; what it says of usage, of sessions and of what
//! it called is not used: the parent counts what it did itself. Start at [`Worker::start`], then `turn`.
//!
//! INVARIANT (ParentAsks): which model is asked, with which instructions and which tools, is never a worker's to say.

mod ask;
mod call;
mod history;
mod inbox;
mod lease;
#[cfg(test)]
mod lies;
mod link;
mod meter;
mod model;
mod offer;
mod prompt;
mod questions;
mod shared;
mod spawner;
mod start;
#[cfg(test)]
mod tests;
mod told;
mod tool_log;
mod trial;
mod turn;
mod watched;

use std::time::Duration;

pub use history::{History, HistoryError, Spoken};
pub use model::Asks;
pub use offer::Offer;
pub use start::cage;
pub use trial::trial;

pub(crate) use lease::Leases;
pub(crate) use meter::metered;
pub(crate) use model::dearest_of;
pub(crate) use shared::{Bounds, Current, Shared, tokens};
pub(crate) use spawner::Spawner;
pub(crate) use start::{Start, Worker};
pub(crate) use told::context;
pub(crate) use turn::{MORE_CALLS, Prepared, Seen, TurnLimits};
pub(crate) use watched::Watched;

/// How long a worker may take to be ready.
pub const READY_WITHIN: Duration = Duration::from_secs(30);
/// How long a worker may have nothing to do.
pub const IDLE_MAX: Duration = Duration::from_secs(600);
/// How long a worker has to end in order; then it is ended by force.
pub const END_WITHIN: Duration = Duration::from_secs(5);
/// How long one turn may take.
pub const TURN_MAX: Duration = Duration::from_secs(900);
/// Messages of a worker that nobody has taken yet.
pub const QUEUED_MAX: usize = 10_000;
/// Bytes of one message of a worker, but for a question to a model, which holds the conversation.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Bytes of messages of a worker that nobody has taken yet.
pub const QUEUED_BYTES_MAX: usize = 64 << 20;
/// Messages a second, for as long as [`RATE_OVER`].
pub const RATE_PER_SECOND_MAX: usize = 1000;
/// How long a worker may be faster than it may.
pub const RATE_OVER: Duration = Duration::from_secs(5);
/// Messages of a worker that are none, before it is ended.
pub const MALFORMED_MAX: usize = 10;
/// Calls of one turn.
pub const CALLS_PER_TURN_MAX: usize = 1000;
/// Bytes of a call about which a person is asked.
pub const QUESTION_BYTES_MAX: usize = 64 << 10;
/// Characters of what a worker says went wrong.
pub const ERROR_CHARS_MAX: usize = 1000;
