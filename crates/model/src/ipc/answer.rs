//! What the sender of a message is told.

use serde_json::{Map, Value};

use super::error::IpcError;
use super::shape::sorted;
use super::table::ActionName;
use super::uuid::Uuid;
use crate::Decision;

/// The answer to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was done; this is what the handler gave.
    Done(Map<String, Value>),
    /// It was no message that we act on.
    Refused(IpcError),
    /// It was one, but too much of the session comes from outside. A person can confirm it.
    TaintBlocked {
        /// The action.
        action: ActionName,
        /// Why, for the person.
        reason: String,
        /// The question that was put to them, if one was.
        approval: Option<Uuid>,
    },
    /// It was one, and the gate does not let it happen, or not yet.
    Stopped {
        /// The action.
        action: ActionName,
        /// The decision.
        decision: Decision,
        /// The rule or guard that decided.
        rule: String,
        /// Why, in one sentence.
        reason: String,
        /// The approval that it is about: one that a person is asked for, or has denied.
        approval: Option<Uuid>,
    },
    /// Its handler tried and failed.
    Failed {
        /// What the sender may know of it.
        message: String,
    },
}

impl Answer {
    /// The answer as it is sent. `ok` says whether it was done, whatever a handler gave.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let about = match self {
            Self::TaintBlocked { approval, .. } | Self::Stopped { approval, .. } => *approval,
            Self::Done(_) | Self::Refused(_) | Self::Failed { .. } => None,
        };
        let mut answer = match self {
            Self::Done(fields) => fields.clone(),
            Self::Refused(error) => error.answer(),
            Self::TaintBlocked { action, reason, .. } => Map::from_iter([
                ("error".to_owned(), reason.as_str().into()),
                ("taintBlocked".to_owned(), true.into()),
                ("action".to_owned(), action.as_str().into()),
            ]),
            Self::Stopped { action, decision, rule, reason, .. } => Map::from_iter([
                ("error".to_owned(), reason.as_str().into()),
                ("action".to_owned(), action.as_str().into()),
                ("decision".to_owned(), decision.as_str().into()),
                ("rule".to_owned(), rule.as_str().into()),
            ]),
            Self::Failed { message } => {
                Map::from_iter([("error".to_owned(), format!("Handler error: {message}").into())])
            }
        };
        if let Some(approval) = about {
            answer.insert("approval".to_owned(), approval.to_string().into());
        }
        let done = matches!(self, Self::Done(_));
        answer.insert("ok".to_owned(), done.into());
        sorted(answer)
    }
}

impl From<IpcError> for Answer {
    fn from(error: IpcError) -> Self {
        Self::Refused(error)
    }
}
