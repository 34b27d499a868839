//! Why a message was refused, before anybody acted on it.

use serde_json::{Map, Value, json};

use super::issue::Issue;
use super::json::Malformed;
use super::table::ActionName;

/// Why a message was refused.
///
/// The text is what the sender is told. What stands beside it is for the evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IpcError {
    /// Too long, not UTF-8, not JSON, too deep, or with a key that stands twice.
    #[error("Invalid JSON")]
    Malformed(#[from] Malformed),
    /// No object, no action in it, or none that we know.
    #[error("Unknown or missing action")]
    UnknownAction {
        /// What is wrong with it.
        reason: String,
    },
    /// A known action that carries something wrong.
    #[error("Validation failed for action \"{name}\"", name = action.as_str())]
    Invalid {
        /// The action.
        action: ActionName,
        /// What is wrong; never empty.
        issues: Vec<Issue>,
    },
}

impl IpcError {
    /// The action, where one was recognised.
    #[must_use]
    pub fn action(&self) -> Option<ActionName> {
        match self {
            Self::Malformed(_) | Self::UnknownAction { .. } => None,
            Self::Invalid { action, .. } => Some(*action),
        }
    }

    /// What other programs call this in their records.
    #[must_use]
    pub const fn alias(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "ipc_parse_error",
            Self::UnknownAction { .. } => "ipc_unknown_action",
            Self::Invalid { .. } => "ipc_validation_failure",
        }
    }

    /// What is wrong in detail: texts, or objects with `path` and `message`.
    #[must_use]
    pub fn details(&self) -> Vec<Value> {
        match self {
            Self::Malformed(reason) => vec![reason.to_string().into()],
            Self::UnknownAction { reason } => vec![reason.as_str().into()],
            Self::Invalid { issues, .. } => {
                issues.iter().map(|it| json!({"path": it.path, "message": it.message})).collect()
            }
        }
    }

    /// The answer to the sender, without `ok`. Of bytes that are no JSON it learns only that.
    pub(super) fn answer(&self) -> Map<String, Value> {
        let mut answer = Map::new();
        answer.insert("error".to_owned(), self.to_string().into());
        match self {
            Self::Malformed(_) => {}
            Self::UnknownAction { .. } | Self::Invalid { .. } => {
                answer.insert("details".to_owned(), self.details().into());
            }
        }
        answer
    }
}
