//! What a person is asked, and what they said: durable, bound to one call, good for one use.

use aegx::Digest;
use model::ipc::Uuid;
use model::{EffectKind, SessionId, UserId};

use crate::error::Broken;

/// Keeps approvals. It decides nothing: who may answer is known to whoever calls it. All times are
/// in seconds since 1970.
pub trait Approvals: Send + Sync {
    /// Puts a question. The same question about the same call, asked again, is still one question.
    ///
    /// # Errors
    /// If too many are waiting in the session, if the question is too long or lives too long, or if
    /// it may not be durable.
    fn ask(&self, question: &Question) -> Result<Uuid, ApprovalError>;

    /// Notes a person's answer.
    ///
    /// # Errors
    /// If nothing is waiting under this id any more, or it may not be durable.
    fn answer(
        &self,
        id: Uuid,
        verdict: Verdict,
        by: &UserId,
        now: i64,
    ) -> Result<(), ApprovalError>;

    /// Uses up an approval of exactly this call in this session. Nobody gets it twice.
    ///
    /// # Errors
    /// If it may not be durable; then it must not be relied on.
    fn take(
        &self,
        session: &SessionId,
        call: &Digest,
        now: i64,
    ) -> Result<Option<Approval>, ApprovalError>;

    /// One approval as it stands at `now`.
    ///
    /// # Errors
    /// If there is none, or the store does not work.
    fn approval(&self, id: Uuid, now: i64) -> Result<Approval, ApprovalError>;

    /// What is waiting for an answer at `now`, oldest first, at most `limit`.
    ///
    /// # Errors
    /// If the store does not work.
    fn waiting(&self, now: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError>;
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The session that wants to act.
    pub session: SessionId,
    /// For whom it runs.
    pub user: UserId,
    /// What it wants to do.
    pub action: EffectKind,
    /// The hash of the exact call.
    pub call: Digest,
    /// What the person is shown.
    pub shown: String,
    /// When it was asked.
    pub created: i64,
    /// From when on neither question nor answer counts.
    pub expires: i64,
}

/// A question and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Its name.
    pub id: Uuid,
    /// The question.
    pub question: Question,
    /// What became of it.
    pub state: ApprovalState,
    /// Who answered.
    pub answered_by: Option<UserId>,
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This call, once.
    Approve,
    /// Not this call.
    Deny,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Nobody has answered.
    Pending,
    /// Approved and not used.
    Approved,
    /// Denied.
    Denied,
    /// Its time ran out before it was answered or used.
    Expired,
    /// Approved and used.
    Used,
}

impl ApprovalState {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Approved, Self::Denied, Self::Expired, Self::Used];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Used => "used",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// Why a question or an answer was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// No such question.
    #[error("there is no approval `{id}`")]
    NotFound {
        /// What was asked for.
        id: Uuid,
    },
    /// It is settled.
    #[error("approval `{id}` is {state} and waits for no answer", state = .state.as_str())]
    Settled {
        /// Which.
        id: Uuid,
        /// What became of it.
        state: ApprovalState,
    },
    /// Nobody could answer so many.
    #[error("{PENDING_PER_SESSION_MAX} approvals are waiting in session `{session}` already")]
    TooMany {
        /// The session.
        session: SessionId,
    },
    /// Nobody could read it.
    #[error("the question has {bytes} bytes, at most {SHOWN_BYTES_MAX} are shown")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It would be over before it began, or hardly ever.
    #[error("an approval lives from 1 to {LIFE_SECONDS_MAX} seconds, not {seconds}")]
    Life {
        /// From creation to end.
        seconds: i64,
    },
    /// The store.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// How many questions of a session may wait.
pub const PENDING_PER_SESSION_MAX: i64 = 16;
/// The longest text that a person is shown.
pub const SHOWN_BYTES_MAX: usize = 64 << 10;
/// The longest life of a question and its answer.
pub const LIFE_SECONDS_MAX: i64 = 7 * 86_400;
/// How long settled ones are kept after their end; the evidence stays.
pub const SETTLED_SECONDS_KEPT: i64 = 90 * 86_400;
