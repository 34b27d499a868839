//! The conversation: what is said to an agent, and what it says.
//!
//! A message is an effect like any other: it is looked at, judged by policy and guards, settled and recorded before it
//! counts. What was seen in it is its own ([`Spoken`]); the session's past does not make a message worse.

mod heard;
mod incoming;
mod outgoing;
mod prompt;
mod talks;

pub use heard::Heard;
pub use prompt::Registration;
pub(crate) use prompt::{PromptChange, Registered};
pub use talks::TALK_BYTES_MAX;
pub(crate) use talks::Talks;

use aegx::Principal;
use model::Taint;
use policy::{RISK_MAX, Target, Targets};
use serde::Serialize;

/// Findings of one message that a record lists.
const FINDINGS_MAX: usize = 20;
/// The risk of a message in which something was seen that may be harmless.
const DOUBT: u8 = 1;

/// What was seen in a message: the facts that are its own, and what they rest on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spoken {
    /// Whose message it is; that of the session if it is the agent's own.
    pub(crate) principal: Option<Principal>,
    /// Its own taint; the session's if it is the agent's own.
    pub(crate) taint: Option<Taint>,
    pub(crate) risk: u8,
    pub(crate) targets: Targets,
    pub(crate) findings: Vec<Seen>,
    /// The hash of the prompt that an answer was compared with.
    pub(crate) prompt: Option<String>,
}

/// A finding, as it is recorded: which rule saw something, not what it saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Seen {
    pub(crate) category: &'static str,
    pub(crate) rule: &'static str,
}

impl Spoken {
    /// Notes a finding, each rule once.
    fn see(&mut self, rule: &'static str, category: &'static str) {
        let seen = Seen { category, rule };
        if self.findings.len() < FINDINGS_MAX && !self.findings.contains(&seen) {
            self.findings.push(seen);
        }
    }

    /// Notes that it holds a secret, beyond doubt or not.
    fn holds_secret(&mut self, certain: bool) {
        self.targets = self.targets.with(Target::Secret);
        self.risk = self.risk.max(if certain { RISK_MAX } else { DOUBT });
    }

    /// Notes that it touches the agent's instructions, beyond doubt or not.
    fn touches_prompt(&mut self, certain: bool) {
        self.targets = self.targets.with(Target::SystemPrompt);
        self.risk = self.risk.max(if certain { RISK_MAX } else { DOUBT });
    }
}
