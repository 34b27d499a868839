//! The system prompt of a session.

use aegx::Digest;

use super::Session;
use crate::change::Change;
use crate::conversation::{PromptChange, Registered};

impl Session {
    /// What its answers are compared with.
    pub(crate) fn prompt(&self) -> Option<&Registered> {
        self.prompt.as_ref()
    }

    /// The digest of the form by which its prompt is kept.
    pub(crate) fn prompt_form(&self) -> Option<Digest> {
        self.prompt_form
    }

    /// Compares answers with another prompt, or with none, from now on.
    pub(crate) fn set_prompt(&mut self, prompt: Option<Registered>) {
        self.prompt_form = prompt.as_ref().map(|it| it.form);
        self.prompt = prompt;
    }

    /// A change as it was kept: the form itself is found by its digest.
    pub(super) fn take_prompt(&mut self, change: &Change) {
        match &change.prompt {
            Some(PromptChange::Registered(form)) => {
                self.prompt_form = Digest::from_hex(form.as_bytes());
            }
            Some(PromptChange::Cleared) => self.prompt_form = None,
            None => {}
        }
    }

    /// The prompt in a snapshot of the session.
    pub(crate) fn kept_prompt(&self) -> Option<PromptChange> {
        let form = self.prompt_form?;
        Some(PromptChange::Registered(form.to_hex().as_str().to_owned()))
    }
}
