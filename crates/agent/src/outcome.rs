//! What the door answered, as a model reads it.

use llm::Block;
use serde_json::Value;

use crate::results::Part;

/// UTF-16 units of a result that a model is shown; the rest is kept to be asked for.
pub const RESULT_CHARS_MAX: usize = 50_000;

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ran.
    Ran,
    /// The gate did not let it happen.
    Denied,
    /// It was no call, or did not work.
    Failed,
}

impl Fate {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Denied => "denied",
            Self::Failed => "failed",
        }
    }
}

/// What came of a call, and what the model is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What came of it.
    pub fate: Fate,
    /// What the model reads, before it is cut to what fits.
    pub text: String,
    /// Of which result that was cut before it is a part.
    pub(crate) part: Option<Part>,
}

/// So much of what is wrong with a call a model is told at most.
const DETAILS_MAX: usize = 8;

/// What is wrong at one place of a call.
fn detail(it: &Value) -> String {
    let message = it.get("message").and_then(Value::as_str).or(it.as_str()).unwrap_or_default();
    let path = it.get("path").map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    path.map_or_else(|| message.to_owned(), |path| format!("{path}: {message}"))
}

impl Outcome {
    /// A call that was none.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self { fate: Fate::Failed, text: why.into(), part: None }
    }

    /// Reads the door's answer. Anything but `"ok": true` is no success.
    #[must_use]
    pub fn of(answer: &Value) -> Self {
        let Value::Object(fields) = answer else {
            return Self::failed("the answer was not understood");
        };
        if fields.get("ok") == Some(&Value::Bool(true)) {
            let mut fields = fields.clone();
            fields.remove("ok");
            let text = Value::Object(fields).to_string();
            return Self { fate: Fate::Ran, text, part: None };
        }
        let said = |key: &str| fields.get(key).and_then(Value::as_str);
        let denied = said("decision").is_some() || fields.contains_key("taintBlocked");
        let mut lines = vec![match denied {
            true => format!("This call was not allowed: {}", said("error").unwrap_or("refused")),
            false => format!("This call failed: {}", said("error").unwrap_or("no reason given")),
        }];
        for (key, name) in [("rule", "Rule"), ("remedy", "What would help")] {
            lines.extend(said(key).map(|it| format!("{name}: {it}")));
        }
        if let Some(fix) = fields.get("fix") {
            let part = |key: &str| fix.get(key).and_then(Value::as_str).unwrap_or_default();
            lines.push(format!("Instead: {} ({})", part("alternative"), part("reason")));
        }
        if let Some(issues) = fields.get("issues") {
            lines.push(format!("Issues: {issues}"));
        }
        let details = fields.get("details").and_then(Value::as_array);
        lines.extend(details.into_iter().flatten().take(DETAILS_MAX).map(detail));
        if denied {
            lines.push("Do not try to reach the same by another way; go on without it, or say what you need.".to_owned());
        }
        let fate = if denied { Fate::Denied } else { Fate::Failed };
        Self { fate, text: lines.join("\n"), part: None }
    }

    /// The block that answers the call `id`.
    #[must_use]
    pub fn block(&self, id: &str) -> Block {
        let is_error = self.fate != Fate::Ran;
        Block::ToolResult { tool_use_id: id.to_owned(), content: self.text.clone(), is_error }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_told_what_is_wrong_with_its_call() {
        let answer = json!({
            "ok": false, "error": "Validation failed for action \"file_read\"",
            "details": [{ "path": "path", "message": "a text is wanted" }, "and more"],
        });
        let outcome = Outcome::of(&answer);
        assert_eq!(outcome.fate, Fate::Failed);
        assert!(outcome.text.ends_with("\npath: a text is wanted\nand more"), "{}", outcome.text);
    }

    #[test]
    fn denials_carry_rule_remedy_and_fix() {
        let answer = json!({
            "ok": false, "error": "too much from outside", "decision": "deny", "rule": "taint-budget",
            "remedy": "ask the user", "fix": {"alternative": "rm -rI x", "reason": "asks first"},
        });
        let told = Outcome::of(&answer);
        assert_eq!(told.fate, Fate::Denied);
        for part in ["too much", "taint-budget", "ask the user", "rm -rI x"] {
            assert!(told.text.contains(part), "{part}: {}", told.text);
        }
    }

    #[test]
    fn what_is_not_a_success_is_none() {
        for answer in [json!({"ok": "true"}), json!({}), json!([]), json!({"ok": 1})] {
            assert_eq!(Outcome::of(&answer).fate, Fate::Failed, "{answer}");
        }
    }
}
