//! What was decided of one call, for those who asked and for those who look on.

use aegx::Digest;
use model::ipc::Uuid;
use model::{Decision, EffectKind, Objection};

use crate::provenance::Sink;

/// What was decided of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What the call would do.
    pub effect: EffectKind,
    /// The decision.
    pub decision: Decision,
    /// The rule or guard that decided.
    pub rule: String,
    /// Why, in one sentence for a person.
    pub reason: String,
    /// Everything that speaks against it, the strictest first.
    pub objections: Vec<Objection>,
    /// Share of the session's content that came from outside, in thousandths.
    pub taint_permille: u16,
    /// Where the arguments that matter came from.
    pub sinks: Vec<Sink>,
    /// The hash of the exact action, to which a person's yes is bound.
    pub action: Digest,
    /// The approval that it is about: one that was asked for, used up, or denied.
    pub approval: Option<Uuid>,
    /// Why nobody was asked, where somebody should have been.
    pub unasked: Option<String>,
    /// Who had approved exactly this call, if it is stopped all the same.
    pub approved_by: Option<String>,
    /// The record of the decision.
    pub record: Digest,
}

impl Verdict {
    /// A sentence, and why nobody was asked, if somebody should have been; or that somebody had said yes, and
    /// it is stopped all the same.
    #[must_use]
    pub fn and_why_nobody_was_asked(&self, sentence: &str) -> String {
        let mut told = sentence.to_owned();
        if let Some(by) = &self.approved_by {
            told += &format!("; `{by}` had approved this call, and that does not lift this");
        }
        if let Some(why) = &self.unasked {
            told += &format!("; nobody was asked: {why}");
        }
        told
    }
}
