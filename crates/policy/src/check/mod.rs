//! What is checked of every rule when a policy loads, beyond Cedar's validator.

mod examples;

use cedar_policy::{Policy as CedarPolicy, PolicySet};

use crate::error::LoadError;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::rule::Rule;

/// Everything that is wrong.
pub(crate) fn run(policy: &Policy, parsed: Vec<CedarPolicy>) -> Vec<LoadError> {
    let mut flaws = Vec::new();
    for (rule, parsed) in policy.rules.iter().zip(parsed) {
        let alone =
            Alone { policy, rule, set: PolicySet::from_policies([parsed]).unwrap_or_default() };
        flaws.extend(examples::check(&alone));
    }
    flaws
}

/// One rule by itself.
pub(crate) struct Alone<'a> {
    policy: &'a Policy,
    rule: &'a Rule,
    set: PolicySet,
}

impl Alone<'_> {
    /// Does it match? A failure counts as a match of a forbid and as none of a permit.
    fn matches(&self, facts: &Facts<'_>) -> bool {
        if !self.rule.kinds.contains(&facts.effect) {
            return false;
        }
        let Ok(request) = self.policy.requests.make(facts) else { return false };
        let hits = self.policy.hits(&request, &self.set);
        !hits.matched.is_empty()
    }

    fn flaw(&self, what: String) -> LoadError {
        LoadError {
            pack: self.rule.pack.to_string(),
            line: self.rule.line,
            rule: Some(self.rule.id.to_string()),
            what,
        }
    }
}
