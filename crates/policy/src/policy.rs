//! The rules, ready to decide.

use std::collections::HashMap;
use std::sync::Arc;

use cedar_policy::{AuthorizationError, Authorizer, PolicyId, PolicySet, Request};
use model::{Decision, Objection, Taint};

use crate::attribute::Uses;
use crate::error::LoadErrors;
use crate::facts::{Confirmed, Facts};
use crate::load;
use crate::memo::{Key, Matched, Memo};
use crate::pack::PackText;
use crate::request::Requests;
use crate::rule::{Outcome, Rule};
use crate::verdict::{Grant, Verdict};

/// The rule that denies what no rule permits.
pub const DEFAULT_DENY: &str = "default-deny";

/// The rules, parsed, checked and sliced by effect.
#[derive(Debug)]
pub struct Policy {
    pub(crate) requests: Requests,
    pub(crate) rules: Vec<Rule>,
    by_id: HashMap<PolicyId, usize>,
    /// One per effect, in the order of the effects.
    slices: Vec<Slice>,
    authorizer: Authorizer,
    uses: Uses,
    memo: Memo,
}

/// The rules that can match calls of one effect. Apart, because Cedar does not tell which permit
/// would match once a forbid does.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    pub(crate) permits: PolicySet,
    pub(crate) forbids: PolicySet,
}

/// What matched: indices of rules, in their order.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    pub(crate) matched: Vec<usize>,
    /// With what went wrong.
    pub(crate) failed: Vec<(usize, String)>,
}

impl Hits {
    /// Each rule once.
    fn add_failed(&mut self, failed: Vec<(usize, String)>) {
        for (at, why) in failed {
            if !self.failed.iter().any(|(it, _)| *it == at) {
                self.failed.push((at, why));
            }
        }
    }
}

impl Policy {
    /// Parses and checks `packs`. Give the embedded ones first; see [`PackText::embedded`]. Those were checked when the
    /// program was tested and are not checked again, unless they were changed.
    ///
    /// # Errors
    /// If anything is wrong with any of them; then all that is wrong is told.
    pub fn build(packs: &[PackText]) -> Result<Self, LoadErrors> {
        load::build(packs, PackText::is_embedded)
    }

    /// The default packs alone.
    ///
    /// # Errors
    /// Never, or the program was built wrongly; a test builds it.
    pub fn embedded() -> Result<Self, LoadErrors> {
        Self::build(&PackText::embedded())
    }

    pub(crate) fn assemble(
        requests: Requests,
        rules: Vec<Rule>,
        slices: Vec<Slice>,
        uses: Uses,
    ) -> Self {
        let by_id = rules.iter().enumerate().map(|(at, it)| (PolicyId::new(&*it.id), at)).collect();
        let (authorizer, memo) = (Authorizer::new(), Memo::default());
        Self { requests, rules, by_id, slices, authorizer, uses, memo }
    }

    /// The rules, in order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(crate) fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// What the rules say of a call.
    #[must_use]
    pub fn decide(&self, facts: &Facts<'_>) -> Verdict {
        let Some(matched) = self.judge(facts) else {
            return Verdict { grant: None, objections: vec![broken()] };
        };
        let (permits, forbids) = &*matched;
        let mut objections = self.objections(forbids, facts.confirmed);
        let grant = self.grant(permits);
        if grant.is_none() {
            objections.push(silence(facts));
        }
        Verdict { grant, objections }
    }

    /// Permits and forbids that match; nothing if the request could not even be made.
    pub(crate) fn judge(&self, facts: &Facts<'_>) -> Option<Matched> {
        let Some(key) = Key::new(&self.uses, facts) else { return self.judge_afresh(facts) };
        if let Some(matched) = self.memo.get(&key) {
            return Some(matched);
        }
        let matched = self.judge_afresh(facts)?;
        self.memo.put(key, &matched);
        Some(matched)
    }

    /// The same without looking at what was decided before.
    pub(crate) fn judge_afresh(&self, facts: &Facts<'_>) -> Option<Matched> {
        let requests = self.requests.make(facts, &self.uses).ok()?;
        let slice = self.slices.get(facts.effect as usize)?;
        let permits = self.hits_of_all(&requests, &slice.permits);
        Some(Arc::new((permits, self.hits_of_any(&requests, &slice.forbids))))
    }

    /// What permits each of the things that a call names: the rules that match every request.
    pub(crate) fn hits_of_all(&self, requests: &[Request], set: &PolicySet) -> Hits {
        let mut each = requests.iter().map(|it| self.hits(it, set));
        let mut sum = each.next().unwrap_or_default();
        for hits in each {
            sum.matched.retain(|it| hits.matched.contains(it));
            sum.add_failed(hits.failed);
        }
        sum
    }

    /// What forbids one of the things that a call names: the rules that match some request.
    pub(crate) fn hits_of_any(&self, requests: &[Request], set: &PolicySet) -> Hits {
        let mut sum = Hits::default();
        for hits in requests.iter().map(|it| self.hits(it, set)) {
            sum.matched.extend(hits.matched);
            sum.add_failed(hits.failed);
        }
        sum.matched.sort_unstable();
        sum.matched.dedup();
        sum
    }

    /// What matches in a set that holds only permits or only forbids.
    fn hits(&self, request: &Request, set: &PolicySet) -> Hits {
        if set.is_empty() {
            return Hits::default();
        }
        let response = self.authorizer.is_authorized(request, set, self.requests.entities());
        let found = response.diagnostics();
        let mut matched: Vec<_> =
            found.reason().filter_map(|id| self.by_id.get(id).copied()).collect();
        matched.sort_unstable();
        let failed =
            found.errors().filter_map(|AuthorizationError::PolicyEvaluationError(error)| {
                self.by_id.get(error.policy_id()).map(|at| (*at, error.inner().to_string()))
            });
        Hits { matched, failed: failed.collect() }
    }

    fn grant(&self, permits: &Hits) -> Option<Grant> {
        let first = self.rules.get(*permits.matched.first()?)?;
        let rules = permits.matched.iter().filter_map(|at| self.rules.get(*at));
        let taint = rules.fold(Taint::NONE, |sum, rule| match &rule.outcome {
            Outcome::Permit { taint } => sum.union(*taint),
            Outcome::Forbid { .. } => sum,
        });
        Some(Grant::new(Arc::clone(&first.id), taint))
    }

    fn objections(&self, forbids: &Hits, confirmed: Confirmed) -> Vec<Objection> {
        // INVARIANT (FailClosed): Cedar skips a rule that fails; here it counts, and in full.
        let failed = forbids.failed.iter().filter_map(|(at, _)| self.rules.get(*at)).map(failure);
        let matched = forbids.matched.iter().filter_map(|at| self.rules.get(*at)?.objection());
        failed.chain(matched).filter(|it| !is_lifted(it.decision, confirmed)).collect()
    }
}

/// Has the person whom a step-up asks said yes to exactly this call?
pub(crate) fn is_lifted(decision: Decision, confirmed: Confirmed) -> bool {
    decision == Decision::StepUp && confirmed == Confirmed::Exactly
}

fn failure(rule: &Rule) -> Objection {
    let why = format!("the rule `{}` could not be evaluated, so it denies", rule.id);
    Objection::new(rule.id.to_string(), Decision::Deny, "rule_failed", why)
        .with_remedy("have the operator mend the rule")
}

fn broken() -> Objection {
    let why = "the policy could not be asked, so nothing is permitted";
    Objection::new(DEFAULT_DENY, Decision::Deny, "policy_failed", why)
}

fn silence(facts: &Facts<'_>) -> Objection {
    let (effect, principal) = (facts.effect.as_str(), facts.principal.as_str());
    let why = format!("no rule permits `{effect}` for {principal}");
    Objection::new(DEFAULT_DENY, Decision::Deny, "no_rule_permits", why)
}

#[cfg(test)]
mod tests {
    use model::EffectKind;

    use super::*;
    use crate::check::corners;
    use crate::facts::FactSheet;

    /// What is remembered is what would be decided, also by rules that ask for texts and shares.
    #[test]
    fn memory_changes_no_verdict() {
        let mut packs = PackText::embedded();
        packs.push(PackText {
            name: "own.cedar".to_owned(),
            text: r#"
@id("own-texts") @reason("asks for every text") @decision("deny")
forbid (principal == User::"bob", action, resource == Tool::"mail")
when { context.agent == "a" && context.door == "hook" && context.taint_permille > 500 };
"#
            .to_owned(),
        });
        let policy = Policy::build(&packs).unwrap();
        let plain =
            FactSheet::from_words("tool_send tool=mail agent=a door=hook taint_permille=501")
                .unwrap();
        let decide = |sheet: &FactSheet| policy.decide(&sheet.facts()).decision();
        assert_eq!(decide(&plain), Decision::Allow);
        let bob = |words: &str| {
            decide(&FactSheet::from_words(&format!("tool_send user=bob {words}")).unwrap())
        };
        assert_eq!(bob("tool=mail agent=a door=hook taint_permille=501"), Decision::Deny);
        assert_eq!(bob("tool=mail agent=a door=hook taint_permille=500"), Decision::Allow);
        assert_eq!(bob("tool=mail agent=a door=mcp taint_permille=501"), Decision::Allow);
        assert_eq!(bob("tool=mail agent=b door=hook taint_permille=501"), Decision::Allow);
        assert_eq!(bob("tool=post agent=a door=hook taint_permille=501"), Decision::Allow);
        for kind in [EffectKind::ToolSend, EffectKind::MessageIn] {
            let sheets = corners(&FactSheet { effect: kind, ..plain.clone() });
            for sheet in sheets.iter().chain(&sheets) {
                let facts = sheet.facts();
                let (kept, fresh) =
                    (policy.judge(&facts).unwrap(), policy.judge_afresh(&facts).unwrap());
                assert_eq!(kept.0.matched, fresh.0.matched);
                assert_eq!(kept.1.matched, fresh.1.matched);
            }
        }
    }
}
