//! What the sender of a message is told.

use serde_json::{Map, Value, json};

use super::error::IpcError;
use super::shape::sorted;
use super::table::ActionName;
use super::uuid::Uuid;
use crate::{Decision, Fix, Objection};

/// What an agent can do about a call that was stopped, as far as anything is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// What would make it pass, for the agent to pass on.
    pub remedy: Option<String>,
    /// A safer way, for the agent itself.
    pub fix: Option<Fix>,
}

impl Next {
    /// What the objections of a verdict say, the strictest first.
    #[must_use]
    pub fn of(objections: &[Objection]) -> Self {
        // What would lift a question lifts no refusal beside it.
        let refuses = |it: &&Objection| it.decision == Decision::Deny;
        let is_refused = objections.iter().any(|it| refuses(&it));
        let counted = || objections.iter().filter(|it| !is_refused || refuses(it));
        Self {
            remedy: counted().find_map(|it| it.remedy.clone()),
            fix: counted().find_map(|it| it.fix.clone()),
        }
    }
}

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
        /// What would make it pass.
        next: Next,
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
        /// What would make it pass.
        next: Next,
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
        let (about, next) = match self {
            Self::TaintBlocked { approval, next, .. } | Self::Stopped { approval, next, .. } => {
                (*approval, Some(next))
            }
            Self::Done(_) | Self::Refused(_) | Self::Failed { .. } => (None, None),
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
        if let Some(remedy) = next.and_then(|it| it.remedy.as_deref()) {
            answer.insert("remedy".to_owned(), remedy.into());
        }
        if let Some(fix) = next.and_then(|it| it.fix.as_ref()) {
            let fix = json!({ "reason": fix.reason, "alternative": fix.alternative });
            answer.insert("fix".to_owned(), fix);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_a_refusal_nothing_is_said_that_helps_with_a_question_alone() {
        let objection = |decision, word: &'static str| {
            let fix = Fix { reason: word.into(), alternative: word.into() };
            let remedy = Some(word.to_owned());
            Objection { remedy, fix: Some(fix), ..Objection::new("a", decision, "b", "c") }
        };
        let asked = objection(Decision::StepUp, "ask");
        let refused = objection(Decision::Deny, "refuse");
        let bare = Objection { remedy: None, fix: None, ..refused.clone() };
        let words = |objections: &[Objection]| {
            let Next { remedy, fix } = Next::of(objections);
            [remedy, fix.map(|it| it.alternative.into_owned())].map(Option::unwrap_or_default)
        };
        assert_eq!(words(std::slice::from_ref(&asked)), ["ask", "ask"]);
        assert_eq!(words(&[asked.clone(), refused]), ["refuse", "refuse"]);
        assert_eq!(words(&[asked, bare]), ["", ""]);
    }
}
