//! What findings come to.

use super::finding::{Finding, Verdict};

/// The score from which on a text is suspicious.
const SUSPICIOUS_FROM: f64 = 0.5;
/// The score from which on it gives orders.
const INJECTION_FROM: f64 = 0.8;
/// Signs that lie closer together than this are added up. A long document has weak signs here and there; they mean
/// nothing.
const TOGETHER_BYTES: usize = 2_000;

/// Returns what the findings say together, 0 to 1: those of the worst passage. A rule counts once in a passage, however
/// often it was seen.
#[must_use]
pub fn score(findings: &[Finding]) -> f64 {
    let passage = |first: &Finding| {
        let near = first.start..first.start.saturating_add(TOGETHER_BYTES);
        passage_score(findings.iter().filter(|it| near.contains(&it.start)))
    };
    findings.iter().map(passage).fold(0.0, f64::max)
}

fn passage_score<'a>(findings: impl Iterator<Item = &'a Finding>) -> f64 {
    let mut strongest: Vec<&Finding> = Vec::new();
    for finding in findings {
        match strongest.iter_mut().find(|it| it.rule == finding.rule) {
            Some(known) if known.weight >= finding.weight => {}
            Some(known) => *known = finding,
            None => strongest.push(finding),
        }
    }
    1.0 - strongest.iter().map(|it| 1.0 - it.weight.clamp(0.0, 1.0)).product::<f64>()
}

/// Returns a score in a word.
#[must_use]
pub fn verdict(score: f64) -> Verdict {
    // Weights are decimal fractions; what adds up to the limit is meant to reach it.
    let score = score + 1e-9;
    if score >= INJECTION_FROM {
        Verdict::Injection
    } else if score >= SUSPICIOUS_FROM {
        Verdict::Suspicious
    } else {
        Verdict::Clean
    }
}
