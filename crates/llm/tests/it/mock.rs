//! Scripts say what they say, to whoever asks, as often as they are asked.

use llm::{Block, Flow, Message, Mock, Piece, Provider, Request, Role, StopReason};

fn request(said: &[&str]) -> Request {
    let message = |(at, text): (usize, &&str)| Message {
        role: if at % 2 == 0 { Role::User } else { Role::Assistant },
        content: vec![Block::Text { text: (*text).to_owned() }],
    };
    Request {
        model: "scripted".into(),
        system: String::new(),
        messages: said.iter().enumerate().map(message).collect(),
        tools: Vec::new(),
        max_tokens: None,
        temperature: None,
        effort: None,
    }
}

fn said(mock: &Mock, messages: &[&str]) -> Result<String, String> {
    let mut pieces = String::new();
    let mut on_piece = |piece| {
        if let Piece::Text(text) = piece {
            pieces.push_str(&text);
        }
        Flow::Continue
    };
    let answer = mock.ask(&request(messages), &mut on_piece).map_err(|it| it.kind.to_string())?;
    let whole: String = answer
        .content
        .iter()
        .map(|it| match it {
            Block::Text { text } => text.clone(),
            Block::ToolUse { name, input, .. } => format!("<{name} {input}>"),
            Block::ToolResult { .. } => String::new(),
        })
        .collect();
    assert!(whole.starts_with(&pieces), "the answer holds all pieces");
    Ok(whole)
}

#[test]
fn replies_come_before_turns_and_turns_by_their_number() {
    let script = r#"{
        "replies": [{"when": "weather", "give": {"call": [{"name": "web_fetch", "input": {"url": "x"}}]}}],
        "turns": [{"say": "first"}, {"thinking": "hm", "say": "you said: ", "echo": true}, {"error": "rate_limited"}],
        "otherwise": {"say": "enough", "stop": "max_tokens"}
    }"#;
    let mock = Mock::parse(script).unwrap();
    assert_eq!(said(&mock, &["hi"]).unwrap(), "first");
    assert_eq!(said(&mock, &["hi"]).unwrap(), "first", "the request alone decides");
    assert_eq!(said(&mock, &["hi", "first", "ho"]).unwrap(), "you said: ho");
    assert_eq!(said(&mock, &["a", "b", "c", "d", "e"]).unwrap_err(), "rate_limited");
    assert_eq!(said(&mock, &["a", "b", "c", "d", "e", "f", "g"]).unwrap(), "enough");
    let call = said(&mock, &["a", "b", "the weather?"]).unwrap();
    assert_eq!(call, r#"<web_fetch {"url":"x"}>"#);
    let answer = mock.ask(&request(&["weather"]), &mut |_| Flow::Continue).unwrap();
    assert_eq!(answer.stop, StopReason::ToolUse);
    assert!(answer.usage.estimated);
    let answer = mock.ask(&request(&["weather"]), &mut |_| Flow::Stop).unwrap();
    assert_eq!(answer.stop, StopReason::Interrupted);
}

#[test]
fn without_a_script_it_says_that_there_is_no_model() {
    let said = said(&Mock::default(), &["hello"]).unwrap();
    assert!(said.contains("no model") && said.ends_with("hello"), "{said}");
}

#[test]
fn a_script_that_is_not_understood_is_none() {
    for wrong in [
        "",
        "[]",
        r#"{"turn": []}"#,
        r#"{"turns": [{"sya": "x"}]}"#,
        r#"{"turns": [{"error": "tired"}]}"#,
        r#"{"turns": [{"usage": {"tokens": 1}}]}"#,
        r#"{"turns": [], "turns": []}"#,
        r#"{"turns": [{"call": [{"name": "x", "input": "text"}]}]}"#,
    ] {
        assert!(Mock::parse(wrong).is_err(), "{wrong}");
    }
    assert!(said(&Mock::parse("{}").unwrap(), &["hi"]).is_err(), "no turn is no answer");
}
