//! Promises for any contents in any order.

use model::{SessionId, Source, Taint, UserId};
use monitor::confirm::{Confirmation, Message, Pending, understand};
use monitor::taint::{SessionTaint, TaintDelta, inherited_by_fact, is_outside, label};
use proptest::prelude::*;

fn source() -> impl Strategy<Value = Source> {
    prop::sample::select(Source::ALL.to_vec())
}

fn content() -> impl Strategy<Value = (Source, String)> {
    let text = prop_oneof![
        "\\PC{0,40}",
        "[a-z ]{0,300}",
        prop::sample::select(vec![
            "",
            "yes",
            "a",
            "漢字",
            "QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD"
        ])
        .prop_map(str::to_owned),
    ];
    (source(), text)
}

proptest! {
    #[test]
    fn taint_only_grows_and_only_people_bring_the_share_down(
        contents in prop::collection::vec(content(), 0..40)
    ) {
        let mut session = SessionTaint::default();
        for (source, text) in contents {
            let before = session.clone();
            session.absorb(&label(source, "origin", 0), &text);
            let (old, new) = (before.budget(), session.budget());
            prop_assert!(new.tainted_tokens() >= old.tainted_tokens());
            prop_assert!(new.peak_millionths() >= old.peak_millionths());
            prop_assert!(session.taint().contains(before.taint()));
            prop_assert!(session.is_tainted() || !before.is_tainted());
            if !source.is_vouched_for() {
                prop_assert!(new.ratio_millionths() >= old.ratio_millionths());
                prop_assert_eq!(new.clean_tokens(), old.clean_tokens());
            }
            if is_outside(source.taint()) {
                prop_assert!(session.is_tainted());
            }
        }
    }

    #[test]
    fn changes_replay(contents in prop::collection::vec(content(), 0..40), cut in 0_usize..40) {
        let mut session = SessionTaint::default();
        let mut kept: Vec<String> = Vec::new();
        for (number, (source, text)) in contents.into_iter().enumerate() {
            let delta = session.absorb(&label(source, &text, 7), &text);
            kept.push(serde_json::to_string(&delta).unwrap());
            if number == cut {
                kept = vec![serde_json::to_string(&session.snapshot()).unwrap()];
            }
        }
        let mut again = SessionTaint::default();
        for change in kept {
            again.apply(&serde_json::from_str::<TaintDelta>(&change).unwrap());
        }
        prop_assert_eq!(again, session);
    }

    #[test]
    fn a_child_is_never_cleaner_than_its_parent_nor_the_parent_than_its_child(
        before in prop::collection::vec(content(), 0..10),
        during in prop::collection::vec(content(), 0..10),
    ) {
        let mut parent = SessionTaint::default();
        for (source, text) in before {
            parent.absorb(&label(source, "before", 0), &text);
        }
        let mut child = SessionTaint::default();
        child.apply(&parent.for_child());
        prop_assert_eq!(child.budget().ratio_millionths(), parent.budget().ratio_millionths());
        for (source, text) in during {
            child.absorb(&label(source, "during", 0), &text);
        }
        let share = parent.budget().ratio_millionths();
        parent.apply(&child.for_parent());
        prop_assert!(parent.budget().ratio_millionths() >= share);
        prop_assert!(parent.taint().contains(child.taint()));
        prop_assert!(parent.budget().tainted_tokens() >= child.budget().tainted_tokens());
    }

    #[test]
    fn a_fact_of_a_wholly_tainted_talk_is_tainted(fact in "\\PC{0,60}", quoted in "\\PC{0,60}") {
        let mut session = SessionTaint::default();
        session.absorb(&label(Source::Web, "page", 0), "page");
        let turn = monitor::taint::Turn::new(Source::Agent, fact.clone(), &session);
        prop_assert!(inherited_by_fact(&fact, &quoted, &[turn]).is_some());
    }

    #[test]
    fn whatever_is_said_with_a_refusal_or_a_question_is_no_yes(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..6),
        spoiler in prop::sample::select(SPOILERS),
        at in 0_usize..6,
    ) {
        let mut words = words;
        words.insert(at.min(words.len()), spoiler);
        let understood = said(&words.join(" "));
        prop_assert!(!matches!(understood, Confirmation::Yes(_) | Confirmation::Ambiguous));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,300}") {
        let _ = said(&text);
        let _ = Taint::parse(&text);
    }
}

const WORDS: &[&str] =
    &["yes", "ok", "go ahead", "please", "send", "it", "the", "email", "and", "sure", "do it"];
const SPOILERS: &[&str] = &[
    "no", "don't", "not", "?", "never", "but", "if", "\"", "wait", "…", "<", ">", "maybe",
    "\u{200b}",
];

fn said(text: &str) -> Confirmation {
    let session = SessionId::parse("s").unwrap();
    let owner = UserId::parse("ann").unwrap();
    let message = Message { text, session: &session, source: Source::User, user: &owner, at: 1 };
    let pending = |action: &str| Pending {
        action: action.to_owned(),
        call: None,
        session: session.clone(),
        owner: owner.clone(),
        blocked_at: 0,
        grounds: Default::default(),
    };
    understand(&message, &[pending("oauth_call"), pending("skill_propose")])
}
