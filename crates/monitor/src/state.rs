//! What a session must not forget when the process dies, and the one trait that keeps it.

use aegx::Digest;
use model::{AgentId, Caller, Profile, SessionId, Taint, TaintTag, UserId};

use crate::approvals::Approvals;
use crate::change::Change;
use crate::session::Session;

/// Keeps sessions. What [`State::append`] was given is durable when it returns.
///
/// The changes of a session are opaque here: only the monitor reads them. Replaying them in order
/// gives the session back, at least as tainted as it was.
pub trait State: Labels + Approvals + Talked {
    /// Creates the session, or finds it again.
    ///
    /// # Errors
    /// If it belongs to another user or agent, or cannot be kept.
    fn open(&self, who: &Caller, profile: Profile) -> Result<Opened, StateError>;

    /// Adds a change.
    ///
    /// # Errors
    /// If it may not be durable.
    fn append(
        &self,
        session: &SessionId,
        change: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError>;

    /// Adds a change that is durable no later than the next one which [`State::append`] is given, in whatever session, and
    /// known to whoever looks from now on. If it cannot be kept, nothing after it is; for a session that nobody opened, nothing is
    /// kept, and [`State::append`] says so.
    ///
    /// # Errors
    /// If it will not be durable.
    fn append_soon(
        &self,
        session: &SessionId,
        change: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError>;

    /// Waits until everything that was to be kept soon is durable.
    ///
    /// # Errors
    /// If it is not.
    fn flush(&self) -> Result<(), StateError>;

    /// Puts one change in place of all before it.
    ///
    /// # Errors
    /// If it may not be durable; then the old ones are still there.
    fn compact(
        &self,
        session: &SessionId,
        snapshot: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError>;

    /// Marks the session as ended. Its changes stay: an id that comes back is as tainted as before.
    ///
    /// # Errors
    /// If it may not be durable.
    fn end(&self, session: &SessionId) -> Result<(), StateError>;
}

/// Keeps labels of content by its digests: what came from outside is known again, wherever it turns
/// up.
pub trait Labels: Send + Sync {
    /// The worst label of any of `digests`.
    ///
    /// # Errors
    /// If the store does not work; the content must then be taken as tainted.
    fn label_of(&self, digests: &[Digest]) -> Result<Option<TaintTag>, StateError>;

    /// Labels each of `digests`. A label that is there becomes worse, never better, and stays until
    /// a person clears it.
    ///
    /// # Errors
    /// If it may not be durable.
    fn remember_label(&self, digests: &[Digest], tag: &TaintTag) -> Result<(), StateError>;
}

/// Keeps what is remembered of conversations and of prompts, in forms that quote neither.
pub trait Talked: Send + Sync {
    /// What was kept of the conversation of a user with an agent.
    ///
    /// # Errors
    /// If the store does not work.
    fn talk(&self, user: &UserId, agent: &AgentId) -> Result<Option<Vec<u8>>, StateError>;

    /// Keeps it, in the place of what was there: durable no later than the next change of a session.
    ///
    /// # Errors
    /// If it will not be durable.
    fn keep_talk(&self, user: &UserId, agent: &AgentId, talk: &[u8]) -> Result<(), StateError>;

    /// The form of a prompt, by its digest.
    ///
    /// # Errors
    /// If the store does not work.
    fn prompt(&self, form: &Digest) -> Result<Option<Vec<u8>>, StateError>;

    /// Keeps the form of a prompt, durable no later than the next change of a session. The ones that were registered longest
    /// ago make room.
    ///
    /// # Errors
    /// If it will not be durable.
    fn keep_prompt(&self, form: &Digest, kept: &[u8]) -> Result<(), StateError>;
}

/// A session that was created or found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Its changes, oldest first; none for a new one.
    pub changes: Vec<Vec<u8>>,
    /// Its profile, as it was created.
    pub profile: Profile,
}

/// What lists show of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Where its content has been.
    pub taint: Taint,
    /// Tokens from outside.
    pub tainted_tokens: u64,
    /// Tokens that a person or the operator vouches for.
    pub clean_tokens: u64,
    /// The newest origin of taint; empty while there is none.
    pub origin: String,
    /// Calls judged.
    pub calls: u64,
    /// Calls that were not let through.
    pub stopped: u64,
}

/// Why a session cannot be kept or found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The id is taken.
    #[error("session `{session}` belongs to another user or agent")]
    NotYours {
        /// The session.
        session: SessionId,
    },
    /// Nobody opened it.
    #[error("there is no session `{session}`")]
    Unknown {
        /// The session.
        session: SessionId,
    },
    /// The store does not work.
    #[error("the store does not work: {reason}")]
    Broken {
        /// What it said.
        reason: String,
    },
}

/// Keeps a change of a session. What was not kept must not be built on. When the changes have grown,
/// one is put in place of all.
pub(crate) fn keep(
    state: &dyn State,
    session: &mut Session,
    change: &Change,
) -> Result<(), StateError> {
    let bytes = written(change)?;
    if bytes == NOTHING {
        return Ok(());
    }
    let id = session.who().session.clone();
    state.append(&id, &bytes, &session.summary())?;
    // A yes counts only once it is kept, so it is not in a snapshot of the session yet.
    if session.has_kept(bytes.len()) && change.confirm.is_empty() {
        let snapshot = written(&session.snapshot())?;
        state.compact(&id, &snapshot, &session.summary())?;
        session.was_compacted(snapshot.len());
    }
    Ok(())
}

/// Keeps a change that is durable no later than the next one for which [`keep`] is called: nobody acts on it before.
pub(crate) fn keep_soon(
    state: &dyn State,
    session: &mut Session,
    change: &Change,
) -> Result<(), StateError> {
    let bytes = written(change)?;
    if bytes == NOTHING {
        return Ok(());
    }
    state.append_soon(&session.who().session, &bytes, &session.summary())?;
    // Whoever keeps what follows looks whether they have grown.
    let _ = session.has_kept(bytes.len());
    Ok(())
}

/// A change in which nothing changes.
const NOTHING: &[u8] = b"{}";

fn written(change: &Change) -> Result<Vec<u8>, StateError> {
    serde_json::to_vec(change).map_err(|error| StateError::Broken {
        reason: format!("a change cannot be written: {error}"),
    })
}
