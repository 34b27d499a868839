//! What a turn of an agent of our own comes to, for whoever asked for it.

use agent::{Reached, Reply};
use llm::Usage;

/// A turn, and what was denied in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// How it ended.
    pub reply: Reply,
    /// Calls that the gate did not let happen: tool and rule.
    pub denied: Vec<String>,
    /// Is there a call among them that a person could allow?
    pub needs_person: bool,
    /// What whoever speaks with the agent should know of its session, such as a server that is not there; once each.
    pub notes: Vec<String>,
    /// The limits of the user's budget of which much is used.
    pub near: Vec<Reached>,
}

impl Account {
    /// Of a turn that was interrupted before anything was said.
    pub(super) fn interrupted() -> Self {
        let (content, usage, tool_calls) = (String::new(), Usage::default(), Vec::new());
        let reply = Reply { content, interrupted: true, usage, tool_calls };
        let (denied, notes, near) = (Vec::new(), Vec::new(), Vec::new());
        Self { reply, denied, needs_person: false, notes, near }
    }
}
