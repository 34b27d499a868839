//! The sum: a score, and one of three words.

use serde_json::{Value, json};

use super::findings::{Finding, Status, findings, is_contained};
use super::namespaces::Own;
use super::process::Seccomp;
use super::read::Facts;

/// How far the surroundings confine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compliance {
    /// Every wall stands.
    Full,
    /// Some do.
    Partial,
    /// Neither a container, nor a filter of system calls, nor any namespace of its own.
    None,
}

impl Compliance {
    /// As records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "Full",
            Self::Partial => "Partial",
            Self::None => "None",
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    facts: Facts,
    findings: Vec<Finding>,
    score: u8,
    compliance: Compliance,
}

impl Audit {
    /// Judges what was read.
    #[must_use]
    pub fn of(facts: Facts) -> Self {
        let findings = findings(&facts);
        let worth = |it: &Finding| match it.status {
            Status::Pass => it.weight,
            Status::Weak => it.weight / 2,
            Status::Fail | Status::Unknown => 0,
        };
        let score = findings.iter().map(worth).fold(0, u8::saturating_add);
        let holds = |it: &Finding| !it.needed || it.status == Status::Pass;
        let filtered = matches!(facts.process.seccomp, Some(Seccomp::Filter | Seccomp::Strict));
        let any =
            is_contained(&facts) || filtered || facts.namespaces.iter().any(|it| it.1 == Own::Yes);
        let compliance = match (findings.iter().all(holds), any) {
            (true, _) => Compliance::Full,
            (false, true) => Compliance::Partial,
            (false, false) => Compliance::None,
        };
        Self { facts, findings, score, compliance }
    }

    /// One word for all of it.
    #[must_use]
    pub fn compliance(&self) -> Compliance {
        self.compliance
    }

    /// From 0 to 100.
    #[must_use]
    pub fn score(&self) -> u8 {
        self.score
    }

    /// One row per check.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What was read.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// As it is recorded and printed.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(Finding::to_json).collect();
        let own = self.facts.namespaces.iter().filter(|it| it.1 == Own::Yes);
        let own: Vec<&str> = own.map(|it| it.0.as_str()).collect();
        let seccomp = self.facts.process.seccomp;
        json!({
            "compliance": self.compliance.as_str(),
            "findings": findings,
            "in_container": is_contained(&self.facts),
            "namespaces": own,
            "readonly_root": self.facts.readonly_root == Some(true),
            "resource_limits": self.facts.limits.listed,
            "score": self.score,
            "seccomp_active": matches!(seccomp, Some(Seccomp::Filter | Seccomp::Strict)),
            "seccomp_mode": seccomp.map(Seccomp::as_str),
        })
    }
}

impl Finding {
    /// As it is recorded and printed.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "advice": self.advice,
            "id": self.id,
            "severity": self.severity.as_str(),
            "status": self.status.as_str(),
            "what": self.what,
        })
    }
}
