//! Streams of the three APIs, whole and broken: each file of the corpus is a case, its name the claim.

use std::fs;

use llm::sse::LINE_BYTES_MAX;
use llm::{
    ANSWER_BYTES_MAX, Attempt, Dialect, ErrorKind, Flow, HttpProvider, Piece, Provider,
    STREAM_BYTES_MAX, StopReason,
};
use serde_json::{Value, json};

use crate::support::{Replay, corpus, request};

fn outcome(dialect: Dialect, wire: &Replay) -> Value {
    let mut pieces = 0;
    let mut on_piece = |_: Piece| {
        pieces += 1;
        Flow::Continue
    };
    match (HttpProvider { dialect, wire }).ask(&request(), &mut on_piece) {
        Ok(answer) => json!({
            "content": answer.content, "stop": answer.stop, "usage": answer.usage, "pieces": pieces,
        }),
        Err(error) => {
            assert!(!error.detail.is_empty(), "an error says something");
            json!({"error": error.kind.as_str(), "usage": error.usage, "pieces": pieces})
        }
    }
}

#[test]
fn every_stream_of_the_corpus_ends_as_it_should_wherever_it_is_cut_into_chunks() {
    let mut seen = 0;
    for (folder, dialect) in [
        ("anthropic", Dialect::Messages),
        ("chat", Dialect::Chat),
        ("responses", Dialect::Responses),
    ] {
        for file in fs::read_dir(corpus(folder)).unwrap().map(|it| it.unwrap().path()) {
            if file.extension().is_none_or(|it| it != "sse") {
                continue;
            }
            let bytes = fs::read(&file).unwrap();
            let expected = fs::read(file.with_extension("json")).unwrap();
            let expected: Value = serde_json::from_slice(&expected).unwrap();
            for step in [1, 7, 64, bytes.len()] {
                let mut found = outcome(dialect, &Replay::stream(bytes.clone(), step));
                if expected["usage"].is_null() {
                    // Our own estimate, whatever it is.
                    assert_eq!(found["usage"]["estimated"], true, "{}", file.display());
                    found["usage"] = Value::Null;
                }
                assert_eq!(found, expected, "{} in steps of {step}", file.display());
            }
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen}");
}

#[test]
fn errors_are_of_the_kind_that_callers_go_by_and_say_nothing_that_a_terminal_obeys() {
    let text = fs::read_to_string(corpus("errors.jsonl")).unwrap();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let wire = Replay {
            status: u16::try_from(case["status"].as_u64().unwrap()).unwrap(),
            content_type: "application/json",
            retry_after: case["retryAfter"].as_str().map(str::to_owned),
            ..Replay::stream(case["body"].as_str().unwrap().as_bytes().to_vec(), 5)
        };
        let provider = HttpProvider { dialect: Dialect::Chat, wire: &wire };
        let failure = provider.attempt(&request(), &mut |_| Flow::Continue).unwrap_err();
        assert_eq!(failure.error.kind.as_str(), case["kind"].as_str().unwrap(), "{line}");
        assert_eq!(failure.passes_on, case["passesOn"].as_bool().unwrap(), "{line}");
        assert_eq!(failure.retry_after.map(|it| it.as_secs()), case["rests"].as_u64(), "{line}");
        assert!(!failure.error.detail.contains(['\0', '\u{1b}']), "{line}");
    }
}

#[test]
fn a_stream_that_never_ends_is_left_in_bounds() {
    // One line without an end, words without an end, and more bytes than any answer has.
    let line = vec![b'x'; LINE_BYTES_MAX + 10];
    let word = json!({"choices": [{"delta": {"content": "a".repeat(100_000)}}]});
    let words = format!("data: {word}\n\n").repeat(ANSWER_BYTES_MAX / 100_000 + 2).into_bytes();
    let comments = b": ping\n\n".repeat(STREAM_BYTES_MAX / 8 + 1);
    for (bytes, step) in [(line, 1 << 16), (words, 1 << 16), (comments, usize::MAX)] {
        let found = outcome(Dialect::Chat, &Replay::stream(bytes, step));
        assert_eq!(found["error"], "unreachable");
    }
}

#[test]
fn what_is_no_stream_is_no_answer() {
    let wire = Replay { content_type: "application/json", ..Replay::stream(b"{}".to_vec(), 9) };
    assert_eq!(outcome(Dialect::Chat, &wire)["error"], "unreachable");
}

#[test]
fn whoever_asks_may_stop_and_has_what_came_until_then() {
    let bytes = fs::read(corpus("anthropic/text.sse")).unwrap();
    let wire = Replay::stream(bytes, 1 << 16);
    let provider = HttpProvider { dialect: Dialect::Messages, wire: &wire };
    let answer = provider.ask(&request(), &mut |_| Flow::Stop).unwrap();
    assert_eq!(answer.stop, StopReason::Interrupted);
    assert_eq!(json!(answer.content), json!([{"type": "text", "text": "Hello"}]));
    assert!(answer.usage.estimated && answer.usage.cache_read_tokens == 2000);
}

/// Events as they come wrapped by an agent's kit: what is inside is what we read.
#[test]
fn recorded_events_of_an_agent_kit_give_the_same_pieces() {
    let text = fs::read_to_string(corpus("sdk_events.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    for case in cases {
        let event = &case["input"]["event"];
        let kind = event["type"].as_str().unwrap();
        let mut event = event.clone();
        event["index"] = 0.into();
        let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t1", "name": "x"}});
        let is_input = event["delta"]["type"] == "input_json_delta";
        let before = if is_input { format!("data: {start}\n\n") } else { String::new() };
        let stop = json!({"type": "message_stop"});
        let stream = format!("{before}data: {event}\n\ndata: {stop}\n\n");
        let wire = Replay::stream(stream.into_bytes(), 11);
        let mut pieces = Vec::new();
        let mut on_piece = |it: Piece| {
            pieces.push(it);
            Flow::Continue
        };
        let provider = HttpProvider { dialect: Dialect::Messages, wire: &wire };
        let answer = provider.ask(&request(), &mut on_piece).unwrap();
        let text = |name: &str| case["expected"][name].as_str().unwrap_or_default().to_owned();
        let expected = match case["expected"]["kind"].as_str().unwrap() {
            "text_token" => Some(Piece::Text(text("text"))),
            "thinking_token" => Some(Piece::Thinking(text("text"))),
            // Names are not changed here: who offers tools under other names takes them back.
            "tool_use_start" => Some(Piece::ToolStart {
                id: text("toolId"),
                name: event["content_block"]["name"].as_str().unwrap().to_owned(),
            }),
            "tool_input_delta" => Some(Piece::ToolInput {
                id: "t1".into(),
                partial_json: event["delta"]["partial_json"].as_str().unwrap().to_owned(),
            }),
            "message_start" => {
                assert_eq!((answer.usage.input_tokens, answer.usage.cache_read_tokens), (100, 50));
                None
            }
            other => unreachable_kind(other),
        };
        assert_eq!(pieces.last().cloned(), expected, "{kind}");
    }
}

fn unreachable_kind(other: &str) -> Option<Piece> {
    assert_eq!(other, "", "a kind of event that the corpus did not have");
    None
}

#[test]
fn every_kind_of_error_has_a_name_that_reads_back() {
    for kind in ErrorKind::ALL {
        assert_eq!(ErrorKind::parse(kind.as_str()), Some(kind));
    }
    assert_eq!(ErrorKind::parse("other"), None);
}
