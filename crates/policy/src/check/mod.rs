//! What is checked of every rule when a policy loads, beyond Cedar's validator.

mod examples;
mod reach;
mod samples;

#[cfg(test)]
pub(crate) use samples::corners;

use cedar_policy::{Policy as CedarPolicy, PolicySet};
use model::{Decision, EffectKind};

use crate::error::LoadError;
use crate::facts::{FactSheet, Facts};
use crate::policy::Policy;
use crate::rule::{Outcome, Rule};

/// Everything that is wrong with those rules that come with what Cedar made of them.
pub(crate) fn run(policy: &Policy, parsed: &[Option<CedarPolicy>]) -> Vec<LoadError> {
    let mut flaws = Vec::new();
    let to_check =
        policy.rules.iter().zip(parsed).filter_map(|(rule, it)| Some((rule, it.as_ref()?)));
    for (rule, parsed) in to_check {
        match PolicySet::from_policies([parsed.clone()]) {
            Ok(set) => {
                let alone = Alone { policy, rule, set };
                let wrong = examples::check(&alone);
                // A wrong example says more than what follows from it.
                flaws.extend(if wrong.is_empty() { reach::check(&alone, parsed) } else { wrong });
            }
            Err(why) => flaws.push(flaw(rule, why.to_string())),
        }
    }
    if flaws.is_empty() && !allows_something(policy) {
        let what = "nothing is ever allowed, not even to the user of a clean session".to_owned();
        flaws.push(LoadError { pack: "policy".to_owned(), line: 0, rule: None, what });
    }
    flaws
}

fn allows_something(policy: &Policy) -> bool {
    let plain = EffectKind::ALL.iter().filter_map(|it| FactSheet::new(*it).ok());
    plain.into_iter().any(|it| policy.decide(&it.facts()).decision() == Decision::Allow)
}

fn flaw(rule: &Rule, what: String) -> LoadError {
    let (pack, id) = (rule.pack.to_string(), Some(rule.id.to_string()));
    LoadError { pack, line: rule.line, rule: id, what }
}

/// One rule by itself.
pub(crate) struct Alone<'a> {
    policy: &'a Policy,
    rule: &'a Rule,
    set: PolicySet,
}

/// What one rule says of some facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    No,
    Yes,
    Failed,
}

impl Alone<'_> {
    fn ask(&self, facts: &Facts<'_>) -> Hit {
        if !self.rule.kinds.contains(&facts.effect) {
            return Hit::No;
        }
        let Ok(requests) = self.policy.requests.make(facts, &self.rule.uses) else {
            return Hit::Failed;
        };
        let hits = match self.rule.outcome {
            Outcome::Permit { .. } => self.policy.hits_of_all(&requests, &self.set),
            Outcome::Forbid { .. } => self.policy.hits_of_any(&requests, &self.set),
        };
        match (hits.matched.is_empty(), hits.failed.is_empty()) {
            (false, _) => Hit::Yes,
            (true, false) => Hit::Failed,
            (true, true) => Hit::No,
        }
    }

    fn flaw(&self, what: String) -> LoadError {
        flaw(self.rule, what)
    }
}
