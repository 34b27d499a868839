//! Guards object; they never allow. One file each, all of the same shape, listed here in order.

mod after;
mod before;

pub use before::taint_budget::TAINT_BLOCKED;

use model::Objection;

use crate::inspected::Inspected;
use crate::proposed::Proposed;
use crate::rule::Rule;

/// A pure question about `Subject`: no I/O, no clock, no state of its own.
pub(crate) trait Guard<Subject: ?Sized>: Sync {
    /// Stable name: in records, docs and the corpus path.
    fn id(&self) -> Rule;

    /// What speaks against it; nothing says only "I have no objection".
    fn check(&self, subject: &Subject) -> Vec<Objection>;
}

/// Before the effect. Cheapest first.
pub(crate) const BEFORE: &[&dyn Guard<Proposed>] = &[
    &before::layered_access::LayeredAccess,
    &before::credential_scope::CredentialScope,
    &before::denied_read::DeniedRead,
    &before::secret_elsewhere::SecretElsewhere,
    &before::sandboxed_server::SandboxedServer,
    &before::shell_command::ShellCommand,
    &before::obeyed_file::ObeyedFile,
    &before::poisoned_memory::PoisonedMemory,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_guard_has_its_cases_and_its_row_under_its_name() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/guards");
        let cases: BTreeSet<String> = std::fs::read_dir(corpus)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        let ids = BEFORE.iter().map(|it| it.id()).chain(AFTER.iter().map(|it| it.id()));
        let ids: BTreeSet<String> = ids.map(|it| it.as_str().to_owned()).collect();
        assert_eq!(ids, cases);
        let docs = include_str!("../../../../docs/gate.md");
        assert!(ids.iter().all(|it| docs.contains(&format!("`{it}`"))));
    }
}
