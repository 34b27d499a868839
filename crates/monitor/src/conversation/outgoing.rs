//! An answer of the agent: compared with the system prompt before it goes out, alone and together with those before it, and
//! looked through for keys, tokens and passwords.
//!
//! Threat: an agent that was talked into giving its instructions away, whole, in other words or in pieces, or what it has read
//! of secrets.

use model::Effect;
use model::ipc::Action;
use policy::Target;
use scan::leak::{self, Registry};
use scan::secret::{self, Confidence};

use super::Spoken;
use crate::monitor::Monitor;
use crate::proposed::Proposed;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::state::StateError;

/// Stands for arguments that hold a secret which cannot be taken out of them.
const CONCEALED: &str = "[REDACTED]";

impl Monitor {
    /// Looks at what the agent says, if the call says something.
    pub(crate) fn look_at_answer(
        &self,
        session: &Session,
        proposed: &mut Proposed,
    ) -> Result<(), Refusal> {
        let Some(text) = answer_of(proposed) else { return Ok(()) };
        let mut spoken = Spoken::default();
        let registry = self.registry_of(session);
        for found in self.talks.compare(&**self.state(), session.who(), registry, text)? {
            spoken.see(found.rule.as_str(), found.kind.as_str());
            spoken.touches_prompt(found.certain);
        }
        spoken.prompt = registry.prompt_hash().map(str::to_owned);
        // What the operator allows is the same for all levels.
        let allowed = &self.plans.external.allowed;
        let found = secret::find_from(text, Confidence::Likely, allowed);
        for it in &found {
            spoken.see(leak::Rule::Secret.as_str(), it.rule);
            spoken.holds_secret(it.confidence == Confidence::Certain);
        }
        if !found.is_empty() {
            // INVARIANT (SecretsDoNotPrint): what is stopped for a value does not show it on record.
            let shown = proposed.concealed().unwrap_or(proposed.args_text());
            let places = secret::find_from(shown, Confidence::Likely, allowed);
            let quiet = secret::redacted(shown, &places).into_owned();
            proposed.show_as(if places.is_empty() { CONCEALED.to_owned() } else { quiet });
        }
        proposed.speak(spoken);
        Ok(())
    }

    /// The answer goes out: what it gives away of the prompt counts from now on. Kept before anybody sees a word of it.
    pub(crate) fn keep_said(&self, session: &Session, proposed: &Proposed) -> Result<(), Refusal> {
        let Some(text) = answer_of(proposed) else { return Ok(()) };
        let registry = self.registry_of(session);
        let leaks = self.talks.said(&**self.state(), session.who(), registry, text)?;
        let was_seen =
            proposed.spoken().is_some_and(|it| it.targets.contains(Target::SystemPrompt));
        if leaks.iter().any(|it| it.certain) && !was_seen {
            // Another session of the same agent gave out the rest while this one was judged.
            let reason = "another answer of this agent went out meanwhile; say it again".to_owned();
            return Err(StateError::Broken { reason }.into());
        }
        Ok(())
    }

    /// What answers of a session are compared with: its prompt, else what the operator configured, else the fixed list.
    fn registry_of<'a>(&'a self, session: &'a Session) -> &'a Registry {
        let registered = session.prompt().map(|it| &*it.registry);
        leak::in_use(registered, self.guarded.as_deref())
    }
}

fn answer_of(proposed: &Proposed) -> Option<&str> {
    let Effect::Action(action) = &proposed.understood().effect else { return None };
    if let Action::MessageOut(it) = &**action { Some(it.text.as_str()) } else { None }
}
