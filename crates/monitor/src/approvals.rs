//! What a person is asked, and what they said: durable, bound to one call, good for one use.
//!
//! INVARIANT (OnlyPeopleApprove): an answer needs the receipt of its own record, and nothing that an
//! agent, a page or a tool can say leads to [`answer`]. It is called by the person's own doors.

use aegx::Digest;
use evidence::{AppendError, Journal, Receipt};
use model::ipc::Uuid;
use model::{AgentId, Caller, EffectKind, Kind, SessionId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::confirm::CALL_GRANT_SECONDS;
use crate::question::{Grounds, Shown};
use crate::record;
use crate::standing::{STANDING_MAX, Standing, Wanted};
use crate::state::StateError;

/// Keeps approvals. It decides nothing: who may answer is known to whoever calls it. All times are
/// in seconds since 1970.
pub trait Approvals: Send + Sync {
    /// Puts a question. The same question about the same call, asked again, is still one question.
    /// If it is asked for other reasons, the one that waits is withdrawn, and a new one put: nobody
    /// answers what they were not shown.
    ///
    /// # Errors
    /// If too many are waiting in the session, if the question is too long or lives too long, or if
    /// it may not be durable.
    fn ask(&self, question: &Question) -> Result<Uuid, ApprovalError>;

    /// Keeps a person's answer. The receipt proves that it was recorded first.
    ///
    /// # Errors
    /// If nothing is waiting under this id any more, or it may not be durable.
    fn answer(
        &self,
        id: Uuid,
        answer: &Answer,
        receipt: &Receipt,
    ) -> Result<Approval, ApprovalError>;

    /// What a person said of exactly this call, and what still counts at `now`. An approval is used
    /// up by it, so that nobody gets it twice; a denial is not. An approval that was given without
    /// one of these `grounds` counts no more.
    ///
    /// # Errors
    /// If it may not be durable; then it must not be relied on.
    fn take(
        &self,
        call: &ExactCall,
        grounds: &Grounds,
        now: i64,
    ) -> Result<Option<Approval>, StateError>;

    /// Nobody need answer about this call any more: they did so elsewhere.
    ///
    /// # Errors
    /// If it may not be durable.
    fn withdraw(&self, call: &ExactCall, now: i64) -> Result<(), StateError>;

    /// What a person approved of exactly this call and what would still count at `now`, had nothing come up
    /// since.
    ///
    /// # Errors
    /// If the store does not work.
    fn approved(&self, call: &ExactCall, now: i64) -> Result<Option<Approval>, StateError>;

    /// Notes on an approval what stopped the call all the same, for whoever gave it.
    ///
    /// # Errors
    /// If it may not be durable.
    fn hinder(&self, id: Uuid, hindrance: &Hindrance) -> Result<(), StateError>;

    /// A yes that holds for this call among others, at `now`. That it was used is counted.
    ///
    /// # Errors
    /// If it may not be durable; then it must not be relied on.
    fn standing(&self, wanted: &Wanted, now: i64) -> Result<Option<Standing>, StateError>;

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

    /// All that are kept, as they stand at `now`, newest first, at most `limit`.
    ///
    /// # Errors
    /// If the store does not work.
    fn approvals(&self, now: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError>;
}

/// One call of one session, and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactCall {
    /// The session that wants to act.
    pub session: SessionId,
    /// What it wants to do.
    pub action: EffectKind,
    /// The hash of the exact call.
    pub digest: Digest,
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The call.
    pub call: ExactCall,
    /// For whom the session runs.
    pub user: UserId,
    /// Who wants to act.
    pub agent: AgentId,
    /// What the person is shown.
    pub shown: Shown,
    /// When it was asked.
    pub created: i64,
    /// From when on it does not count; an answer sets it anew.
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
    /// What was said, if somebody has answered, and the record of it.
    pub answered: Option<(Answer, String)>,
    /// What stopped the call although it was approved.
    pub hindered: Option<Hindrance>,
}

/// What stopped a call although it was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hindrance {
    /// The rule or guard, or `not-begun`.
    pub rule: String,
    /// Why, in one sentence.
    pub why: String,
    /// When.
    pub at: i64,
}

/// What a person says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Yes or no.
    pub word: Word,
    /// Who says it.
    pub by: UserId,
    /// Why, in their own words; may be empty.
    pub reason: String,
    /// When.
    pub at: i64,
}

impl Answer {
    /// From when on it does not count any more.
    #[must_use]
    pub const fn expires(&self) -> i64 {
        self.at.saturating_add(match self.word {
            Word::Approve => CALL_GRANT_SECONDS,
            Word::Deny => DENIAL_SECONDS,
        })
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// This call, once.
    Approve,
    /// Not this call.
    Deny,
}

impl Word {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
        }
    }

    /// What exactly this name stands for.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Approve, Self::Deny].into_iter().find(|it| it.as_str() == text)
    }
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

    /// What exactly this name stands for.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
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
    /// Nobody could keep track of so many.
    #[error(
        "{} answers hold already; take some back with `lazaret approvals revoke`",
        STANDING_MAX
    )]
    TooManyStanding,
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
    /// A reason that nobody would read.
    #[error("a reason has at most {REASON_BYTES_MAX} bytes, not {bytes}")]
    Reason {
        /// Its length.
        bytes: usize,
    },
    /// The answer cannot be recorded, and so does not count.
    #[error("not recorded, therefore not answered: {why}")]
    NotRecorded {
        /// What the journal said.
        why: String,
    },
    /// The store.
    #[error(transparent)]
    State(#[from] StateError),
}

impl ApprovalError {
    /// Is it about what was asked for, and not about what does not work?
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::Settled { .. }
            | Self::TooMany { .. }
            | Self::TooManyStanding
            | Self::TooLong { .. }
            | Self::Life { .. }
            | Self::Reason { .. } => true,
            Self::NotRecorded { .. } | Self::State(_) => false,
        }
    }
}

impl From<AppendError> for ApprovalError {
    fn from(error: AppendError) -> Self {
        Self::NotRecorded { why: error.to_string() }
    }
}

/// A person answers: recorded first, then kept. Whoever calls this has made sure that it is a person.
///
/// # Errors
/// If nothing waits under this id any more, or it cannot be recorded or kept; then it does not count.
pub fn answer(
    journal: &Journal,
    approvals: &dyn Approvals,
    id: Uuid,
    answer: &Answer,
) -> Result<Approval, ApprovalError> {
    let bytes = answer.reason.len();
    if bytes > REASON_BYTES_MAX {
        return Err(ApprovalError::Reason { bytes });
    }
    let found = approvals.approval(id, answer.at)?;
    if found.state != ApprovalState::Pending {
        return Err(ApprovalError::Settled { id, state: found.state });
    }
    let Question { call, user, agent, shown, .. } = &found.question;
    let who = Caller {
        session: call.session.clone(),
        user: user.clone(),
        agent: agent.clone(),
        door: Kind::of_static("control"),
    };
    let content = json!({
        "action": call.action.as_str(),
        "action_sha256": call.digest.to_hex().as_str(),
        "answer": answer.word.as_str(),
        "approval": id.to_string(),
        "by": answer.by.as_str(),
        "reason": answer.reason,
        "tool": shown.tool,
    });
    let receipt = journal.append(record::by_person(&who, "approval_answered", content))?;
    approvals.answer(id, answer, &receipt).inspect_err(|error| {
        // Somebody else was faster, or the store failed: the record before says more than is true.
        let content = json!({ "approval": id.to_string(), "error": error.to_string() });
        let _ = journal.append(record::by_person(&who, "approval_not_answered", content));
    })
}

/// How long a question waits.
pub const QUESTION_SECONDS: i64 = 3600;
/// How long a no holds.
pub const DENIAL_SECONDS: i64 = 3600;
/// How many questions of a session may wait.
pub const PENDING_PER_SESSION_MAX: i64 = 16;
/// The longest text that a person is shown.
pub const SHOWN_BYTES_MAX: usize = 64 << 10;
/// The longest reason.
pub const REASON_BYTES_MAX: usize = 2000;
/// The longest life of a question.
pub const LIFE_SECONDS_MAX: i64 = 7 * 86_400;
/// How long settled ones are kept after their end; the evidence stays.
pub const SETTLED_SECONDS_KEPT: i64 = 90 * 86_400;
