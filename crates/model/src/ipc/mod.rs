//! Messages from agents: the first part of the gate.
//!
//! A message is bytes from somebody who may have been told what to send. [`parse`] makes it an
//! [`Action`] or refuses it, and nothing else makes one, so whoever holds an [`Action`] holds a
//! message that keeps all its limits. There is no field for who sends it: that is known from the
//! connection, and a message that claims it is refused like any with an unknown field.
//!
//! ```
//! use model::ipc::{self, Action, ActionName};
//!
//! let action = ipc::parse(br#"{"action":"web_search","query":"plague hospitals"}"#)?;
//! assert_eq!(action.name(), ActionName::WebSearch);
//! let Action::WebSearch(search) = action else { return Ok(()) };
//! assert_eq!(search.query.as_str(), "plague hospitals");
//! # Ok::<(), model::ipc::IpcError>(())
//! ```
//!
//! ```compile_fail,E0639
//! let forged = model::ipc::SkillList {};
//! ```

mod action;
mod answer;
mod declare;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod issue;
mod json;
mod limits;
mod list;
mod note;
mod number;
mod object;
mod scope;
mod shape;
mod table;
mod text;
mod time;
mod url;
mod uuid;

use serde_json::Value;

pub use action::*;
pub use answer::{Answer, Next};
pub use error::IpcError;
pub use headers::Headers;
pub use issue::Issue;
pub use json::{Malformed, read as read_json};
pub use limits::{
    ISSUES_MAX, MESSAGE_BYTES_MAX, NESTING_LEVELS_MAX, QUOTED_CHARS_MAX,
    TOOL_DESCRIPTION_UNITS_MAX, TOOL_NAME_UNITS_MAX, TOOL_SCHEMA_UNITS_MAX, TOOLS_MAX, VALUES_MAX,
};
pub use list::List;
pub use note::NoteName;
pub use number::{Temperature, Whole};
pub use object::Object;
pub use scope::Scope;
pub use table::{Action, ActionName};
pub use text::Text;
pub use time::Time;
pub use url::WebUrl;
pub use uuid::Uuid;

use issue::{Reader, quoted};

/// Reads a message.
///
/// # Errors
/// If it is not JSON of one meaning, names no known action, or carries anything that the action's
/// schema does not allow.
pub fn parse(bytes: &[u8]) -> Result<Action, IpcError> {
    let message = json::read(bytes)?;
    let Value::Object(mut fields) = message else {
        return Err(unknown("a message is an object"));
    };
    let action = match fields.remove(table::ACTION) {
        Some(Value::String(name)) => ActionName::parse(&name)
            .ok_or_else(|| unknown(format!("there is no action {}", quoted(&name))))?,
        Some(_) => return Err(unknown("`action` must be a string")),
        None => return Err(unknown("`action` is missing")),
    };
    let mut reader = Reader::default();
    Action::read(action, fields, &mut reader)
        .ok_or_else(|| IpcError::Invalid { action, issues: reader.into_issues() })
}

fn unknown(reason: impl Into<String>) -> IpcError {
    IpcError::UnknownAction { reason: reason.into() }
}
