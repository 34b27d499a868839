//! What findings come to.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::finding::{Finding, Verdict};

/// The score from which on a text is suspicious.
const SUSPICIOUS_FROM: f64 = 0.5;
/// The score from which on it gives orders.
const INJECTION_FROM: f64 = 0.8;
/// Signs that lie closer together than this are added up. A long document has weak signs here and there; they mean
/// nothing.
pub(super) const TOGETHER_BYTES: usize = 2_000;
/// No sign is surer than this while passages are compared, so that it can be taken away again.
const WEIGHT_MAX: f64 = 0.999_999;

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

/// Keeps so many findings: first those that make up the worst passage, so that the score stays what it was, then the strongest.
pub(super) fn keep_strongest(findings: &mut Vec<Finding>, most: usize) {
    if findings.len() <= most {
        return;
    }
    findings.sort_by_key(|it| it.start);
    let worst = worst_passage(findings);
    let mut strongest: HashMap<&str, usize> = HashMap::new();
    for (at, it) in findings.iter().enumerate().filter(|it| worst.contains(&it.0)) {
        let known = strongest.entry(it.rule).or_insert(at);
        if findings.get(*known).is_some_and(|known| known.weight < it.weight) {
            *known = at;
        }
    }
    let is_needed: HashSet<usize> = strongest.into_values().collect();
    let mut all: Vec<(bool, Finding)> =
        findings.drain(..).enumerate().map(|(at, it)| (is_needed.contains(&at), it)).collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.weight.total_cmp(&a.1.weight)));
    findings.extend(all.into_iter().take(most).map(|it| it.1));
}

/// Returns which of the findings, which stand in order, make up the passage with the highest score. Linear.
fn worst_passage(findings: &[Finding]) -> Range<usize> {
    // Of each rule, the findings of the passage that no later one outweighs: the first of them is the strongest.
    let mut rules: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let doubt = |at: Option<&usize>| {
        at.and_then(|it| findings.get(*it))
            .map_or(0.0, |it| (1.0 - it.weight.clamp(0.0, WEIGHT_MAX)).ln())
    };
    let (mut sum, mut best, mut worst) = (0.0, f64::INFINITY, 0..0);
    let mut end = 0;
    for (start, first) in findings.iter().enumerate() {
        while let Some(next) =
            findings.get(end).filter(|it| it.start < first.start.saturating_add(TOGETHER_BYTES))
        {
            let kept = rules.entry(next.rule).or_default();
            sum -= doubt(kept.front());
            while kept
                .back()
                .and_then(|it| findings.get(*it))
                .is_some_and(|it| it.weight <= next.weight)
            {
                kept.pop_back();
            }
            kept.push_back(end);
            sum += doubt(kept.front());
            end += 1;
        }
        if sum < best {
            (best, worst) = (sum, start..end);
        }
        if let Some(kept) = rules.get_mut(first.rule).filter(|it| it.front() == Some(&start)) {
            sum -= doubt(kept.front());
            kept.pop_front();
            sum += doubt(kept.front());
        }
    }
    worst
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
