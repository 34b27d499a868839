//! What was said in a session, for whoever goes on with it. The labels of turns are the store's; here are the texts,
//! each of which counts only if the store knows it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aegx::Digest;
use llm::{Block, Message, Role};
use model::{Caller, TaintTag};
use monitor::taint::worse;
use serde::{Deserialize, Serialize};
use store::{TurnError, Turns};

/// The folder of the state directory in which conversations lie.
const FOLDER: &str = "conversations";
/// Bytes of a conversation that are read; what is older is not shown again.
const HISTORY_BYTES_MAX: u64 = 16 << 20;

/// The texts of one session.
pub struct History {
    path: PathBuf,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spoken {
    /// Who spoke.
    pub role: Role,
    /// What was said.
    pub text: String,
}

impl History {
    /// Of the session of `who`.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn of(home: &Path, who: &Caller) -> io::Result<Self> {
        let folder = home.join(FOLDER);
        files::private::create_dir(&folder)?;
        // Three names that may hold what no file name may; none of them can hold the sign between them.
        let name = format!("{}\0{}\0{}", who.user, who.agent, who.session);
        let name = format!("{}.jsonl", Digest::of(name.as_bytes()).to_hex().as_str());
        let path = files::safe_path(&folder, &[name]).map_err(io::Error::other)?;
        Ok(Self { path })
    }

    /// All turns, a line each, as far as they are read; none if nothing was said.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn lines(&self) -> io::Result<Option<Vec<u8>>> {
        files::private::read_last_lines(&self.path, HISTORY_BYTES_MAX)
    }

    /// The time since something was said; none if nothing was, ever.
    ///
    /// # Errors
    /// If that cannot be looked up.
    pub fn quiet_for(&self) -> io::Result<Option<Duration>> {
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // Whoever set the clock back has said something just now.
            found => Ok(Some(found?.modified()?.elapsed().unwrap_or_default())),
        }
    }

    /// Forgets all turns. Was there something?
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn forget(self) -> io::Result<bool> {
        let was_there = self.path.symlink_metadata().is_ok();
        files::private::remove(&self.path).map(|()| was_there)
    }

    /// Adds a turn: first its label, then its text. What the user says is durable with the answer.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn add(
        &self,
        turns: &dyn Turns,
        who: &Caller,
        spoken: &Spoken,
        tag: Option<&TaintTag>,
    ) -> Result<(), HistoryError> {
        let role = match spoken.role {
            Role::User => model::ipc::Role::User,
            Role::Assistant => model::ipc::Role::Assistant,
        };
        turns.append_turn(&who.session, role, &Digest::of(spoken.text.as_bytes()), tag)?;
        let line = serde_json::to_vec(spoken).map_err(io::Error::other)?;
        match spoken.role {
            Role::User => files::private::append_line_soon(&self.path, &line).map(drop)?,
            Role::Assistant => files::private::append_line(&self.path, &line)?,
        }
        Ok(())
    }

    /// The last `at_most` things that were said, oldest first, as far as the store knows them: a text that somebody rewrote is
    /// not among them. With the worst label of all.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(
        &self,
        turns: &dyn Turns,
        who: &Caller,
        at_most: usize,
    ) -> Result<(Vec<Spoken>, Option<TaintTag>), HistoryError> {
        let Some(bytes) = files::private::read_last_lines(&self.path, HISTORY_BYTES_MAX)? else {
            return Ok((Vec::new(), None));
        };
        let most = u32::try_from(at_most.saturating_mul(2)).unwrap_or(u32::MAX);
        let kept = turns.turns(&who.session, most)?;
        let lines = files::private::whole_lines(&bytes);
        let said = lines.filter_map(|it| serde_json::from_slice::<Spoken>(it).ok());
        let known = said.filter(|it| {
            let digest = Digest::of(it.text.as_bytes());
            kept.iter().any(|turn| turn.text == digest)
        });
        let mut known: Vec<Spoken> = known.collect();
        known.drain(..known.len().saturating_sub(at_most));
        let tag = kept.iter().fold(None, |sum, it| worse(sum.as_ref(), it.tag.as_ref()));
        Ok((known, tag))
    }
}

/// What a model is shown of earlier turns: they take turns, and the user begins.
#[must_use]
pub(crate) fn messages(spoken: &[Spoken]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for it in spoken {
        let block = Block::Text { text: it.text.clone() };
        match messages.last_mut() {
            Some(last) if last.role == it.role => last.content.push(block),
            None if it.role == Role::Assistant => {}
            Some(_) | None => messages.push(Message { role: it.role, content: vec![block] }),
        }
    }
    // The next message is the user's.
    if messages.last().is_some_and(|it| it.role == Role::User) {
        messages.pop();
    }
    messages
}

/// Why a conversation cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The file.
    #[error("the conversation: {0}")]
    Io(#[from] io::Error),
    /// The store.
    #[error(transparent)]
    Store(#[from] TurnError),
}
