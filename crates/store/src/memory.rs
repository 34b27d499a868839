//! The agent's memory: rows that carry their taint from session to session.
//!
//! INVARIANT (HostDecidesTaint): the tag comes from the permit, which is the host's, never from the
//! message.

use aegx::Digest;
use evidence::Receipt;
use model::ipc::{
    MemoryDelete, MemoryKind, MemoryList, MemoryQuery, MemoryRead, MemoryWrite, Uuid,
};
use model::{AgentId, SessionId, TaintTag, UserId};
use monitor::Permit;
use monitor::taint::worse;

use crate::error::Broken;
use crate::notes::Notes;
use crate::scope;
use crate::turns::{Turn, inherit};

/// Keeps memory. Everybody sees the rows of the permit's user and no others: a row of somebody else
/// is not found, whatever the message says.
///
/// Whoever hands rows on to an agent feeds their tags to its session first.
pub trait Memory: Notes + Send + Sync {
    /// Remembers something, with the tag of the session that says it.
    ///
    /// # Errors
    /// If the user's memory is full or the store does not work.
    fn write(&self, permit: Permit<MemoryWrite>, now: i64) -> Result<Written, MemoryError>;

    /// Remembers what was made of other rows, a summary: as tainted as the worst of them.
    ///
    /// # Errors
    /// As [`Memory::write`].
    fn write_derived(
        &self,
        permit: Permit<MemoryWrite>,
        from: &[MemoryRow],
        now: i64,
    ) -> Result<Written, MemoryError>;

    /// Remembers a fact that was taken out of the session's conversation: as tainted as the turns
    /// it came from, see [`inherit`](crate::inherit).
    ///
    /// # Errors
    /// As [`Memory::write`].
    fn write_fact(
        &self,
        permit: Permit<MemoryWrite>,
        extracted_from: Option<&str>,
        spoken: &[&str],
        now: i64,
    ) -> Result<Written, MemoryError>;

    /// Rows of a scope and all beneath it in which any of the words occur, those first that have most
    /// of them; without words the newest.
    ///
    /// # Errors
    /// If the store does not work.
    fn query(&self, permit: Permit<MemoryQuery>) -> Result<Vec<MemoryRow>, MemoryError>;

    /// One row.
    ///
    /// # Errors
    /// If the user has none with this id, or the store does not work.
    fn read(&self, permit: Permit<MemoryRead>) -> Result<MemoryRow, MemoryError>;

    /// Forgets one row. Its label stays: the same content is tainted when it comes back.
    ///
    /// # Errors
    /// As [`Memory::read`].
    fn delete(&self, permit: Permit<MemoryDelete>) -> Result<(), MemoryError>;

    /// The newest rows of a scope and all beneath it.
    ///
    /// # Errors
    /// If the store does not work.
    fn list(&self, permit: Permit<MemoryList>) -> Result<Vec<MemoryRow>, MemoryError>;

    /// Rows of a user, tasks and notes too, for the user themself to take along: those after `after`, oldest first, some
    /// at a time. Each with its number, by which the next page is asked for. The receipt proves that it was recorded
    /// first.
    ///
    /// # Errors
    /// If the store does not work.
    fn rows_of(
        &self,
        user: &UserId,
        after: i64,
        receipt: &Receipt,
    ) -> Result<Vec<(i64, MemoryRow)>, MemoryError>;

    /// Forgets all rows of a user, tasks and notes too, and gives how many. Their labels stay: the same content is tainted
    /// when it comes back. The receipt proves that it was recorded first.
    ///
    /// # Errors
    /// If the store does not work.
    fn forget_user(&self, user: &UserId, receipt: &Receipt) -> Result<u64, MemoryError>;

    /// Takes what was forgotten out of what is kept beside the rows, the index of words and the log, in which it stays for
    /// a while. Is all of it gone? Not while somebody reads: then it is to be asked for again.
    ///
    /// # Errors
    /// If the store does not work.
    fn wipe(&self) -> Result<bool, MemoryError>;
}

/// What a place for rows does. Who may have which, and what a permit says, is the same for all of them: that is
/// [`Memory`], which every such place is.
pub(crate) trait Rows: Send + Sync {
    /// Keeps a row. Equal content of the same user, old and new, takes the worst tag of all.
    fn keep(&self, new: NewMemory) -> Result<Written, MemoryError>;

    /// The worst label that the row's content has by now.
    fn known(&self, row: &MemoryRow) -> Result<Option<TaintTag>, MemoryError>;

    /// Rows of the user in the scope and beneath it: those with the words, best first; without words the newest.
    fn find(
        &self,
        user: &UserId,
        scope: &str,
        words: &str,
        limit: u64,
    ) -> Result<Vec<MemoryRow>, MemoryError>;

    /// One row of the user.
    fn read_row(&self, user: &UserId, id: Uuid) -> Result<MemoryRow, MemoryError>;

    /// Forgets one row of the user.
    fn delete_row(&self, user: &UserId, id: Uuid) -> Result<(), MemoryError>;

    /// Rows of the user after the number `after`, oldest first, each with its number.
    fn page(
        &self,
        user: &UserId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<(i64, MemoryRow)>, MemoryError>;

    /// The numbers of the newest rows of the user in the scope and beneath it, newest first.
    fn numbers(&self, user: &UserId, scope: &str, limit: u64) -> Result<Vec<i64>, MemoryError>;

    /// Forgets all rows of the user, and leaves none of their words where they are kept.
    fn delete_all(&self, user: &UserId) -> Result<u64, MemoryError>;

    /// Takes forgotten rows out of what is kept beside the rows. Is all of it gone?
    fn wipe_beside(&self) -> Result<bool, MemoryError>;

    /// The conversation of a session, as it was noted; empty if nobody knows it.
    fn spoken_in(&self, session: &SessionId) -> Result<Vec<Turn>, MemoryError>;

    /// Keeps what was made of other rows.
    fn keep_derived(&self, mut new: NewMemory, from: &[MemoryRow]) -> Result<Written, MemoryError> {
        for row in from {
            // Its own label may have become worse since it was read.
            let theirs = worse(row.tag.as_ref(), self.known(row)?.as_ref());
            new.tag = worse(new.tag.as_ref(), theirs.as_ref());
        }
        self.keep(new)
    }
}

impl<T: Rows> Memory for T {
    fn write(&self, permit: Permit<MemoryWrite>, now: i64) -> Result<Written, MemoryError> {
        self.keep(NewMemory::of(permit, now))
    }

    fn write_derived(
        &self,
        permit: Permit<MemoryWrite>,
        from: &[MemoryRow],
        now: i64,
    ) -> Result<Written, MemoryError> {
        self.keep_derived(NewMemory::of(permit, now), from)
    }

    fn write_fact(
        &self,
        permit: Permit<MemoryWrite>,
        extracted_from: Option<&str>,
        spoken: &[&str],
        now: i64,
    ) -> Result<Written, MemoryError> {
        let kept = self.spoken_in(&permit.who().session)?;
        let mut fact = NewMemory::of(permit, now);
        let inherited = inherit(&fact.content, extracted_from, spoken, &kept);
        fact.tag = worse(fact.tag.as_ref(), inherited.as_ref());
        self.keep(fact)
    }

    fn query(&self, permit: Permit<MemoryQuery>) -> Result<Vec<MemoryRow>, MemoryError> {
        let user = permit.who().user.clone();
        let query = permit.spend();
        let limit = query.max_results.map_or(MEMORY_RESULTS_DEFAULT, |it| it.get());
        let words = query.query.as_ref().map_or("", |it| it.as_str());
        self.find(&user, query.scope.as_str(), words, limit)
    }

    fn read(&self, permit: Permit<MemoryRead>) -> Result<MemoryRow, MemoryError> {
        let user = permit.who().user.clone();
        named(self, &user, permit.spend().id)
    }

    fn delete(&self, permit: Permit<MemoryDelete>) -> Result<(), MemoryError> {
        let user = permit.who().user.clone();
        let id = permit.spend().id;
        named(self, &user, id)?;
        self.delete_row(&user, id)
    }

    fn list(&self, permit: Permit<MemoryList>) -> Result<Vec<MemoryRow>, MemoryError> {
        let user = permit.who().user.clone();
        let list = permit.spend();
        let limit = list.limit.map_or(MEMORY_RESULTS_DEFAULT, |it| it.get());
        self.find(&user, list.scope.as_str(), "", limit)
    }

    fn rows_of(
        &self,
        user: &UserId,
        after: i64,
        _: &Receipt,
    ) -> Result<Vec<(i64, MemoryRow)>, MemoryError> {
        self.page(user, after, ROWS_PER_PAGE)
    }

    fn forget_user(&self, user: &UserId, _: &Receipt) -> Result<u64, MemoryError> {
        self.delete_all(user)
    }

    fn wipe(&self) -> Result<bool, MemoryError> {
        self.wipe_beside()
    }
}

/// A row of the user that a message can name. Tasks and notes have actions of their own, which know whose session they are
/// of: by their ids alone they are not there.
fn named(rows: &dyn Rows, user: &UserId, id: Uuid) -> Result<MemoryRow, MemoryError> {
    let found = rows.read_row(user, id)?;
    if scope::is_hidden(&found.scope) { Err(MemoryError::NotFound { id }) } else { Ok(found) }
}

/// A row of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// Its name.
    pub id: Uuid,
    /// Whose it is.
    pub user: UserId,
    /// Which agent wrote it.
    pub agent: AgentId,
    /// The part of the memory.
    pub scope: String,
    /// What kind of thing it is.
    pub kind: MemoryKind,
    /// What is remembered.
    pub content: String,
    /// Where the agent says it has it from.
    pub source: Option<String>,
    /// The row that it belongs to.
    pub related_id: Option<Uuid>,
    /// When it was first written, in seconds since 1970.
    pub created: i64,
    /// Id of the record of the decision by which it was written, as hex.
    pub record: String,
    /// Where its content has been; none if it is clean.
    pub tag: Option<TaintTag>,
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The row that holds the content now.
    pub id: Uuid,
    /// Its tag: that of the session, or a worse one that the content had already.
    pub tag: Option<TaintTag>,
    /// It was there already.
    pub is_duplicate: bool,
}

/// What is to be kept, all of it already judged.
#[derive(Clone, Debug)]
pub(crate) struct NewMemory {
    pub(crate) user: UserId,
    pub(crate) agent: AgentId,
    pub(crate) scope: String,
    pub(crate) kind: MemoryKind,
    pub(crate) content: String,
    pub(crate) source: Option<String>,
    pub(crate) related_id: Option<Uuid>,
    pub(crate) created: i64,
    pub(crate) record: Digest,
    pub(crate) tag: Option<TaintTag>,
}

impl NewMemory {
    /// What the permit allows, with the permit's tag.
    pub(crate) fn of(permit: Permit<MemoryWrite>, now: i64) -> Self {
        let who = permit.who().clone();
        let tag = permit.tag().cloned();
        let record = permit.record();
        let write = permit.spend();
        Self {
            user: who.user,
            agent: who.agent,
            scope: write.scope.as_str().to_owned(),
            kind: write.kind,
            content: write.content.as_str().to_owned(),
            source: write.source.map(|it| it.as_str().to_owned()),
            related_id: write.related_id,
            created: now,
            record,
            tag,
        }
    }
}

/// Why memory was not written or not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The user has no such row; others may.
    #[error("there is no memory entry `{id}`")]
    NotFound {
        /// What was asked for.
        id: Uuid,
    },
    /// The user has as many rows as one may have.
    #[error("the memory is full: it holds {MEMORY_ROWS_PER_USER_MAX} entries")]
    Full,
    /// The store.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// How many rows a user may have.
pub const MEMORY_ROWS_PER_USER_MAX: i64 = 100_000;
/// How many rows are given when the message does not say.
pub const MEMORY_RESULTS_DEFAULT: u64 = 20;
/// How many rows of a user are handed out at once when they take them along.
pub(crate) const ROWS_PER_PAGE: i64 = 500;
/// How many words of a query are looked for.
pub const QUERY_WORDS_MAX: usize = 64;
