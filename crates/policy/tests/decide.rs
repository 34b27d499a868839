//! What the default packs decide, rule by rule, and what holds of every decision.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use model::ipc::ActionName;
use model::{Decision, EffectKind, Taint};
use policy::{DEFAULT_DENY, FactSheet, Matched, PackText, Policy};

static POLICY: LazyLock<Policy> =
    LazyLock::new(|| Policy::embedded().unwrap_or_else(|errors| panic!("{errors:#?}")));

fn decide(words: &str) -> (Decision, String) {
    let sheet = FactSheet::from_words(words).unwrap();
    let verdict = POLICY.decide(&sheet.facts());
    (verdict.decision(), verdict.rule().to_owned())
}

fn is(words: &str, decision: Decision, rule: &str) {
    assert_eq!(decide(words), (decision, rule.to_owned()), "{words}");
}

#[test]
fn the_control_plane_is_the_users_and_only_clean() {
    is("control_plane_change", Decision::Allow, "cpi-allow-authorized");
    is("control_plane_change taint=UNTRUSTED", Decision::Deny, "cpi-deny-tainted");
    for principal in ["WEB", "TOOL", "SKILL", "CHANNEL", "EXTERNAL"] {
        let words = format!("control_plane_change principal={principal} confirmed=exactly");
        is(&words, Decision::Deny, "cpi-deny-untrusted");
    }
}

#[test]
fn the_budget_stops_sensitive_actions_and_no_tool() {
    is("oauth_call over_budget=true", Decision::StepUp, "taint-budget");
    is("oauth_call over_budget=true confirmed=kind", Decision::Allow, "host-allow-own");
    is("oauth_call over_budget=true confirmed=exactly", Decision::Allow, "host-allow-own");
    for kind in ["tool_read", "tool_write", "tool_send", "tool_destroy"] {
        is(&format!("{kind} taint=UNTRUSTED over_budget=true"), Decision::Allow, "tool-allow-own");
    }
}

#[test]
fn provenance_asks_and_secrets_stay() {
    is("tool_send sinks=untrusted_destination", Decision::StepUp, "sink-ask-destination");
    // A yes to the kind of action is none to the recipient.
    is(
        "tool_send sinks=untrusted_destination confirmed=kind",
        Decision::StepUp,
        "sink-ask-destination",
    );
    is(
        "tool_send sinks=untrusted_destination confirmed=exactly",
        Decision::Allow,
        "tool-allow-own",
    );
    is("tool_send sinks=foreign_secret confirmed=exactly", Decision::Deny, "sink-deny-secret");
    is("tool_read sinks=untrusted_target", Decision::Allow, "tool-allow-own");
}

#[test]
fn silence_denies() {
    is("tool_write principal=WEB", Decision::Deny, DEFAULT_DENY);
    let sheet = FactSheet::from_words("tool_destroy principal=EXTERNAL").unwrap();
    let verdict = POLICY.decide(&sheet.facts());
    assert_eq!(verdict.grant, None);
    assert_eq!(verdict.objections.last().unwrap().code, "no_rule_permits");
}

#[test]
fn a_grant_says_what_the_answer_will_carry() {
    let taint = |words: &str| {
        let sheet = FactSheet::from_words(words).unwrap();
        POLICY.decide(&sheet.facts()).grant.unwrap().taint()
    };
    assert_eq!(taint("web_fetch"), Taint::UNTRUSTED.union(Taint::WEB_DERIVED));
    assert_eq!(taint("file_read targets=secret_file"), Taint::SECRET_RISK);
    assert_eq!(taint("tool_read"), Taint::NONE);
}

#[test]
fn every_effect_is_open_to_the_user_of_a_clean_session() {
    for kind in EffectKind::ALL {
        assert_eq!(decide(kind.as_str()).0, Decision::Allow, "{}", kind.as_str());
    }
}

/// The id of a rule of the user's own against a kind of effect.
fn own(kind: &str) -> String {
    format!("own-{}", kind.replace('_', "-"))
}

/// Whatever an agent can ask for, a rule in a policy file can deny by its kind.
#[test]
fn each_action_is_denied_by_a_rule_of_the_users_own() {
    let kinds: BTreeSet<_> = ActionName::ALL.iter().map(|it| it.kind()).collect();
    let mut text = String::new();
    for kind in kinds {
        let name = kind.as_str();
        let _ = write!(
            text,
            r#"@id("{}") @reason("not here") @decision("deny") @match("{name}") @skip("message_in")
forbid (principal, action == Action::"{name}", resource);
"#,
            own(name)
        );
    }
    let mut packs = PackText::embedded();
    packs.push(PackText { name: "own.cedar".to_owned(), text });
    let policy = Policy::build(&packs).unwrap_or_else(|errors| panic!("{errors:#?}"));
    for name in ActionName::ALL {
        let kind = name.kind().as_str();
        assert_eq!(decide(kind).0, Decision::Allow, "{kind}");
        let sheet = FactSheet::from_words(kind).unwrap();
        let verdict = policy.decide(&sheet.facts());
        assert_eq!((verdict.decision(), verdict.rule()), (Decision::Deny, &*own(kind)), "{name:?}");
    }
}

#[test]
fn an_objection_carries_what_the_rule_says() {
    let sheet = FactSheet::from_words("oauth_call over_budget=true").unwrap();
    let verdict = POLICY.decide(&sheet.facts());
    let [objection] = verdict.objections.as_slice() else { panic!("{verdict:?}") };
    assert_eq!(objection.rule, "taint-budget");
    assert_eq!(objection.code, "taint_blocked");
    assert_eq!(objection.remedy.as_deref(), Some("ask the user to confirm this action"));
    assert_eq!(verdict.grant.unwrap().rule(), "host-allow-own");
}

#[test]
fn every_embedded_rule_has_examples_of_both_kinds() {
    for rule in POLICY.rules() {
        let (matches, skips) = rule.examples();
        assert!(matches > 0 && skips > 0, "{}", rule.id());
    }
}

#[test]
fn a_forbid_that_fails_denies() {
    let mut packs = PackText::embedded();
    packs.push(PackText {
        name: "own.cedar".to_owned(),
        text: r#"
@id("own-overflow") @reason("fails for many calls") @decision("step_up")
@match("tool_read risk=0 taint_permille=1")
@skip("tool_read taint_permille=2")
forbid (principal, action == Action::"tool_read", resource)
when { context.taint_permille == 1 || context.risk * 9223372036854775807 == 2 };
"#
        .to_owned(),
    });
    let policy = Policy::build(&packs).unwrap();
    let sheet = FactSheet::from_words("tool_read risk=3").unwrap();
    let explained = policy.explain(&sheet.facts());
    assert_eq!(explained.decision(), Decision::Deny);
    assert_eq!(explained.verdict.objections[0].code, "rule_failed");
    let failed = explained.rules.iter().find(|(rule, _)| rule.id() == "own-overflow").unwrap();
    assert!(matches!(failed.1, Matched::Failed(_)), "{:?}", failed.1);
    let sheet = FactSheet::from_words("tool_read risk=0").unwrap();
    assert_eq!(policy.decide(&sheet.facts()).decision(), Decision::Allow);
}
