//! Text that streams is let go after what follows it is known.

use std::ops::Range;

use llm::holdback::{OPEN_BYTES_MAX, WINDOW_BYTES_MIN};
use llm::{Flow, Holdback, Piece, Screen, Screened};

/// Knows one secret, and blocks that have to end.
struct Knows;

const SECRET: &str = "sk-ant-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

impl Screen for Knows {
    fn window(&self) -> usize {
        SECRET.len()
    }

    fn clean(&self, text: &str, part: Range<usize>) -> String {
        let mut clean = String::new();
        let mut at = part.start;
        for (start, _) in text.match_indices(SECRET) {
            let end = (start + SECRET.len()).min(part.end);
            if end <= at || start >= part.end {
                continue;
            }
            clean.push_str(&text[at..start.max(at)]);
            if start >= part.start {
                clean.push_str("***");
            }
            at = end;
        }
        clean.push_str(&text[at..part.end]);
        clean
    }

    fn waits_from(&self, text: &str) -> Option<usize> {
        let begun = text.rfind("<<")?;
        (!text[begun..].contains(">>")).then_some(begun)
    }
}

fn stream(text: &str, step: usize) -> (String, Vec<String>) {
    let mut held = Holdback::new(&Knows);
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(step).map_or(rest.len(), |it| it.0);
        let (now, later) = rest.split_at(end);
        parts.push(held.push(now));
        rest = later;
    }
    parts.push(held.finish());
    (parts.concat(), parts)
}

#[test]
fn a_secret_never_leaves_however_it_is_cut() {
    for before in [0, 1, 100, 400, 511, 512, 513, 700, 2000] {
        for step in [1, 3, 10, 48, 500, 10_000] {
            let text = format!("{}{SECRET}{}", "é".repeat(before / 2), " and so on".repeat(200));
            let (all, parts) = stream(&text, step);
            assert_eq!(all, text.replace(SECRET, "***"), "{before} {step}");
            let seen: String = parts.concat();
            assert!(!seen.contains("sk-ant"), "{before} {step}");
        }
    }
}

#[test]
fn the_first_byte_waits_for_the_window_and_no_more_is_kept_than_needed() {
    let mut held = Holdback::new(&Knows);
    assert_eq!(held.push(&"a".repeat(WINDOW_BYTES_MIN)), "");
    let mut all = 0;
    for _ in 0..10_000 {
        all += held.push("0123456789").len();
    }
    assert!(all >= 100_000 - 2 * WINDOW_BYTES_MIN, "{all}");
    assert_eq!(all + held.finish().len(), 100_000 + WINDOW_BYTES_MIN);
}

#[test]
fn what_has_begun_waits_for_its_end_but_not_for_ever() {
    let mut held = Holdback::new(&Knows);
    let mut out = held.push(&format!("before <<{}", "k".repeat(4 * WINDOW_BYTES_MIN)));
    assert_eq!(out, "before ");
    out.push_str(&held.push(&format!(">>{}", "x".repeat(2 * WINDOW_BYTES_MIN))));
    assert!(out.contains(">>"), "it has ended");
    let mut open = Holdback::new(&Knows);
    let gone = open.push(&format!("<<{}", "k".repeat(2 * OPEN_BYTES_MAX)));
    assert!(!gone.is_empty(), "nothing waits for ever");
}

#[test]
fn words_thoughts_and_arguments_are_watched_each_for_itself_and_calls_come_after_words() {
    let mut seen = Vec::new();
    let mut on_piece = |piece: Piece| {
        seen.push(piece);
        Flow::Continue
    };
    let mut screened = Screened::new(&Knows, &mut on_piece);
    let (one, two) = SECRET.split_at(10);
    for (text, thought) in [(one, "hm "), (two, SECRET)] {
        screened.piece(Piece::Text(text.into()));
        screened.piece(Piece::Thinking(thought.into()));
    }
    screened.piece(Piece::ToolStart { id: "a".into(), name: "x".into() });
    screened.piece(Piece::ToolInput { id: "a".into(), partial_json: format!("{{\"k\":\"{one}") });
    screened.piece(Piece::ToolInput { id: "a".into(), partial_json: format!("{two}\"}}") });
    screened.piece(Piece::ToolInput { id: "unknown".into(), partial_json: SECRET.into() });
    assert_eq!(screened.finish(), Flow::Continue);
    let expected = [
        Piece::Thinking("hm ***".into()),
        Piece::Text("***".into()),
        Piece::ToolStart { id: "a".into(), name: "x".into() },
        Piece::ToolInput { id: "a".into(), partial_json: "{\"k\":\"***\"}".into() },
    ];
    assert_eq!(seen, expected);
}
