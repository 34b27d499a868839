//! Weighing, as properties: it never loosens, and the order of guards does not matter.

use std::sync::LazyLock;

use aegx::Principal;
use model::{AgentId, EffectKind, Profile, UserId};
use policy::{Confirmed, Facts, Named, Policy, Sinks, Targets, Verdict};
use proptest::prelude::*;

use super::*;

static GRANT: LazyLock<Grant> = LazyLock::new(|| {
    let (user, agent) = (UserId::parse("ann").unwrap(), AgentId::parse("main").unwrap());
    let facts = Facts {
        user: &user,
        agent: &agent,
        door: "test",
        principal: Principal::User,
        effect: EffectKind::WebFetch,
        tool: "web_fetch",
        profile: Profile::Standard,
        taint: Taint::NONE,
        taint_permille: 0,
        taint_permille_max: 300,
        over_budget: false,
        asked_for: false,
        risk: 0,
        sinks: Sinks::default(),
        targets: Targets::NONE,
        named: Named::nothing(),
        confirmed: Confirmed::Nothing,
    };
    Policy::embedded().unwrap().decide(&facts).grant.unwrap()
});

fn objection() -> impl Strategy<Value = Objection> {
    let decision = prop::sample::select(Decision::ALL.to_vec());
    (decision, prop::sample::select(vec!["a", "b", "c"]), prop::sample::select(vec!["x", "y"]))
        .prop_map(|(decision, rule, why)| Objection::new(rule, decision, "code", why))
}

fn objections() -> impl Strategy<Value = Vec<Objection>> {
    prop::collection::vec(objection(), 0..6)
}

fn judged(granted: bool, objections: Vec<Objection>) -> Verdict {
    Verdict { grant: granted.then(|| GRANT.clone()), objections }
}

/// Everything of a ruling that anybody sees.
fn shown(ruling: &Ruling) -> (Decision, String, Vec<String>) {
    let reasons = ruling.objections().iter();
    let reasons = reasons.map(|it| format!("{} {} {}", it.decision, it.rule, it.for_person));
    (ruling.decision(), ruling.rule().to_owned(), reasons.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_objection_more_never_loosens(
        granted: bool,
        policy in objections(),
        guards in objections(),
        more in objection(),
        of_policy: bool,
    ) {
        let before = Ruling::weigh(judged(granted, policy.clone()), guards.clone());
        let (mut policy, mut guards) = (policy, guards);
        if of_policy { policy.push(more) } else { guards.push(more) }
        let after = Ruling::weigh(judged(granted, policy), guards);
        prop_assert!(after.decision() >= before.decision());
        prop_assert!(after.decision() >= Decision::StepUp, "an objection is never milder than a question");
        prop_assert!(after.confirmed().decision() >= before.confirmed().decision());
    }

    #[test]
    fn the_order_of_guards_and_rules_does_not_matter(
        granted: bool,
        (policy, shuffled_policy) in objections().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
        (guards, shuffled_guards) in objections().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        let one = Ruling::weigh(judged(granted, policy), guards);
        let other = Ruling::weigh(judged(granted, shuffled_policy), shuffled_guards);
        prop_assert_eq!(shown(&one), shown(&other));
        prop_assert_eq!(shown(&one.confirmed()), shown(&other.confirmed()));
    }

    #[test]
    fn the_strictest_decides_and_a_grant_is_needed(granted: bool, policy in objections(), guards in objections()) {
        let all: Vec<&Objection> = policy.iter().chain(&guards).collect();
        let strictest = all.iter().map(|it| it.decision).max();
        let ruling = Ruling::weigh(judged(granted, policy.clone()), guards.clone());
        match (granted, strictest) {
            (false, _) => prop_assert_eq!(ruling.decision(), Decision::Deny),
            (true, None) => prop_assert_eq!(ruling.decision(), Decision::Allow),
            (true, Some(strictest)) => {
                prop_assert_eq!(ruling.decision(), strictest.max(Decision::StepUp));
            }
        }
        prop_assert_eq!(matches!(ruling, Ruling::Allow(_)), granted && all.is_empty());
        prop_assert_eq!(ruling.objections().len(), if granted || !all.is_empty() { all.len() } else { 1 });
        prop_assert!(ruling.objections().is_sorted_by_key(|it| Reverse(it.decision)));
        let first = ruling.objections().first();
        let rule = first.map_or_else(|| GRANT.rule().to_owned(), |it| it.rule.clone().into_owned());
        prop_assert_eq!(ruling.rule(), rule);
        let taint = if ruling.decision() == Decision::Deny { Taint::NONE } else { GRANT.taint() };
        prop_assert_eq!(ruling.taint(), taint);
    }

    #[test]
    fn a_yes_answers_a_question_and_nothing_else(granted: bool, policy in objections(), guards in objections()) {
        let before = Ruling::weigh(judged(granted, policy), guards);
        let (decision, reasons) = (before.decision(), shown(&before));
        let after = before.confirmed();
        match decision {
            Decision::Allow | Decision::Modify | Decision::StepUp => {
                prop_assert_eq!(after.decision(), Decision::Allow);
            }
            Decision::Defer | Decision::Deny => prop_assert_eq!(shown(&after), reasons),
        }
    }
}

#[test]
fn of_equally_strict_objections_those_of_guards_come_first() {
    let ask = |rule: &'static str| Objection::new(rule, Decision::StepUp, "code", "why");
    let ruling = Ruling::weigh(judged(true, vec![ask("a")]), vec![ask("b")]);
    assert_eq!(ruling.rule(), "b");
    let silent = Ruling::weigh(judged(false, Vec::new()), Vec::new());
    assert_eq!(silent.rule(), policy::DEFAULT_DENY);
    assert_ne!(GRANT.taint(), Taint::NONE);
}
