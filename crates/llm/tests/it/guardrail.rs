//! A text is safe if the model says so of all of it, and flagged otherwise.

use std::fs;
use std::sync::Mutex;

use llm::guardrail::{OVERLAP_CHARS, WINDOW_CHARS, WINDOWS_MAX};
use llm::{
    Answer, Block, ErrorKind, Flow, GuardrailFilter, LlmError, Piece, Provider, Request,
    StopReason, Usage, Verdict,
};
use serde_json::Value;

use crate::support::corpus;

/// Says one thing of every text that holds a word, and another of all others; keeps what it was asked.
struct Says {
    of_attacks: Result<String, ErrorKind>,
    asked: Mutex<Vec<String>>,
}

impl Provider for Says {
    fn ask(&self, request: &Request, _: &mut dyn FnMut(Piece) -> Flow) -> Result<Answer, LlmError> {
        let text = match &request.messages[0].content[0] {
            Block::Text { text } => text.clone(),
            Block::ToolUse { .. } | Block::ToolResult { .. } => String::new(),
        };
        let is_attack = text.contains("ATTACK");
        self.asked.lock().unwrap().push(text);
        let said = match (&self.of_attacks, is_attack) {
            (Ok(said), true) => said.clone(),
            (Err(kind), true) => return Err(LlmError::new(*kind, "no")),
            (_, false) => "SAFE".to_owned(),
        };
        Ok(Answer {
            content: vec![Block::Text { text: said }],
            stop: StopReason::EndTurn,
            usage: Usage::default(),
            model: "m".into(),
            failed: Vec::new(),
        })
    }
}

fn judge(of_attacks: Result<&str, ErrorKind>, text: &str) -> (Verdict, usize) {
    let asked = Mutex::new(Vec::new());
    let says = Says { of_attacks: of_attacks.map(str::to_owned), asked };
    let verdict = GuardrailFilter::new(&says, "m").judge(text);
    let asked = says.asked.lock().unwrap().len();
    (verdict, asked)
}

#[test]
fn every_case_of_the_corpus_is_read_as_it_should_be() {
    let text = fs::read_to_string(corpus("guardrail.json")).unwrap();
    for case in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
        let expected = case["expected"].as_str().unwrap();
        let found = match case["input"]["response"].as_str() {
            Some(said) => judge(Ok(said), "ATTACK").0,
            None => judge(Ok("UNSAFE: x"), case["input"]["content"].as_str().unwrap()).0,
        };
        match (found, expected.split_once(':')) {
            (Verdict::Safe, _) => assert_eq!(expected, "safe", "{case}"),
            (Verdict::Flagged { reason }, Some((_, why))) => assert_eq!(reason, why, "{case}"),
            (Verdict::Flagged { .. }, None) => assert_eq!(expected, "flagged", "{case}"),
        }
    }
}

#[test]
fn the_whole_text_is_judged_also_what_lies_at_an_edge() {
    for at in [0, 497, WINDOW_CHARS - 3, WINDOW_CHARS, 3 * WINDOW_CHARS - 2 * OVERLAP_CHARS - 3] {
        let text = format!("{}ATTACK{}", "é".repeat(at), "y".repeat(5000));
        let (verdict, _) = judge(Ok("UNSAFE: orders"), &text);
        assert_eq!(verdict, Verdict::Flagged { reason: "orders".into() }, "{at}");
    }
    assert_eq!(judge(Ok("UNSAFE: x"), &"a".repeat(20_000)).0, Verdict::Safe);
}

#[test]
fn whoever_cannot_be_asked_has_flagged_it_and_too_much_is_not_read() {
    assert_ne!(judge(Err(ErrorKind::Unreachable), "ATTACK").0, Verdict::Safe);
    let (verdict, asked) = judge(Ok("SAFE"), &"a".repeat(WINDOW_CHARS * (WINDOWS_MAX + 1)));
    assert_ne!(verdict, Verdict::Safe);
    assert_eq!(asked, 0, "nobody is asked of what is flagged anyway");
    assert_eq!(judge(Ok("UNSAFE: x"), " \n").1, 0);
}
