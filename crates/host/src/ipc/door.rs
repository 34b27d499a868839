//! The door: bytes of an agent become an answer, and every answer leaves a record.

use std::sync::Arc;

use aegx::{Principal, RecordType};
use evidence::{Content, Journal, NewRecord};
use model::ipc::{self, ActionName, Answer, Next};
use model::{Caller, Kind, Objection, RawCall, Taint, ToolDef};
use monitor::{Asked, Delivered, Monitor, Refusal, Status, TAINT_BLOCKED, Verdict};
use serde_json::{Map, Value, json};

use super::frame::FrameError;
use crate::executor::HostExecutor;
use crate::extraction::Extraction;
use crate::guardrail::Guardrail;

/// Answers messages. It decides nothing itself.
pub struct Door {
    monitor: Arc<Monitor>,
    journal: Arc<Journal>,
    executor: HostExecutor,
    extraction: Option<Extraction>,
    guardrail: Option<Guardrail>,
}

impl Door {
    /// A door to what `monitor` guards and `executor` carries out. `journal` is the monitor's.
    #[must_use]
    pub fn new(monitor: Arc<Monitor>, journal: Arc<Journal>, executor: HostExecutor) -> Self {
        Self { monitor, journal, executor, extraction: None, guardrail: None }
    }

    /// With a model that reads pages first.
    #[must_use]
    pub(crate) fn with_extraction(mut self, extraction: Option<Extraction>) -> Self {
        self.extraction = extraction;
        self
    }

    /// With a model that judges what is delivered.
    #[must_use]
    pub(crate) fn with_guardrail(mut self, guardrail: Option<Guardrail>) -> Self {
        self.guardrail = guardrail;
        self
    }

    /// Who judges what is delivered, if somebody does.
    pub(crate) fn guardrail(&self) -> Option<&Guardrail> {
        self.guardrail.as_ref()
    }

    /// What was delivered, or what is told in its place.
    fn guarded(&self, who: &Caller, delivered: Delivered) -> Delivered {
        match &self.guardrail {
            Some(guardrail) => guardrail.of_result(who, delivered),
            None => delivered,
        }
    }

    fn run(&self, who: &Caller, message: &[u8]) -> Result<Delivered, Refusal> {
        let delivered = self.monitor.run(who, &Asked::Message(message), &self.executor)?;
        let delivered = self.guarded(who, delivered);
        Ok(match &self.extraction {
            Some(extraction) => extraction.of(who, message, delivered),
            None => delivered,
        })
    }

    /// Answers one message of `who`, whom the connection knows. Nothing in the message can change
    /// who that is.
    #[must_use]
    pub fn answer(&self, who: &Caller, message: &[u8]) -> Answer {
        match self.run(who, message) {
            Ok(delivered) => done(delivered),
            Err(refusal) => refused(refusal, message),
        }
    }

    /// The same, with what would help where a call is stopped. It is for the model of an agent of ours.
    #[must_use]
    pub fn answer_and_remedy(&self, who: &Caller, message: &[u8]) -> (Answer, Option<String>) {
        match self.run(who, message) {
            Ok(delivered) => (done(delivered), None),
            Err(refusal) => {
                let remedy = remedy(&refusal);
                (refused(refusal, message), remedy)
            }
        }
    }

    /// Carries out a call of a tool of a plugin or server: what came of it, and what would help where it is stopped.
    #[must_use]
    pub(crate) fn call_tool(
        &self,
        who: &Caller,
        tool: &str,
        args: Map<String, Value>,
    ) -> (Value, Option<String>) {
        let args = Value::Object(args).to_string();
        let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
        match self.monitor.run(who, &asked, &self.executor) {
            Ok(it) => (done_by_tool(self.guarded(who, it)).to_value(), None),
            Err(refusal) => (stopped_tool(&refusal, tool), remedy(&refusal)),
        }
    }

    /// The tools of plugins and servers.
    pub(crate) fn tools_of_others(&self) -> impl Iterator<Item = &ToolDef> {
        self.executor.tools_of_others()
    }

    /// Has a plugin or a server this tool?
    pub(crate) fn has_tool(&self, tool: &str) -> bool {
        self.executor.has_tool(tool)
    }

    /// The services that may be called, by their names.
    pub(crate) fn services(&self) -> Vec<&str> {
        self.executor.services()
    }

    /// Is there somebody to carry out this action?
    #[must_use]
    pub fn carries_out(&self, action: ActionName) -> bool {
        self.executor.carries_out(action)
    }

    /// Records what came in place of a frame, if it was one side's fault.
    pub(super) fn no_frame(&self, who: &Caller, error: &FrameError) {
        if !error.is_malformed() {
            return;
        }
        let mut meta = Map::new();
        meta.insert("user".to_owned(), who.user.as_str().into());
        let content =
            json!({ "decision": "deny", "error": error.to_string(), "rule": "malformed-frame" });
        // The connection ends whether this is recorded or not.
        let _ = self.journal.append(NewRecord {
            record_type: RecordType::GuardDecision,
            kind: Kind::of_static("malformed_frame"),
            principal: Principal::Tool,
            taint: Taint::NONE,
            parents: Vec::new(),
            session: Some(who.session.clone()),
            agent: Some(who.agent.clone()),
            meta,
            content: Content::Json(content),
        });
    }
}

fn done(delivered: Delivered) -> Answer {
    let body = delivered.output.body;
    match delivered.output.status {
        Status::Done => match serde_json::from_str(&body) {
            Ok(Value::Object(fields)) => Answer::Done(fields),
            Ok(_) | Err(_) => Answer::Failed { message: "the result is no object".to_owned() },
        },
        Status::Failed | Status::NotBegun => Answer::Failed { message: body },
    }
}

/// What a tool gave back may have been cleaned as a whole: then it is a text.
fn done_by_tool(delivered: Delivered) -> Answer {
    let is_object = serde_json::from_str::<Map<String, Value>>(&delivered.output.body).is_ok();
    match delivered.output.status {
        Status::Done if !is_object => {
            let text = Value::from(delivered.output.body);
            Answer::Done(Map::from_iter([("output".to_owned(), text)]))
        }
        Status::Done | Status::Failed | Status::NotBegun => done(delivered),
    }
}

/// A call of a tool that did not happen, told as one of an action is.
fn stopped_tool(refusal: &Refusal, tool: &str) -> Value {
    let mut answer = json!({
        "ok": false, "error": refusal.to_string(), "action": tool,
        "decision": refusal.decision().as_str(), "rule": refusal.rule(),
    });
    if let (Refusal::Stopped(verdict), Value::Object(fields)) = (refusal, &mut answer) {
        if let Some(approval) = verdict.approval {
            fields.insert("approval".to_owned(), approval.to_string().into());
        }
        if taint_block(verdict).is_some() {
            fields.insert("taintBlocked".to_owned(), true.into());
        }
    }
    answer
}

fn refused(refusal: Refusal, message: &[u8]) -> Answer {
    if let Refusal::Message(error) = refusal {
        return Answer::Refused(error);
    }
    // Only refusals come by here a second time, and they are few.
    let Some(action) = action_of(message) else {
        return Answer::Failed { message: refusal.to_string() };
    };
    let approval = if let Refusal::Stopped(verdict) = &refusal { verdict.approval } else { None };
    let next = Next::of(refusal.objections());
    if let Refusal::Stopped(verdict) = &refusal
        && let Some(taint) = taint_block(verdict)
    {
        let reason = verdict.and_why_nobody_was_asked(&taint.for_model);
        return Answer::TaintBlocked { action, reason, approval, next };
    }
    Answer::Stopped {
        action,
        decision: refusal.decision(),
        rule: refusal.rule().to_owned(),
        reason: refusal.to_string(),
        approval,
        next,
    }
}

/// What would make it pass, by the strictest of those who object.
fn remedy(refusal: &Refusal) -> Option<String> {
    let Refusal::Stopped(verdict) = refusal else { return None };
    let strictest = verdict.objections.iter().filter(|it| it.decision == verdict.decision);
    strictest.into_iter().find_map(|it| it.remedy.clone())
}

fn action_of(message: &[u8]) -> Option<ActionName> {
    ipc::parse(message).ok().map(|it| it.name())
}

/// The taint budget's objection, if nothing is stricter: then a person can be asked.
fn taint_block(verdict: &Verdict) -> Option<&Objection> {
    let strictest = verdict.objections.iter().filter(|it| it.decision == verdict.decision);
    strictest.into_iter().find(|it| it.code == TAINT_BLOCKED)
}

#[cfg(test)]
mod tests {
    use model::Decision;

    use super::*;

    #[test]
    fn an_output_that_is_withheld_is_told_like_a_call_that_is_stopped() {
        let why = Objection::new("oversized-output", Decision::Deny, "output_too_long", "too long");
        let refusal = || Refusal::Withheld(vec![why.clone()]);
        let answer = refused(refusal(), br#"{"action":"skill_list"}"#).to_value();
        let expected = json!({
            "ok": false,
            "error": "the output is withheld: too long",
            "action": "skill_list",
            "decision": "deny",
            "rule": "oversized-output",
        });
        assert_eq!(answer, expected);
        // A message that cannot be read has no action to be named.
        let answer = refused(refusal(), b"{").to_value();
        assert_eq!(answer["error"], "Handler error: the output is withheld: too long");
    }
}
