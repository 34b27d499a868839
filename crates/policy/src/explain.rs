//! Why the policy says what it says.

use model::Decision;

use crate::facts::Facts;
use crate::policy::{Policy, is_lifted};
use crate::rule::Rule;
use crate::verdict::Verdict;

/// A verdict with the rules behind it.
#[derive(Clone, Debug)]
pub struct Explained<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// The rules that can match this effect, in order, with what each did.
    pub rules: Vec<(&'a Rule, Matched)>,
}

/// What a rule did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matched {
    /// Nothing: its condition does not hold.
    No,
    /// It holds.
    Yes,
    /// It holds, but the person has confirmed exactly this call.
    Lifted,
    /// It could not be evaluated: a forbid denies then, a permit does not permit.
    Failed(String),
}

impl Policy {
    /// What the rules say of a call, and which said what.
    #[must_use]
    pub fn explain(&self, facts: &Facts<'_>) -> Explained<'_> {
        let verdict = self.decide(facts);
        let matched = self.judge(facts).unwrap_or_default();
        let hits = [&matched.0, &matched.1];
        let candidates = self.rules.iter().enumerate();
        let candidates = candidates.filter(|(_, rule)| rule.kinds.contains(&facts.effect));
        let rules = candidates.map(|(at, rule)| {
            let failed = hits.iter().flat_map(|it| &it.failed).find(|(it, _)| *it == at);
            let matched = match failed {
                Some((_, why)) => Matched::Failed(why.clone()),
                None if !hits.iter().any(|it| it.matched.contains(&at)) => Matched::No,
                None if is_lifted(rule.decision(), facts.confirmed) => Matched::Lifted,
                None => Matched::Yes,
            };
            (rule, matched)
        });
        Explained { rules: rules.collect(), verdict }
    }
}

impl Matched {
    /// A word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Yes => "yes",
            Self::Lifted => "lifted",
            Self::Failed(_) => "failed",
        }
    }
}

impl Explained<'_> {
    /// The decision.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.verdict.decision()
    }
}
