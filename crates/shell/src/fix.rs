//! Safer ways, for the model that asked. Advice only: nothing follows from it.

use crate::Finding;
use crate::tables::lines;

/// A proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What is wrong with the command.
    pub reason: &'static str,
    /// What could be done instead.
    pub alternative: &'static str,
}

/// The proposal that says most about the findings: the table goes from what says most to what says least.
pub(super) fn propose(findings: &[Finding]) -> Option<Fix> {
    lines("fix.FIXES").find_map(|line| {
        let mut parts = line.split(" | ");
        let (rule, reason, alternative) = (parts.next()?, parts.next()?, parts.next()?);
        let is_found = findings.iter().any(|it| it.rule.as_str() == rule);
        is_found.then_some(Fix { reason, alternative })
    })
}
