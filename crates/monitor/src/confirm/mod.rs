//! A person's yes: understood from what they say, kept until it is used.
//!
//! An approval that names the call by its hash is the first way; the API makes a [`Grant`] of it.
//! The other is the answer in the conversation, and it counts only where there is no doubt: said
//! by the session's own user, directly after the block, affirmative and nothing else.

mod grammar;
mod grants;
mod understand;
mod vocabulary;

pub use grants::{
    ACTION_GRANT_SECONDS, CALL_GRANT_SECONDS, ConfirmDelta, Confirmations, GRANTS_MAX, Grant,
    PENDING_MAX,
};
pub use understand::{
    ANSWER_BYTES_MAX, ANSWER_SECONDS_MAX, Confirmation, MESSAGE_BYTES_MAX, Message, Pending,
    understand,
};
