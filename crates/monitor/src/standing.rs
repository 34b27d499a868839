//! A yes that holds for more than one call: for the same call in its session, or for a kind of call to a place.
//!
//! INVARIANT (GuardsOnlyObject): it lifts questions, like any yes, and never a denial; and only what the person
//! was shown when they gave it.

use model::ipc::Uuid;
use model::{AgentId, EffectKind, SessionId, UserId};

use crate::approvals::{Approval, ExactCall};
use crate::confirm::ACTION_GRANT_SECONDS;
use crate::question::Grounds;

/// How long such a yes holds.
pub const STANDING_SECONDS: i64 = ACTION_GRANT_SECONDS;
/// How many may hold at a time.
pub const STANDING_MAX: i64 = 200;

/// For what a yes holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Exactly this call, as often as it is made in this session.
    Session,
    /// Calls of this kind to this place, in every session of this user with this agent.
    Kind,
    /// The same in this session.
    SessionKind,
}

impl Span {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Session, Self::Kind, Self::SessionKind];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Kind => "kind",
            Self::SessionKind => "session_kind",
        }
    }

    /// What exactly this name stands for.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// In a few words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Session => "exactly this call, in this session",
            Self::Kind => "this kind of call to this place",
            Self::SessionKind => "this kind of call to this place, in this session",
        }
    }
}

/// A yes that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its name.
    pub id: Uuid,
    /// The question that it was given to.
    pub approval: Uuid,
    /// For what it holds.
    pub span: Span,
    /// The session that was asked about; the only one, unless it is for a kind.
    pub session: SessionId,
    /// For whom.
    pub user: UserId,
    /// The agent.
    pub agent: AgentId,
    /// What may be done.
    pub action: EffectKind,
    /// By which tool.
    pub tool: String,
    /// The hash of the call, or of its kind.
    pub scope: String,
    /// The place, for people.
    pub place: Vec<String>,
    /// What it lifts.
    pub grounds: Grounds,
    /// Who gave it.
    pub by: UserId,
    /// Why; may be empty.
    pub reason: String,
    /// When.
    pub created: i64,
    /// From when on it does not hold.
    pub expires: i64,
    /// The record of it.
    pub record: String,
    /// Who took it back, and when.
    pub revoked: Option<(UserId, i64)>,
    /// How often it was used.
    pub uses: u64,
}

/// A call that looks for such a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The call.
    pub call: ExactCall,
    /// For whom.
    pub user: UserId,
    /// The agent.
    pub agent: AgentId,
    /// What it is stopped for.
    pub grounds: Grounds,
    /// The hash of its kind and what its kind is stopped for, if it has one.
    pub kind: Option<(String, Grounds)>,
}

/// Why a question cannot be answered so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this call is one of a kind: it names no place, could not be read whole, or runs code or other \
     programs; approve it once, or with --session"
)]
pub struct NoKind;

impl Standing {
    /// The yes that `by` gives to the question of `approval`.
    ///
    /// # Errors
    /// If it is for a kind, and the call has none.
    pub fn of(
        approval: &Approval,
        span: Span,
        (by, reason, now): (UserId, String, i64),
    ) -> Result<Self, NoKind> {
        let question = &approval.question;
        let kind = question.shown.kind.as_ref();
        let (scope, grounds) = match span {
            Span::Session => (question.call.digest.to_string(), question.shown.grounds.clone()),
            Span::Kind | Span::SessionKind => {
                let kind = kind.ok_or(NoKind)?;
                (kind.digest.clone(), kind.grounds.clone())
            }
        };
        Ok(Self {
            id: approval.id,
            approval: approval.id,
            span,
            session: question.call.session.clone(),
            user: question.user.clone(),
            agent: question.agent.clone(),
            action: question.call.action,
            tool: question.shown.tool.clone(),
            scope,
            place: kind.map(|it| it.place.clone()).unwrap_or_default(),
            grounds,
            by,
            reason,
            created: now,
            expires: now.saturating_add(STANDING_SECONDS),
            record: String::new(),
            revoked: None,
            uses: 0,
        })
    }

    /// Does it lift all that the call is stopped for, at `now`?
    #[must_use]
    pub fn covers(&self, wanted: &Wanted, now: i64) -> bool {
        let Wanted { call, user, agent, grounds, kind } = wanted;
        let is_theirs = (&self.user, &self.agent) == (user, agent) && self.action == call.action;
        let in_session = self.session == call.session;
        let of_kind = kind.as_ref().is_some_and(|(digest, grounds)| {
            *digest == self.scope && grounds.are_within(&self.grounds)
        });
        let of_call = call.digest.to_string() == self.scope && grounds.are_within(&self.grounds);
        let fits = match self.span {
            Span::Session => in_session && of_call,
            Span::Kind => of_kind,
            Span::SessionKind => in_session && of_kind,
        };
        is_theirs && fits && self.revoked.is_none() && now < self.expires
    }
}
