//! What is said in a session of a coding agent: the user's prompts, and the agent's last words.

use hooks::Reply;
use model::Source;
use monitor::{Heard, Refusal, Verdict};

use super::prompt::Prompt;
use super::session::Hooked;
use super::{HookDoor, scheduled};
use crate::doors::saying;
use crate::doors::verdict::{question, reason};

impl HookDoor<'_> {
    /// The user's own words, unless an agent wrote them for another.
    pub(super) fn prompt(
        &self,
        session: &mut Hooked,
        is_agents: bool,
        text: &str,
    ) -> Result<Reply, String> {
        self.settle(session)?;
        // They reach the model before the prompt does.
        self.hear_instructions(session)?;
        let Prompt { users, others, files } = Prompt::of(session.host, text);
        let monitor = &self.gate.monitor;
        let hear = |source, text: &str| {
            let heard = Heard { source, origin: "prompt", text };
            monitor.hear(&session.who, &heard).map(drop)
        };
        let heard = if is_agents || scheduled::is_one(self.home, text) {
            hear(Source::Agent, text)
        } else if self.is_commanded(session, text)? {
            hear(Source::File, text)
        } else {
            let others = if others.is_empty() { Ok(()) } else { hear(Source::Tool, others) };
            let is_own = files.is_empty() || self.mentions_own_alone(session, users)?;
            let files = || if is_own { Ok(()) } else { hear(Source::File, files) };
            // A turn of the user begins by what they say, and by nothing else.
            let users = || match users.is_empty() {
                true => Ok(()),
                false => monitor.hear_turn(&session.who, users).map(drop),
            };
            others.and_then(|()| files()).and_then(|()| users())
        };
        match heard {
            Ok(()) => {}
            // The host drops the prompt, and shows the reason.
            Err(Refusal::Stopped(verdict)) => return Ok(stopped(&verdict)),
            Err(error) => return Err(error.to_string()),
        }
        self.hear_mentioned(session, users)?;
        Ok(Reply::Pass)
    }

    /// What the agent said last. Its user has seen it, so that nothing can be held back: what it gives away is on record, and
    /// the person is told.
    pub(super) fn said(&self, session: &Hooked, message: Option<&str>) -> Result<Reply, String> {
        let Some(message) = message else { return Ok(Reply::Pass) };
        match saying::say(self.gate, &session.who, message) {
            Ok(()) => Ok(Reply::Pass),
            Err(Refusal::Stopped(verdict)) => Ok(Reply::Deny { reason: reason(&verdict) }),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A prompt that is not taken in, in the words of its host.
fn stopped(verdict: &Verdict) -> Reply {
    if verdict.decision.asks() {
        return Reply::Ask { reason: question(verdict) };
    }
    Reply::Deny { reason: reason(verdict) }
}
