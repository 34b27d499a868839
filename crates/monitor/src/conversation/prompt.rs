//! The system prompt of a session, as answers are compared with it: registered by whoever runs the agent, kept as names
//! and hashes, and found again after a restart.

use std::sync::Arc;

use aegx::{Digest, Principal, RecordType};
use model::Caller;
use scan::leak::{Registry, Sources};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::change::Change;
use crate::monitor::Monitor;
use crate::record;
use crate::refusal::Refusal;
use crate::rule::Rule;
use crate::session::Session;

/// The kind of the records about prompts.
const KIND: &str = "system_prompt";

/// A prompt that was registered.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) registry: Arc<Registry>,
    /// The digest of its form, by which that is kept.
    pub(crate) form: Digest,
}

/// A change of the prompt of a session, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PromptChange {
    /// Registered: the digest of its form.
    Registered(String),
    /// Taken away.
    Cleared,
}

/// What came of registering a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The record of it.
    pub record: Digest,
    /// The SHA-256 of the prompt; none if names alone were registered.
    pub prompt_hash: Option<String>,
    /// Names that are looked for besides those that always are.
    pub tokens: usize,
    /// Was it too long to be taken in whole?
    pub truncated: bool,
}

impl Monitor {
    /// What the operator configured is compared with where a session has no prompt of its own.
    #[must_use]
    pub fn with_guarded(mut self, guarded: Registry) -> Self {
        self.guarded = Some(Arc::new(guarded));
        self
    }

    /// Whoever runs an agent has its system prompt now. Answers are compared with it from here on; gives how many names of
    /// it are looked for.
    ///
    /// # Errors
    /// If the session is not open here, or it cannot be kept or recorded; then it does not count.
    pub fn on_system_prompt_available(&self, who: &Caller, prompt: &str) -> Result<usize, Refusal> {
        let sources = Sources { prompt: Some(prompt), ..Sources::default() };
        self.register_system_prompt(who, &sources).map(|it| it.tokens)
    }

    /// Registers the system prompt of a session, in the place of one that was. The prompt itself is kept nowhere.
    ///
    /// # Errors
    /// As [`Monitor::on_system_prompt_available`].
    pub fn register_system_prompt(
        &self,
        who: &Caller,
        sources: &Sources<'_>,
    ) -> Result<Registration, Refusal> {
        let session = self.sessions().get(who)?;
        let mut session = session.lock()?;
        let registry = Registry::new(sources);
        let kept = registry.to_kept();
        let form = Digest::of(&kept);
        self.state().keep_prompt(&form, &kept)?;
        let content = json!({
            "decision": "allow",
            "prompt_sha256": registry.prompt_hash(),
            "rule": Rule::SystemPromptRegistered.as_str(),
            "surface": "ConversationIO",
            "tokens": registry.token_count(),
            "truncated": registry.is_truncated(),
        });
        let record = self.record_prompt(who, content)?;
        let registration = Registration {
            record,
            prompt_hash: registry.prompt_hash().map(str::to_owned),
            tokens: registry.token_count(),
            truncated: registry.is_truncated(),
        };
        let registered = Registered { registry: Arc::new(registry), form };
        self.keep_prompt_of(&mut session, Some(registered))?;
        Ok(registration)
    }

    /// Registers names alone, where the prompt is not at hand.
    ///
    /// # Errors
    /// As [`Monitor::on_system_prompt_available`].
    pub fn register_tokens_only(
        &self,
        who: &Caller,
        tokens: &[String],
    ) -> Result<Registration, Refusal> {
        self.register_system_prompt(who, &Sources { tokens, ..Sources::default() })
    }

    /// What answers of a session are compared with, if a prompt is registered there.
    ///
    /// # Errors
    /// If the session is not open here.
    pub fn registered_prompt(&self, who: &Caller) -> Result<Option<Arc<Registry>>, Refusal> {
        let session = self.sessions().get(who)?;
        let session = session.lock()?;
        Ok(session.prompt().map(|it| Arc::clone(&it.registry)))
    }

    /// What answers of a session are compared with: its prompt, else what the operator configured, else the fixed list.
    ///
    /// # Errors
    /// If the session is not open here.
    pub fn compared_with(&self, who: &Caller) -> Result<Arc<Registry>, Refusal> {
        let registered = self.registered_prompt(who)?;
        Ok(registered.or_else(|| self.guarded.clone()).unwrap_or_default())
    }

    /// The SHA-256 of the prompt that is registered in a session.
    ///
    /// # Errors
    /// If the session is not open here.
    pub fn prompt_hash(&self, who: &Caller) -> Result<Option<String>, Refusal> {
        let registered = self.registered_prompt(who)?;
        Ok(registered.and_then(|it| it.prompt_hash().map(str::to_owned)))
    }

    /// Takes the prompt of a session away: answers are compared with what the operator configured, or the fixed list.
    ///
    /// # Errors
    /// As [`Monitor::on_system_prompt_available`].
    pub fn clear_system_prompt(&self, who: &Caller) -> Result<Digest, Refusal> {
        let session = self.sessions().get(who)?;
        let mut session = session.lock()?;
        let hash = session.prompt().and_then(|it| it.registry.prompt_hash().map(str::to_owned));
        let content = json!({
            "decision": "allow",
            "prompt_sha256": hash,
            "rule": Rule::SystemPromptCleared.as_str(),
            "surface": "ConversationIO",
        });
        let record = self.record_prompt(who, content)?;
        self.keep_prompt_of(&mut session, None)?;
        Ok(record)
    }

    /// A session was found again: so is its prompt. One that cannot be read protects nothing, and that is on record.
    pub(crate) fn restore_prompt(&self, session: &mut Session) -> Result<(), Refusal> {
        let Some(form) = session.prompt_form() else { return Ok(()) };
        let kept = self.state().prompt(&form)?;
        let read = kept.ok_or_else(|| "it is not kept any more".to_owned());
        let read = read.and_then(|it| match Digest::of(&it) == form {
            true => Registry::from_kept(&it).map_err(|error| error.to_string()),
            false => Err("it is not what was kept".to_owned()),
        });
        match read {
            Ok(registry) => {
                session.set_prompt(Some(Registered { registry: Arc::new(registry), form }));
            }
            Err(why) => {
                let content = json!({
                    "alert": "system_prompt_lost",
                    "severity": "CRITICAL",
                    "surface": "ConversationIO",
                    "what": format!("the system prompt of this session cannot be compared with any more ({why}): register it again"),
                });
                let who = session.who().clone();
                let new =
                    record::of(&who, RecordType::GuardDecision, "alert", Principal::Sys, content);
                self.journal().append(new)?;
            }
        }
        Ok(())
    }

    fn record_prompt(&self, who: &Caller, content: Value) -> Result<Digest, Refusal> {
        let new = record::of(who, RecordType::GuardDecision, KIND, Principal::Sys, content);
        // Nothing happens by it: whatever is decided next is recorded behind it, and waits for both.
        Ok(self.journal().post(new)?)
    }

    /// Compares with another prompt from now on, if that can be kept. Nobody acts on it: it is kept with what the turn does.
    fn keep_prompt_of(
        &self,
        session: &mut Session,
        prompt: Option<Registered>,
    ) -> Result<(), Refusal> {
        // First here: what is kept may be a snapshot of the session.
        let before = session.prompt().cloned();
        session.set_prompt(prompt);
        let change = session.kept_prompt().unwrap_or(PromptChange::Cleared);
        let change = Change { prompt: Some(change), ..Change::default() };
        self.keep_soon(session, &change).inspect_err(|_| session.set_prompt(before))
    }
}
