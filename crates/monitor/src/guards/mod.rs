//! Guards object; they never allow. One file each, all of the same shape, listed here in order.

mod after;
mod before;

pub use before::taint_budget::TAINT_BLOCKED;

use model::Objection;

use crate::inspected::Inspected;
use crate::proposed::Proposed;

/// A pure question about `Subject`: no I/O, no clock, no state of its own.
pub(crate) trait Guard<Subject: ?Sized>: Sync {
    /// Stable name: in records, docs and the corpus path.
    fn id(&self) -> &'static str;

    /// What speaks against it; nothing says only "I have no objection".
    fn check(&self, subject: &Subject) -> Vec<Objection>;
}

/// Before the effect. Cheapest first.
pub(crate) const BEFORE: &[&dyn Guard<Proposed>] = &[
    &before::layered_access::LayeredAccess,
    &before::taint_budget::TaintBudget,
    &before::risk_across_calls::RiskAcrossCalls,
    &before::sink_provenance::SinkProvenance,
];

/// After the effect, before the agent sees the output.
pub(crate) const AFTER: &[&dyn Guard<Inspected>] = &[&after::oversized_output::OversizedOutput];

/// Every guard runs, so that the record shows every reason.
pub(crate) fn review<S: ?Sized>(guards: &[&dyn Guard<S>], subject: &S) -> Vec<Objection> {
    guards.iter().flat_map(|guard| guard.check(subject)).collect()
}
