//! What is wrong with a message, and where: issues are gathered while it is read.

use serde_json::{Map, Value};

use super::limits::{ISSUES_MAX, QUOTED_CHARS_MAX};

/// One thing that is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where: names and positions with dots between, `messages.0.role`; empty for the message.
    pub path: String,
    /// What.
    pub message: String,
}

/// Walks through a message and remembers what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Reader {
    path: Vec<String>,
    issues: Vec<Issue>,
}

impl Reader {
    /// What was found; at most [`ISSUES_MAX`].
    pub(super) fn into_issues(self) -> Vec<Issue> {
        self.issues
    }

    /// Notes that this place is wrong. Answers `None`, so that a reader can end with it.
    pub(super) fn refuse<T>(&mut self, message: impl Into<String>) -> Option<T> {
        if self.issues.len() < ISSUES_MAX {
            self.issues.push(Issue { path: self.path.join("."), message: message.into() });
        }
        None
    }

    /// Reads what lies at `step` from here.
    pub(super) fn within<T>(
        &mut self,
        step: impl Into<String>,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.path.push(step.into());
        let found = read(self);
        self.path.pop();
        found
    }

    /// The text here.
    pub(super) fn text(&mut self, value: Value) -> Option<String> {
        let Value::String(text) = value else { return self.wrong_type("a string", &value) };
        Some(text)
    }

    /// The fields here.
    pub(super) fn object(&mut self, value: Value) -> Option<Map<String, Value>> {
        let Value::Object(fields) = value else { return self.wrong_type("an object", &value) };
        Some(fields)
    }

    /// The items here.
    pub(super) fn array(&mut self, value: Value) -> Option<Vec<Value>> {
        let Value::Array(items) = value else { return self.wrong_type("an array", &value) };
        Some(items)
    }

    /// Refuses what is not of the type that belongs here.
    pub(super) fn wrong_type<T>(&mut self, expected: &str, found: &Value) -> Option<T> {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        self.refuse(format!("must be {expected}, not {found}"))
    }

    /// Refuses every field that nobody has taken.
    pub(super) fn nothing_left(&mut self, rest: &mut Map<String, Value>) -> Option<()> {
        let mut outcome = Some(());
        // Taking the others may have moved them.
        rest.sort_keys();
        for (name, _) in std::mem::take(rest) {
            outcome = self.refuse(format!("unknown field {}", quoted(&name)));
        }
        outcome
    }
}

/// A sender's text in backticks, cut short, with nothing in it that a terminal would obey.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{}`", shown.escape_debug())
}
