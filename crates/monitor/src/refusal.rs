//! Why the caller got no output.

use evidence::AppendError;
use model::ipc::IpcError;
use model::{CallError, Decision, Objection};

use crate::rule::Rule;
use crate::state::StateError;
use crate::verdict::Verdict;

/// Why the caller got no output. Each has left a record, unless recording itself failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It was understood, and it does not happen, or not yet.
    #[error("{}", sentence(.0))]
    Stopped(Box<Verdict>),
    /// It was no call.
    #[error("{0}")]
    Malformed(#[from] CallError),
    /// It was no message.
    #[error("{0}")]
    Message(#[from] IpcError),
    /// The session has no such tool.
    #[error("there is no tool `{0}` in this session")]
    UnknownTool(String),
    /// The session is not open here.
    #[error("session `{0}` is not open")]
    NoSession(model::SessionId),
    /// What came back is not passed on.
    #[error("the output is withheld: {}", .0.first().map_or("", |it| it.for_model.as_str()))]
    Withheld(Vec<Objection>),
    /// INVARIANT (RecordThenAct): what cannot be recorded does not happen.
    #[error("not recorded, therefore refused: {0}")]
    NotRecorded(#[from] AppendError),
    /// What the session must remember could not be kept.
    #[error("not kept, therefore refused: {0}")]
    NotKept(#[from] StateError),
}

fn sentence(verdict: &Verdict) -> String {
    verdict.and_why_nobody_was_asked(
        verdict.objections.first().map_or("stopped", |it| it.for_model.as_str()),
    )
}

impl Refusal {
    /// The decision that it amounts to.
    #[must_use]
    pub fn decision(&self) -> Decision {
        match self {
            Self::Stopped(verdict) => verdict.decision,
            Self::Malformed(_)
            | Self::Message(_)
            | Self::UnknownTool(_)
            | Self::NoSession(_)
            | Self::Withheld(_)
            | Self::NotRecorded(_)
            | Self::NotKept(_) => Decision::Deny,
        }
    }

    /// What spoke against it, the strictest first.
    #[must_use]
    pub fn objections(&self) -> &[Objection] {
        match self {
            Self::Stopped(verdict) => &verdict.objections,
            Self::Withheld(objections) => objections,
            Self::Malformed(_)
            | Self::Message(_)
            | Self::UnknownTool(_)
            | Self::NoSession(_)
            | Self::NotRecorded(_)
            | Self::NotKept(_) => &[],
        }
    }

    /// A stable id of what refused.
    #[must_use]
    pub fn rule(&self) -> &str {
        match self {
            Self::Stopped(verdict) => &verdict.rule,
            Self::Malformed(_) | Self::Message(_) => Rule::MalformedCall.as_str(),
            Self::UnknownTool(_) => Rule::UnknownTool.as_str(),
            Self::NoSession(_) => Rule::NoSession.as_str(),
            Self::Withheld(objections) => {
                objections.first().map_or(Rule::Withheld.as_str(), |it| it.rule.as_ref())
            }
            Self::NotRecorded(_) => Rule::NotRecorded.as_str(),
            Self::NotKept(_) => Rule::NotKept.as_str(),
        }
    }
}
