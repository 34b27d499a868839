//! What a replay prints: one line per verdict, and a summary.

use std::collections::BTreeMap;

use aegx::verify::printable;
use model::Decision;
use model::ipc::Uuid;
use monitor::provenance::Sink;
use serde_json::{Value, json};

use crate::output::{self, Paint};

/// One line of the answer.
pub(crate) struct VerdictLine {
    pub(crate) session: String,
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) decision: Decision,
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) taint_permille: u16,
    pub(crate) sinks: Vec<Sink>,
    pub(crate) approval: Option<Uuid>,
    pub(crate) record: String,
}

/// Counts of a whole trace.
#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) sessions: u64,
    pub(crate) calls: u64,
    pub(crate) decisions: BTreeMap<&'static str, u64>,
    pub(crate) rules: BTreeMap<String, u64>,
}

impl Summary {
    pub(crate) fn count(&mut self, verdict: &VerdictLine) {
        self.calls += 1;
        *self.decisions.entry(verdict.decision.as_str()).or_default() += 1;
        *self.rules.entry(verdict.rule.clone()).or_default() += 1;
    }
}

/// Prints for people or for programs.
pub(crate) struct Printer {
    json: bool,
    paint: Paint,
}

impl Printer {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, paint: Paint::for_stdout() }
    }

    /// Answers whether anybody is still reading.
    pub(crate) fn verdict(&self, verdict: &VerdictLine) -> bool {
        if self.json { output::json(&to_json(verdict)) } else { self.for_people(verdict) }
    }

    fn for_people(&self, verdict: &VerdictLine) -> bool {
        let word = format!("{:<8}", verdict.decision.as_str());
        let word =
            if verdict.decision.happens() { self.paint.good(&word) } else { self.paint.bad(&word) };
        let line = format!(
            "{:<24} {:<6} {:<32} {}",
            verdict.session, verdict.call, verdict.tool, verdict.rule
        );
        let mut open = output::line(&format!("{word} {}", printable(&line)));
        if !verdict.decision.happens() {
            open = output::line(&format!("         {}", printable(&verdict.reason)));
            if let Some(approval) = verdict.approval {
                open = output::line(&format!("         approval {approval}"));
            }
        }
        open
    }

    pub(crate) fn summary(&self, summary: &Summary) {
        if self.json {
            output::json(&json!({
                "event": "summary",
                "sessions": summary.sessions,
                "calls": summary.calls,
                "decisions": summary.decisions,
                "rules": summary.rules,
            }));
            return;
        }
        output::line(&self.paint.strong(&format!(
            "{}, {}",
            output::count(summary.sessions, "session"),
            output::count(summary.calls, "call")
        )));
        for (decision, count) in &summary.decisions {
            output::line(&format!("  {decision:<8} {count:>8}"));
        }
        for (rule, count) in &summary.rules {
            output::line(&self.paint.faint(&format!("  {count:>8}  {}", printable(rule))));
        }
    }
}

fn to_json(verdict: &VerdictLine) -> Value {
    let sinks = verdict.sinks.iter();
    let sinks =
        sinks.map(|it| json!({ "param": it.param, "atom": it.atom, "label": it.label.word() }));
    let mut line = json!({
        "event": "verdict",
        "session": verdict.session,
        "call": verdict.call,
        "tool": verdict.tool,
        "decision": verdict.decision.as_str(),
        "rule": verdict.rule,
        "reason": verdict.reason,
        "taint_ratio": f64::from(verdict.taint_permille) / 1000.0,
        "sinks": sinks.collect::<Vec<_>>(),
        "record": verdict.record,
    });
    if let (Some(approval), Some(line)) = (verdict.approval, line.as_object_mut()) {
        line.insert("approval".to_owned(), approval.to_string().into());
    }
    line
}
