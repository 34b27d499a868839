//! What was decided of one call, for those who asked and for those who look on.

use aegx::Digest;
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
    /// The record of the decision.
    pub record: Digest,
}
