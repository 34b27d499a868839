//! What follows from the findings about a skill: the one table between the verifier, which says what it saw, and
//! whoever installs.

use model::skill::Severity;

model::rules! {
    /// May a skill be installed? The later, the stricter.
    pub enum SkillVerdict {
        Allow = "allow",
        RequireApproval = "require_approval",
        Deny = "deny",
    }
}

/// What one finding comes to, by its severity.
const BY_SEVERITY: &[(Severity, SkillVerdict)] = &[
    (Severity::Info, SkillVerdict::Allow),
    (Severity::Low, SkillVerdict::Allow),
    (Severity::Medium, SkillVerdict::RequireApproval),
    (Severity::High, SkillVerdict::Deny),
    (Severity::Critical, SkillVerdict::Deny),
];

/// Returns the strictest of what the findings come to. The table only ever denies more the worse a finding is.
#[must_use]
pub fn skill_verdict(findings: impl IntoIterator<Item = Severity>) -> SkillVerdict {
    let verdicts = findings.into_iter().map(|severity| {
        let row = BY_SEVERITY.iter().find(|it| it.0 == severity);
        // INVARIANT (FailClosed): a severity without a row is denied.
        row.map_or(SkillVerdict::Deny, |it| it.1)
    });
    verdicts.max().unwrap_or(SkillVerdict::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_severity_has_a_row_and_worse_is_never_milder() {
        let all: Vec<SkillVerdict> = Severity::ALL.iter().map(|it| skill_verdict([*it])).collect();
        assert!(all.is_sorted(), "{all:?}");
        assert_eq!(BY_SEVERITY.len(), Severity::ALL.len());
        assert_eq!(all.last(), Some(&SkillVerdict::Deny));
    }

    #[test]
    fn the_strictest_finding_decides() {
        assert_eq!(skill_verdict([]), SkillVerdict::Allow);
        assert_eq!(skill_verdict([Severity::Low, Severity::Medium]), SkillVerdict::RequireApproval);
        assert_eq!(skill_verdict([Severity::High, Severity::Low]), SkillVerdict::Deny);
    }
}
