//! What is taken out of whatever goes back to an agent or onto the record: values of secrets.
//!
//! The monitor has no secrets. Who keeps them says which text holds one, and writes the text without it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use scan::net::Domains;

use crate::monitor::Monitor;
use crate::output::Output;
use crate::proposed::Proposed;
use crate::understood::Understood;

/// Knows the values of all secrets that are held.
pub trait Scrubber: Send + Sync {
    /// A part of the text without them; none if none of them is in it, or reaches into it from outside.
    fn scrub_part(&self, text: &str, part: Range<usize>) -> Option<String>;

    /// The text without them; none if none of them is in it.
    fn scrub(&self, text: &str) -> Option<String> {
        self.scrub_part(text, 0..text.len())
    }

    /// Those that are in the text.
    fn held(&self, text: &str) -> Vec<HeldSecret>;

    /// How long the longest of them is, in bytes: who lets a text go in pieces holds back so much of it.
    fn longest(&self) -> usize;
}

/// A secret whose value was found in a text.
#[derive(Clone, Debug)]
pub struct HeldSecret {
    /// Its name.
    pub name: String,
    /// The hosts that it is for.
    pub hosts: Domains,
}

/// Takes secrets out of a text that is about to be cut. Who carries out an effect has it from the permit: half
/// a secret is none that anybody would find afterwards.
#[derive(Clone, Default)]
pub struct Scrubs(Option<Arc<dyn Scrubber>>);

impl Scrubs {
    /// The text without secrets.
    #[must_use]
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.clean_part(text, 0..text.len())
    }

    /// A part of the text without secrets, and without what reaches into it of those that begin before or end
    /// behind it.
    #[must_use]
    pub fn clean_part<'a>(&self, text: &'a str, part: Range<usize>) -> Cow<'a, str> {
        let clean = self.0.as_ref().and_then(|it| it.scrub_part(text, part.clone()));
        clean.map_or_else(|| Cow::Borrowed(text.get(part).unwrap_or_default()), Cow::Owned)
    }

    /// How long the longest secret is, in bytes; none if nobody keeps any.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.0.as_ref().map_or(0, |it| it.longest())
    }

    /// The same for every text in a value.
    pub fn clean_value(&self, value: &mut serde_json::Value) {
        if let Some(scrubber) = &self.0 {
            model::replace_texts(value, &|it| scrubber.scrub(it));
        }
    }
}

impl fmt::Debug for Scrubs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrubs")
    }
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
    #[must_use]
    pub fn without_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let clean = self.scrubber.as_ref().and_then(|it| it.scrub(text));
        clean.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// A call as it is remembered: without the values of secrets in its arguments.
    pub(crate) fn remembered(&self, proposed: &Proposed) -> Understood {
        let mut understood = proposed.understood().clone();
        if let Some(scrubber) = self.scrubber.as_ref().filter(|_| !proposed.held().is_empty()) {
            let call = &mut understood.call.call;
            *call = call.with_texts(&|it| scrubber.scrub(it));
        }
        understood
    }

    pub(crate) fn scrubs(&self) -> Scrubs {
        Scrubs(self.scrubber.clone())
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
