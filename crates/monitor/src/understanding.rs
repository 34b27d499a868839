//! What a session made of a text.

use aegx::Digest;
use model::TaintTag;

use crate::confirm::Confirmation;

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Understanding {
    /// Its record.
    pub record: Digest,
    /// Was it an answer to what was stopped?
    pub answer: Confirmation,
    /// What the text carries as a turn of the conversation; none if it is clean. What the agent itself
    /// says carries what its session does.
    pub tag: Option<TaintTag>,
}
