//! Turns of conversations, and what facts inherit from them.

use std::collections::HashSet;

use aegx::Digest;
use model::ipc::Role;
use model::{SessionId, TaintTag};

use crate::content::normal;
use crate::error::Broken;
use crate::tag::worst;

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
/// A shorter snippet could stand anywhere, so that finding it tells nothing.
pub const SNIPPET_CHARS_MIN: usize = 8;
/// Other words are telling only if they are at least so long.
const TELLING_CHARS_MIN: usize = 12;

/// The tag of a fact that was taken out of a conversation.
///
/// `content` is the fact, `extracted_from` the piece of a turn that it was taken from, as the
/// extracting model says; `spoken` are the texts of the conversation, `kept` its turns as they were
/// noted when they were spoken. The fact inherits from every turn in which the piece or the fact
/// itself stands, and from every tainted turn with which it shares an address, a number or a long
/// word that its clean sources do not have: the model that names the piece may have been told what
/// to name. If nothing is found, or a text was not noted, the newest tainted turn is taken for it.
#[must_use]
pub fn inherit(
    content: &str,
    extracted_from: Option<&str>,
    spoken: &[&str],
    kept: &[Turn],
) -> Option<TaintTag> {
    let newest = kept.iter().rev().find_map(|it| it.tag.clone())?;
    let content = normal(content);
    let snippet = extracted_from.map(normal);
    let needles: Vec<&str> = [Some(content.as_str()), snippet.as_deref()]
        .into_iter()
        .flatten()
        .filter(|it| it.chars().count() >= SNIPPET_CHARS_MIN)
        .collect();
    let mut tag = None;
    let mut vouched = HashSet::new();
    let mut tainted = Vec::new();
    let mut found = false;
    for text in spoken {
        let seen = normal(text);
        let own = tag_of(text, kept, &newest);
        if needles.iter().any(|it| seen.contains(it)) {
            found = true;
            tag = worst(tag, own.clone());
            if own.is_none() {
                vouched.extend(telling(&seen).map(str::to_owned));
            }
        }
        if let Some(own) = own {
            tainted.push((seen, own));
        }
    }
    if !found {
        return worst(tag, Some(newest));
    }
    for (seen, own) in tainted {
        if telling(&content).any(|it| !vouched.contains(it) && seen.contains(it)) {
            tag = worst(tag, Some(own));
        }
    }
    tag
}

/// The tag with which `text` was noted; that of the newest tainted turn if it was not.
fn tag_of(text: &str, kept: &[Turn], newest: &TaintTag) -> Option<TaintTag> {
    let digest = Digest::of(text.as_bytes());
    let mut known = kept.iter().filter(|it| it.text == digest).peekable();
    if known.peek().is_none() {
        return Some(newest.clone());
    }
    known.fold(None, |tag, turn| worst(tag, turn.tag.clone()))
}

/// Words that tell where a text comes from: addresses, numbers, names of files, long ones.
fn telling(normal: &str) -> impl Iterator<Item = &str> {
    let words = normal.split(' ').map(|it| it.trim_matches(|it: char| !it.is_alphanumeric()));
    words.filter(|word| {
        let marked = word.contains(|it: char| it.is_numeric() || "@/.:_\\".contains(it));
        !word.is_empty() && (marked || word.chars().count() >= TELLING_CHARS_MIN)
    })
}

#[cfg(test)]
mod tests;
