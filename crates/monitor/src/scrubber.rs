//! What is taken out of whatever goes back to an agent or onto the record: values of secrets.
//!
//! The monitor has no secrets. Who keeps them says which text holds one, and writes the text without it.

use std::borrow::Cow;
use std::sync::Arc;

use scan::net::Domains;

use crate::monitor::Monitor;
use crate::output::Output;
use crate::proposed::Proposed;

/// Knows the values of all secrets that are held.
pub trait Scrubber: Send + Sync {
    /// The text without them; none if none of them is in it.
    fn scrub(&self, text: &str) -> Option<String>;

    /// Those that are in the text.
    fn held(&self, text: &str) -> Vec<HeldSecret>;
}

/// A secret whose value was found in a text.
#[derive(Clone, Debug)]
pub struct HeldSecret {
    /// Its name.
    pub name: String,
    /// The hosts that it is for.
    pub hosts: Domains,
}

impl Monitor {
    /// With somebody who knows secrets. Without, nothing is looked for and nothing costs time.
    #[must_use]
    pub fn with_scrubber(mut self, scrubber: Arc<dyn Scrubber>) -> Self {
        self.scrubber = Some(scrubber);
        self
    }

    /// INVARIANT (SecretsDoNotPrint): no value of a secret goes back to an agent or onto the record.
    pub(crate) fn scrubbed(&self, mut output: Output) -> Output {
        if let Some(body) = self.scrubber.as_ref().and_then(|it| it.scrub(&output.body)) {
            output.body = body;
        }
        output
    }

    /// The same for a text that only goes onto the record.
    pub(crate) fn without_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let clean = self.scrubber.as_ref().and_then(|it| it.scrub(text));
        clean.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Notes which secrets a call holds, and keeps them out of what is shown of it.
    pub(crate) fn look_for_secrets(&self, proposed: &mut Proposed) {
        let Some(scrubber) = &self.scrubber else { return };
        let held = scrubber.held(proposed.args_text());
        if !held.is_empty() {
            proposed.conceal(held, |text| scrubber.scrub(text));
        }
    }
}
