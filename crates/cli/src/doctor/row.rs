//! One line of the table.

use aegx::verify::printable;
use sandbox::audit::{Finding, Severity, Status};
use sandbox::probe::Possibility;
use serde_json::{Value, json};

use crate::output::Paint;

/// What one check says.
pub(super) struct Row {
    pub(super) id: &'static str,
    pub(super) status: Status,
    severity: Option<Severity>,
    what: String,
    advice: String,
}

impl Row {
    /// What holds.
    pub(super) fn ok(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Status::Pass, what, "")
    }

    pub(super) fn new(
        id: &'static str,
        status: Status,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { id, status, severity: None, what: what.into(), advice: advice.into() }
    }

    pub(super) fn of_finding(found: &Finding) -> Self {
        let severity = Some(found.severity);
        Self { severity, ..Self::new(found.id, found.status, found.what.clone(), found.advice) }
    }

    pub(super) fn of_possibility(found: Possibility) -> Self {
        Self::new(found.id, found.status, found.what, found.advice)
    }

    /// In a line of its own: what is so, and what to do.
    pub(super) fn told(&self) -> String {
        format!("{}: {}: {}", self.id, self.what, self.advice)
    }

    /// For programs.
    pub(super) fn to_json(&self, part: &str) -> Value {
        json!({
            "advice": self.advice,
            "id": self.id,
            "part": part,
            "severity": self.severity.map(Severity::as_str),
            "status": self.status.as_str(),
            "what": self.what,
        })
    }

    /// For people. Names of files may be anything.
    pub(super) fn line(&self, paint: &Paint, width: usize) -> String {
        let word = match self.status {
            Status::Pass => paint.good("ok  "),
            Status::Weak => paint.strong("weak"),
            Status::Fail => paint.bad("FAIL"),
            Status::Unknown => paint.faint("?   "),
        };
        let what = printable(&self.what);
        let line = format!("  {word}  {:<width$}  {what}", self.id);
        if self.advice.is_empty() {
            return line;
        }
        format!("{line}\n        {:<width$}  → {}", "", printable(&self.advice))
    }
}
