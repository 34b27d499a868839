//! Questions to a person about calls that the gate has stopped. They are the gate's own: a worker can only say that it
//! waits for the answer to one that was put about exactly this call.

use std::collections::BTreeMap;
use std::sync::Mutex;

use aegx::{Digest, Sorted};
use agent::Question;
use model::UserId;
use model::ipc::{self, Uuid};
use monitor::approvals::{Approval, ApprovalState, Word};
use monitor::{Approvals, Monitor};
use serde_json::Value;

use super::QUESTION_BYTES_MAX;
use super::shared::held;

/// Questions at once in one session.
const WAITING_MAX: usize = 16;

/// The questions that a worker waits for.
#[derive(Default)]
pub(super) struct Questions {
    waiting: Mutex<BTreeMap<String, Uuid>>,
}

/// A call, by what it says: the same whatever order its fields came in.
pub(super) fn digest(message: &[u8]) -> Option<Digest> {
    if let Ok(action) = ipc::parse(message) {
        return Some(Digest::of(action.to_value().to_string().as_bytes()));
    }
    let message = ipc::read_json(message).ok()?;
    agent::tools::server_call(&message)?;
    Some(Digest::of(Sorted(&message).to_string().as_bytes()))
}

/// The same of a call that a worker asks about; none if it is no call of a tool that there is.
pub(super) fn asked(name: &str, input: &Value, has_tool: impl Fn(&str) -> bool) -> Option<Digest> {
    let message = agent::tools::message(name, input).ok()?;
    let message = agent::tools::settled(message, has_tool).to_string();
    digest(message.as_bytes()).filter(|_| message.len() <= QUESTION_BYTES_MAX)
}

impl Questions {
    /// A worker waits for the answer to this one. False if it waits already, or for too many.
    pub(super) fn wait(&self, tool_id: &str, id: Uuid) -> bool {
        let mut waiting = held(&self.waiting);
        if waiting.len() >= WAITING_MAX || waiting.contains_key(tool_id) {
            return false;
        }
        waiting.insert(tool_id.to_owned(), id);
        true
    }

    /// Those that were answered, or will not be: the call, and yes or no.
    pub(super) fn answered(&self, approvals: &dyn Approvals, now: i64) -> Vec<(String, bool)> {
        let mut waiting = held(&self.waiting);
        let mut answered = Vec::new();
        waiting.retain(|tool_id, id| {
            let state = approvals.approval(*id, now).map(|it| it.state);
            let word = match state {
                Ok(ApprovalState::Pending) => return true,
                Ok(ApprovalState::Approved) => true,
                Ok(ApprovalState::Denied | ApprovalState::Expired | ApprovalState::Used) => false,
                // INVARIANT (FailClosed): what cannot be looked up was not approved.
                Err(_) => false,
            };
            answered.push((tool_id.clone(), word));
            false
        });
        answered
    }

    /// Nobody waits any more.
    pub(super) fn clear(&self) -> Vec<String> {
        std::mem::take(&mut *held(&self.waiting)).into_keys().collect()
    }

    /// What a person is asked now.
    pub(super) fn shown(&self, approvals: &dyn Approvals, now: i64) -> Vec<Question> {
        let waiting: Vec<Uuid> = held(&self.waiting).values().copied().collect();
        let found = waiting.into_iter().filter_map(|it| approvals.approval(it, now).ok());
        found.filter(|it| it.state == ApprovalState::Pending).map(|it| lines(&it)).collect()
    }

    /// A person's answer; false if nobody waits for it.
    pub(super) fn answer(&self, monitor: &Monitor, id: &str, approved: bool, by: UserId) -> bool {
        let asked = held(&self.waiting).values().copied().find(|it| it.to_string() == id);
        let Some(asked) = asked else { return false };
        let word = if approved { Word::Approve } else { Word::Deny };
        monitor.answer_approval(asked, word, by, String::new()).is_ok()
    }
}

fn lines(approval: &Approval) -> Question {
    let shown = &approval.question.shown;
    let who = match shown.sub_agent.as_str() {
        "" => approval.question.agent.to_string(),
        name => format!("the sub-agent {name} of {}", approval.question.agent),
    };
    let mut lines = vec![format!("{who} wants to call {}", shown.tool)];
    lines.extend(shown.args.iter().map(|it| format!("with {} = {}", it.name, it.value)));
    lines.extend(shown.destinations.iter().map(|it| format!("to {it}")));
    lines.extend(shown.reasons.iter().map(|it| format!("why: {}", it.why)));
    lines.extend(shown.values.iter().map(|it| format!("not chosen by you: {}", it.value)));
    let shown_lines = lines.iter().map(|it| agent::clean(it, agent::FRAME_TEXT_CHARS_MAX));
    Question {
        tool_id: approval.id.to_string(),
        tool_name: shown.tool.clone(),
        shown: shown_lines.collect(),
    }
}
