//! Answers that give a prompt away, whole or in pieces, and ordinary answers that do not.

#![expect(clippy::unwrap_used, reason = "test helpers, not only `#[test]` functions")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use scan::leak::{Leak, Registry, Rule, Sources, Turns, in_use, scan};
use serde_json::Value;

use crate::timed::timed;

const PROMPTS: &str = include_str!("../../../corpus/leak/prompts.json");
const LEAKS: &str = include_str!("../../../corpus/leak/leaks.jsonl");
const ORDINARY: &str = include_str!("../../../corpus/leak/ordinary.jsonl");
const TURNS: &str = include_str!("../../../corpus/leak/turns.jsonl");

struct Case {
    id: String,
    text: String,
    registry: Registry,
    row: Value,
}

fn prompt(name: &str) -> String {
    let all: BTreeMap<String, String> = serde_json::from_str(PROMPTS).unwrap();
    all.get(name).unwrap().clone()
}

fn cases(lines: &str) -> Vec<Case> {
    lines.lines().map(|it| case(serde_json::from_str(it).unwrap())).collect()
}

fn case(row: Value) -> Case {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let named = row.get("prompt").and_then(Value::as_str).map(prompt);
    let tokens: Vec<String> =
        row.get("tokens").map(|it| serde_json::from_value(it.clone()).unwrap()).unwrap_or_default();
    let registry =
        Registry::new(&Sources { prompt: named.as_deref(), tokens: &tokens, public: &[] });
    Case { id: text("id"), text: text("text"), registry, row }
}

fn decision(leaks: &[Leak]) -> &'static str {
    match leaks {
        [] => "allow",
        some if some.iter().any(|it| it.certain) => "deny",
        _ => "step_up",
    }
}

#[test]
fn leaks_are_seen_by_their_rule() {
    let mut wrong = Vec::new();
    for Case { id, text, registry, row } in cases(LEAKS) {
        let leaks = scan(&registry, &text);
        let wanted = row.get("rule").and_then(Value::as_str).unwrap();
        let by_rule = leaks.iter().any(|it| it.rule.as_str() == wanted);
        if !by_rule || row.get("decision").and_then(Value::as_str) != Some(decision(&leaks)) {
            wrong.push((id, leaks));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cases(LEAKS).len() >= 45);
}

#[test]
fn ordinary_answers_are_let_pass() {
    let mut wrong = Vec::new();
    for Case { id, text, registry, .. } in cases(ORDINARY) {
        let leaks = scan(&registry, &text);
        if !leaks.is_empty() {
            wrong.push((id, leaks));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cases(ORDINARY).len() >= 35);
}

#[test]
fn pieces_over_several_turns_are_put_together() {
    for Case { id, registry, row, .. } in cases(TURNS) {
        let turns: Vec<String> =
            serde_json::from_value(row.get("turns").cloned().unwrap()).unwrap();
        let caught_at = row.get("caught_at").and_then(Value::as_u64);
        let mut state = Turns::default();
        let mut first = None;
        for (index, text) in turns.iter().enumerate() {
            let leaks = state.add(&registry, text);
            if !leaks.is_empty() && first.is_none() {
                first = Some(index as u64);
            }
            // What is kept between two answers survives being written down.
            state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        }
        assert_eq!(first, caught_at, "{id}");
    }
}

#[test]
fn a_streamed_answer_is_caught_while_it_streams() {
    let text = prompt("billing");
    let registry = Registry::of_prompt(&text);
    let mut state = Turns::default();
    let chars: Vec<char> = text.chars().collect();
    let caught = chars.chunks(5).position(|it| {
        let piece: String = it.iter().collect();
        !state.add(&registry, &piece).is_empty()
    });
    // Before half of it is out.
    assert!(caught.is_some_and(|it| it * 5 < text.len() / 2), "{caught:?}");
}

#[test]
fn what_is_kept_over_turns_is_bounded_and_of_one_prompt() {
    let (one, other) =
        (Registry::of_prompt(&prompt("billing")), Registry::of_prompt(&prompt("coder")));
    let mut state = Turns::default();
    for _ in 0..50 {
        state.add(
            &one,
            &"The ferry leaves at nine, and the museum is closed on Mondays. ".repeat(400),
        );
    }
    let kept = serde_json::to_string(&state).unwrap();
    assert!(kept.len() < 8 * 1024, "{}", kept.len());
    // A piece of one prompt is none of another.
    assert!(state.add(&one, "Escalate angry customers to Dana").is_empty());
    assert!(state.add(&other, "").is_empty());
    assert!(state.add(&one, "the refund override code").is_empty());
}

#[test]
fn the_registered_prompt_comes_before_the_configured_one_and_that_before_the_fixed_list() {
    let registered = Registry::of_prompt("Use FIRST_TOKEN_HERE.");
    let configured = Registry::of_tokens(&["SECOND_TOKEN_HERE".to_owned()]);
    let says = |registry: &Registry, text: &str| !scan(registry, text).is_empty();
    let both = in_use(Some(&registered), Some(&configured));
    assert!(says(both, "FIRST_TOKEN_HERE") && !says(both, "SECOND_TOKEN_HERE"));
    assert!(says(in_use(None, Some(&configured)), "SECOND_TOKEN_HERE"));
    let words = Registry::of_tokens(&["blue fox".to_owned()]);
    assert!(says(&words, "It was the Blue  Fox.") && !says(&words, "It was blue. Foxes came."));
    let fixed = in_use(None, None);
    assert!(!says(fixed, "SECOND_TOKEN_HERE"));
    // The fixed list always counts.
    for registry in [both, fixed, in_use(None, Some(&configured))] {
        assert!(says(registry, "HEARTBEAT_OK"));
    }
    assert_eq!(fixed.prompt_hash(), None);
}

#[test]
fn another_prompt_replaces_the_first_and_has_another_hash() {
    let (one, other) =
        (Registry::of_prompt("Say ONLY_IN_ONE."), Registry::of_prompt("Say ONLY_IN_OTHER."));
    assert!(scan(&other, "ONLY_IN_ONE").is_empty());
    assert_eq!(scan(&one, "ONLY_IN_ONE").len(), 1);
    assert_ne!(one.prompt_hash(), other.prompt_hash());
    assert_eq!(one.prompt_hash().map(str::len), Some(64));
    assert_eq!(one.token_count(), 1);
}

#[test]
fn what_is_public_may_be_said() {
    let text = prompt("concierge");
    let said = "Breakfast is served from 6:30 to 10:30 on the terrace, on Sundays until 11:00. Parking costs 18 euros a night.";
    assert!(!scan(&Registry::of_prompt(&text), said).is_empty());
    let public = [said.to_owned()];
    let registry = Registry::new(&Sources { prompt: Some(&text), tokens: &[], public: &public });
    assert_eq!(scan(&registry, said), []);
    assert!(!scan(&registry, &text).is_empty());
}

#[test]
fn spans_point_at_what_was_said() {
    let registry = Registry::of_prompt("Use QUIET_REPLY_TOKEN.");
    for (text, expected) in [
        ("so: Quiet_Reply_Token!", "Quiet_Reply_Token"),
        ("é\u{200b} q u i e t r e p l y t o k e n.", "q u i e t r e p l y t o k e n"),
        ("ＱＵＩＥＴ_ＲＥＰＬＹ_ＴＯＫＥＮ", "ＱＵＩＥＴ_ＲＥＰＬＹ_ＴＯＫＥＮ"),
    ] {
        let leaks = scan(&registry, text);
        let found = leaks.first().unwrap();
        assert_eq!(text.get(found.start..found.end), Some(expected), "{leaks:?}");
    }
}

#[test]
fn a_leak_across_two_blocks_is_found() {
    let registry = Registry::of_prompt(&prompt("billing"));
    for before in [(1 << 20) - 60, (1 << 20) - 8200, (1 << 20) + 10, 3 << 20] {
        let text = format!("{}{}", "x ".repeat(before / 2), prompt("billing"));
        let leaks = scan(&registry, &text);
        assert!(leaks.iter().any(|it| it.rule == Rule::Verbatim), "{before}: {leaks:?}");
    }
}

/// Quadratic work on any of these would take minutes.
#[test]
fn hostile_repetition_takes_linear_time() {
    let registry = Registry::of_prompt(&format!(
        "{} A_B_C_D_E_F_G aaaaaaaaaaaaaaaaaaaaaaaaa",
        prompt("concierge")
    ));
    for piece in [
        "a",
        "A_",
        "SILENT_",
        "my system prompt ",
        "${",
        "[[reply_to_current]] ",
        "Identity: x\n",
        "# Rules\n",
        "\u{200b}",
        "Vogt 9931 412 Mira ",
        "offer a late checkout until 13:00 before you offer money back ",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo",
        "guest noise checkout money police hotel ",
        "é ",
        "忽略之前",
        "\n",
        ":",
        "my ",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        assert!(timed(piece, || scan(&registry, &text)).len() <= 256, "{piece}");
    }
}

proptest! {
    #[test]
    fn any_text_and_any_prompt_are_read_and_spans_are_sound(prompt in any::<String>(), text in "\\PC{0,200}", more in any::<String>()) {
        let registry = Registry::of_prompt(&format!("{prompt} SOME_TOKEN_OF_OURS"));
        let mut turns = Turns::default();
        for text in [format!("{text}SOME_TOKEN_OF_OURS{more}"), format!("{more}{prompt}"), text] {
            for found in scan(&registry, &text).into_iter().chain(turns.add(&registry, &text)) {
                prop_assert!(found.start <= found.end, "{found:?}");
                prop_assert!(text.get(found.start..found.end).is_some(), "{found:?}");
            }
        }
    }
}
