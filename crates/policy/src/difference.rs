//! What is different between two sets of rules, and whether the later one may protect less.

use cedar_policy::PolicyId;

use crate::policy::Policy;
use crate::rule::{Outcome, Rule};

/// A rule that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleChange {
    /// Its id.
    pub id: String,
    /// What became of it: `is new`, `is gone` or `changed`.
    pub what: &'static str,
    /// May it protect less? Where nobody can say which of two is the stricter one, it counts as weaker.
    pub is_weaker: bool,
}

impl Policy {
    /// What is different in `next`, rule by rule.
    #[must_use]
    pub fn changes_to(&self, next: &Self) -> Vec<RuleChange> {
        let change =
            |rule: &Rule, what, is_weaker| RuleChange { id: rule.id().to_owned(), what, is_weaker };
        let mut changes = Vec::new();
        for rule in next.rules() {
            match self.rules().iter().find(|it| it.id() == rule.id()) {
                None => changes.push(change(rule, "is new", permits(rule))),
                Some(was) if self.text(was) != next.text(rule) => {
                    changes.push(change(rule, "changed", true));
                }
                Some(_) => {}
            }
        }
        let is_gone = |it: &&Rule| next.rules().iter().all(|other| other.id() != it.id());
        for rule in self.rules().iter().filter(is_gone) {
            changes.push(change(rule, "is gone", !permits(rule)));
        }
        changes
    }

    /// The rule as it is written, its annotations included.
    fn text(&self, rule: &Rule) -> Option<String> {
        let id = PolicyId::new(rule.id());
        let of = |slice: &crate::policy::Slice| {
            let found = slice.permits.policy(&id).or_else(|| slice.forbids.policy(&id));
            found.map(ToString::to_string)
        };
        self.slices().iter().find_map(of)
    }
}

fn permits(rule: &Rule) -> bool {
    match rule.outcome {
        Outcome::Permit { .. } => true,
        Outcome::Forbid { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::PackText;

    fn with(rules: &str) -> Policy {
        let mut packs = PackText::embedded();
        packs.push(PackText { name: "own.cedar".to_owned(), text: rules.to_owned() });
        Policy::build(&packs).unwrap()
    }

    #[test]
    fn a_ban_that_goes_and_a_leave_that_comes_are_weaker_and_the_other_way_round_is_not() {
        let none = Policy::embedded().unwrap();
        let rule = |decision: &str| {
            format!(
                "@id(\"own-ban\")\n@reason(\"not here\")\n@decision(\"{decision}\")\n@match(\"shell_exec\")\n@skip(\"file_read\")\nforbid (principal, action == Action::\"shell_exec\", resource);\n"
            )
        };
        let (ban, softer) = (with(&rule("deny")), with(&rule("step_up")));
        let weaker = |from: &Policy, to: &Policy| -> Vec<(String, &'static str, bool)> {
            from.changes_to(to).into_iter().map(|it| (it.id, it.what, it.is_weaker)).collect()
        };
        let own = || "own-ban".to_owned();
        assert_eq!(weaker(&none, &ban), [(own(), "is new", false)]);
        assert_eq!(weaker(&ban, &none), [(own(), "is gone", true)]);
        assert_eq!(weaker(&ban, &softer), [(own(), "changed", true)]);
        assert!(weaker(&ban, &ban).is_empty());
    }
}
