//! Turns of conversations, and what facts inherit from them.

use aegx::Digest;
use model::ipc::Role;
use model::{SessionId, TaintTag};
use monitor::taint::{Turn as Said, inherited_by_fact, worse};

use crate::error::Broken;

/// Keeps which turns of a conversation were tainted. The texts stay with the host; here they are
/// known by their digests, so that history which somebody rewrote is noticed.
pub trait Turns: Send + Sync {
    /// Adds a turn. If its content is known as tainted it is, whatever `tag` says.
    ///
    /// # Errors
    /// If the session is not there, is too long, or the turn may not be durable.
    fn append_turn(
        &self,
        session: &SessionId,
        role: Role,
        text: &Digest,
        tag: Option<&TaintTag>,
    ) -> Result<(), TurnError>;

    /// The newest turns of a session, at most `limit`, oldest first.
    ///
    /// # Errors
    /// If the session is not there or the store does not work.
    fn turns(&self, session: &SessionId, limit: u32) -> Result<Vec<Turn>, TurnError>;
}

/// A turn as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who spoke.
    pub role: Role,
    /// Digest of what was said.
    pub text: Digest,
    /// Where it has been; none if it is clean.
    pub tag: Option<TaintTag>,
}

/// Why a turn was not kept or not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// Nobody opened it.
    #[error("there is no session `{session}`")]
    Unknown {
        /// The session.
        session: SessionId,
    },
    /// The conversation is too long.
    #[error("session `{session}` has {TURNS_PER_SESSION_MAX} turns, which is the most")]
    Full {
        /// The session.
        session: SessionId,
    },
    /// The store.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// How many turns of a session are kept.
pub const TURNS_PER_SESSION_MAX: i64 = 1_000_000;
/// The tag of a fact that was taken out of a conversation.
///
/// `content` is the fact, `extracted_from` the piece of a turn that it was taken from, as the
/// extracting model says; without one the fact itself must stand there. `spoken` are the texts of the
/// conversation, `kept` its turns as they were noted when they were spoken. A text that was not noted
/// counts as the newest tainted turn. How a fact inherits from them, see [`inherited_by_fact`].
#[must_use]
pub fn inherit(
    content: &str,
    extracted_from: Option<&str>,
    spoken: &[&str],
    kept: &[Turn],
) -> Option<TaintTag> {
    let newest = kept.iter().rev().find_map(|it| it.tag.clone())?;
    let mut turns: Vec<Said> = spoken
        .iter()
        .map(|it| Said { text: (*it).to_owned(), tag: tag_of(it, kept, &newest) })
        .collect();
    // What was said and is not shown may be the source as well.
    let tag = kept.iter().fold(None, |sum, it| worse(sum.as_ref(), it.tag.as_ref()));
    turns.push(Said { text: String::new(), tag });
    inherited_by_fact(content, extracted_from.unwrap_or(content), &turns)
}

/// The tag with which `text` was noted; that of the newest tainted turn if it was not.
fn tag_of(text: &str, kept: &[Turn], newest: &TaintTag) -> Option<TaintTag> {
    let digest = Digest::of(text.as_bytes());
    let mut known = kept.iter().filter(|it| it.text == digest).peekable();
    if known.peek().is_none() {
        return Some(newest.clone());
    }
    known.fold(None, |tag, turn| worse(tag.as_ref(), turn.tag.as_ref()))
}

#[cfg(test)]
mod tests;
