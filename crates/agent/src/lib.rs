//! An agent of our own: the loop that a worker runs, and what the parent and the worker say to each
//! other. Nothing here has a permission or asks for one: every call goes through the gate of the parent.
//!
//! Start at [`Conversation`], the loop, then [`worker`], the process it runs in. Whoever wants a turn holds a
//! [`Runtime`].

mod compact;
mod frame;
mod message;
mod outcome;
pub mod prompt;
mod purse;
mod query;
mod rebuild;
mod repeat;
mod results;
mod runtime;
mod summary;
pub mod tools;
mod verify;
mod watch;
pub mod wire;
mod work;

pub use frame::{Frame, Status, SubagentStatus};
pub use message::{
    AccessUser, Called, FromWorker, Hooks, MODEL_CALLS_MAX, Purpose, SAME_CALL_MAX, Said,
    SessionName, ToWorker, WorkerConfig,
};
pub use outcome::{Fate, Outcome, RESULT_CHARS_MAX};
pub use purse::{Aside, Estimate, NotPaid, Purse, Reached, percentage};
pub use query::{Conversation, Done, PARALLEL_CALLS_MAX, Parent, Stopped};
pub use rebuild::{FRAME_NAME_CHARS_MAX, FRAME_TEXT_CHARS_MAX, Rebuilder, clean};
pub use results::{RESULT_READ, STEP_UNITS_MAX, result_read};
pub use runtime::{
    AgentCard, Approval, Question, Reply, Runtime, Turn, TurnError, TurnErrorCode, Voice,
};
pub use summary::{MESSAGES_MAX, values_of};
pub use watch::{ProviderHealth, ToolEvent, Watches, WorkerEvent, WorkerShown};
pub use work::{WORKER, worker};
