//! Rules that can never matter, and rules that leave nothing else to say.
//!
//! A matching example proves that a rule can match. Where there is none, samples are tried; Cedar's
//! validator has by then refused what is impossible by its types. So a rule that is reported here
//! may in truth match something very special: an example of it settles the matter. And a rule
//! that denies all but something that no sample meets is not found.

use cedar_policy::Policy as CedarPolicy;
use model::{Decision, EffectKind};

use super::samples::{Literals, corners, samples};
use super::{Alone, Hit};
use crate::error::LoadError;
use crate::facts::FactSheet;
use crate::rule::Outcome;

pub(super) fn check(alone: &Alone<'_>, parsed: &CedarPolicy) -> Vec<LoadError> {
    if alone.rule.kinds.is_empty() {
        return vec![alone.flaw("can never match: it names no effect".to_owned())];
    }
    if alone.rule.all_kinds && matches_everything(alone) {
        return vec![alone.flaw(everything(&alone.rule.outcome))];
    }
    let proofs = proofs(alone, parsed);
    let Some(first) = proofs.first() else {
        let what =
            "no facts were found for which it matches; if there are some, give them as `@match`";
        return vec![alone.flaw(what.to_owned())];
    };
    match &alone.rule.outcome {
        Outcome::Permit { .. } if proofs.iter().all(|it| denied_by(alone, it).is_some()) => {
            let by = denied_by(alone, first).unwrap_or_default();
            vec![alone.flaw(format!("permits nothing: what it matches is denied by `{by}`"))]
        }
        Outcome::Permit { .. } | Outcome::Forbid { .. } => Vec::new(),
    }
}

/// Facts that it matches: its examples, or what samples find.
fn proofs(alone: &Alone<'_>, parsed: &CedarPolicy) -> Vec<FactSheet> {
    let holds = |it: &FactSheet| alone.ask(&it.facts()) == Hit::Yes;
    let examples: Vec<_> = alone.rule.matches.iter().filter(|it| holds(it)).cloned().collect();
    if !examples.is_empty() {
        return examples;
    }
    let literals = Literals::of(parsed);
    let per_kind = |kind: &EffectKind| -> Vec<FactSheet> {
        samples(*kind, &literals).into_iter().filter(holds).take(ENOUGH).collect()
    };
    alone.rule.kinds.iter().flat_map(per_kind).take(ENOUGH).collect()
}

/// How many facts are looked for.
const ENOUGH: usize = 8;

fn matches_everything(alone: &Alone<'_>) -> bool {
    let plain = EffectKind::ALL.iter().filter_map(|it| FactSheet::new(*it).ok());
    let mut all = plain.flat_map(|it| corners(&it));
    // A forbid that fails denies.
    let fails = matches!(alone.rule.outcome, Outcome::Forbid { .. });
    all.all(|it| match alone.ask(&it.facts()) {
        Hit::Yes => true,
        Hit::No => false,
        Hit::Failed => fails,
    })
}

fn everything(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Permit { .. } => {
            "permits everything: then silence would no longer deny".to_owned()
        }
        Outcome::Forbid { .. } => "stands against everything: nothing would be left".to_owned(),
    }
}

/// The rule that denies this, whoever agrees: one that stood there before, or beside it. Rules
/// that come later may well take back what others gave.
fn denied_by(alone: &Alone<'_>, sheet: &FactSheet) -> Option<String> {
    let before = alone.policy.rules.iter().take_while(|it| it.id != alone.rule.id);
    let beside = alone.policy.rules.iter().filter(|it| it.pack == alone.rule.pack);
    let known: Vec<_> = before.chain(beside).map(|it| &*it.id).collect();
    let verdict = alone.policy.decide(&sheet.facts());
    let mut denials = verdict.objections.into_iter().filter(|it| it.decision == Decision::Deny);
    denials.find(|it| known.contains(&&*it.rule)).map(|it| it.rule.into_owned())
}
