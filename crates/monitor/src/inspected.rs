//! An output that was looked at, and the label that it gets.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use aegx::Digest;
use model::{Effect, Reach, Role, Source, Taint, TaintTag, Trust};
use scan::sanitize::{Found, Plan};
use scan::text::{Author, Category, Classifier, Finding, Reading, Verdict};
use serde_json::Value;

use crate::envelope;
use crate::output::{OUTPUT_BYTES_MAX, Output, Status, Words};
use crate::preview::preview;
use crate::provenance::{self, orders_to_assistant};
use crate::risk::{Flag, Suspicion};
use crate::taint;
use crate::understood::Understood;

/// How much of an origin is kept, in characters.
const ORIGIN_CHARS_MAX: usize = 120;

/// A shorter word says nothing of where it came from.
const WORD_BYTES_MIN: usize = 4;
/// So many words that the call did not say may stand in an answer that only repeats it: the names of
/// fields, a status, a time.
const FOREIGN_WORDS_MAX: usize = 40;

/// How an output came: by what the host knows of the call, not by what the output says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    /// The record of the decision.
    pub(crate) record: Digest,
    /// The flags that the grant gives to what comes back.
    pub(crate) granted: Taint,
    /// Was it marked as happening elsewhere?
    pub(crate) was_marked: bool,
    /// When.
    pub(crate) at: i64,
}

/// An output and what was seen in it.
pub(crate) struct Inspected {
    pub(crate) output: Output,
    found: Found,
    /// Where it speaks to the assistant.
    orders: Vec<Range<usize>>,
}

impl Inspected {
    /// Looks at an output of `asked`.
    pub(crate) fn new(
        asked: &Understood,
        output: Output,
        plan: &Plan,
        classifier: Option<&dyn Classifier>,
    ) -> Self {
        let seen = seen(&output.body);
        let mut reading = scan::text::read(seen, Author::Outsider);
        if matches!(asked.effect, Effect::Action(_)) {
            leave_out_marks(&mut reading, seen);
        }
        if let Some(classifier) = classifier {
            reading = reading.asked(seen, classifier);
        }
        let orders = provenance::orders(&reading);
        let found = Found::with(reading, seen, plan);
        Self { output, found, orders }
    }

    /// What was found in it.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    /// The places where a part of the output speaks to the assistant. Often the part is the whole, which
    /// was looked at already.
    pub(crate) fn orders_in(&self, part: &str) -> Vec<Range<usize>> {
        if part == self.seen() { self.orders.clone() } else { orders_to_assistant(part) }
    }

    /// As much of the output as is looked at. What is longer is withheld whole.
    pub(crate) fn seen(&self) -> &str {
        seen(&self.output.body)
    }

    /// The part of it that the host did not write itself.
    pub(crate) fn words_of_others(&self, asked: &Understood) -> Cow<'_, str> {
        envelope::words_of_others(asked, self.seen())
    }

    /// The same for what looks at risk across calls.
    pub(crate) fn flag(&self) -> Option<Flag> {
        let suspicion = match self.found.verdict() {
            Verdict::Clean => return None,
            Verdict::Suspicious => Suspicion::Low,
            Verdict::Injection => Suspicion::High,
        };
        let digest = Digest::of(self.output.body.as_bytes());
        let content = digest.as_bytes().first_chunk().copied().map_or(0, u64::from_be_bytes);
        Some(Flag { suspicion, content })
    }

    /// The label that the output itself brings along; none if it is clean.
    ///
    /// INVARIANT (HostDecidesTaint): it follows from the door, from the tool's flow type, from the rule
    /// that granted the call, from the tags that the content already has, and from what was seen in it;
    /// never from what it says of itself.
    pub(crate) fn label(
        &self,
        asked: &Understood,
        came: Came,
        gives_orders: bool,
    ) -> Option<TaintTag> {
        let origin = origin(asked);
        let of = |source: Source| TaintTag {
            record: came.record.to_hex().as_str().to_owned(),
            ..taint::label(source, &origin, came.at)
        };
        let mut own = of(self.source(asked));
        // What nobody else said brought nothing that the rule could have meant.
        let granted = match self.output.words() {
            // What looks like a key is one until somebody knows better.
            Words::Theirs | Words::Read if self.found.has_secret() => {
                came.granted.union(Taint::SECRET_RISK)
            }
            Words::Theirs | Words::Read => came.granted,
            Words::Ours => Taint::NONE,
        };
        own.taint = own.taint.union(granted);
        let marked = taint::is_outside(own.taint) || granted != Taint::NONE;
        let carried = self.output.tags.iter();
        let mut label =
            carried.fold(marked.then_some(own), |sum, tag| taint::worse(sum.as_ref(), Some(tag)));
        // What the user's own files say to agents is said by the user.
        let is_carried = self.output.tags.iter().any(|it| taint::is_outside(it.taint));
        let is_own =
            asked.deeds.are_known() && asked.call.flow.output != Trust::Untrusted && !is_carried;
        if gives_orders && !is_own {
            // Who gives orders is not believed to be trusted either.
            let found = label.get_or_insert_with(|| of(Source::Tool));
            found.taint = found.taint.union(Taint::UNTRUSTED).union(Taint::INJECTION_SUSPECT);
        }
        label
    }

    fn source(&self, asked: &Understood) -> Source {
        match self.output.words() {
            Words::Ours | Words::Read => return Source::Agent,
            Words::Theirs => {}
        }
        if let Effect::Action(action) = &asked.effect {
            return action.name().source();
        }
        let flow = &asked.call.flow;
        match (flow.output, self.output.status) {
            (Trust::Trusted, _) => Source::Agent,
            // It is said only to repeat the call. If it says more, somebody else wrote the rest.
            (Trust::Own, Status::Done) if says_more(asked, self.seen()) => Source::Tool,
            (Trust::Own, Status::Done) => Source::Agent,
            // Whoever it was sent to may have written the error.
            (Trust::Own, Status::Failed) if flow.reach == Reach::Send => Source::Tool,
            (Trust::Own, Status::Failed | Status::NotBegun) => Source::Agent,
            (Trust::Untrusted, _) if flow.egress && flow.reach == Reach::Read => Source::Web,
            (Trust::Untrusted, _) => Source::Tool,
        }
    }
}

/// Marks of our own around what an action gave back are no forgery of marks. What they enclose holds none: it lost them
/// when it was put there.
fn leave_out_marks(reading: &mut Reading, seen: &str) {
    let is_forged = |it: &Finding| it.category == Category::DelimiterForgery;
    if !reading.findings.iter().any(is_forged) {
        return;
    }
    let marks = scan::boundary::marks(seen);
    let is_ours = |it: &Finding| marks.iter().any(|mark| mark.contains(&it.start));
    reading.findings.retain(|it| !is_forged(it) || !is_ours(it));
    reading.score = scan::text::score(&reading.findings);
}

/// As much of a body as is looked at.
fn seen(body: &str) -> &str {
    body.get(..body.floor_char_boundary(OUTPUT_BYTES_MAX)).unwrap_or_default()
}

/// Does an answer hold much that the call did not say?
fn says_more(asked: &Understood, body: &str) -> bool {
    // Most answers are short, whoever wrote them.
    if words(body).nth(FOREIGN_WORDS_MAX).is_none() {
        return false;
    }
    let said: HashSet<String> = words(&asked.args_text()).map(str::to_lowercase).collect();
    let foreign = words(body).filter(|it| !said.contains(&it.to_lowercase()));
    foreign.take(FOREIGN_WORDS_MAX + 1).count() > FOREIGN_WORDS_MAX
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|it| it.len() >= WORD_BYTES_MIN)
}

/// What people call it: the address or path where there is one, else the tool.
pub(crate) fn origin(asked: &Understood) -> String {
    let roles = &asked.call.flow.roles;
    let named = asked.call.call.args().iter().find_map(|(param, value)| {
        let Value::String(text) = value else { return None };
        matches!(roles.get(param), Some(Role::Destination | Role::Target)).then_some(text)
    });
    match named {
        Some(text) if text.contains("://") => preview(text, ORIGIN_CHARS_MAX).into_owned(),
        Some(text) => preview(&format!("{} {text}", asked.tool()), ORIGIN_CHARS_MAX).into_owned(),
        None => asked.tool().to_owned(),
    }
}
