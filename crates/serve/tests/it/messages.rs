//! What a client may say on a socket: every case of the corpus.

use serde_json::{Value, json};
use serve::ClientMessage;

use crate::socket::Next;
use crate::world::{ANN, World};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

pub(crate) fn corpus(name: &str) -> Vec<Value> {
    let path = format!("{}/../../corpus/serve/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A value of the corpus, with what stands for long texts written out.
pub(crate) fn expand(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            if let Some(repeat) = fields.get("$repeat") {
                let count = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
                return repeat[0].as_str().unwrap().repeat(count).into();
            }
            if let Some(parts) = fields.get("$concat") {
                let parts = parts.as_array().unwrap().iter().map(expand);
                return parts.map(|it| it.as_str().unwrap().to_owned()).collect::<String>().into();
            }
            Value::Object(fields.iter().map(|(key, it)| (key.clone(), expand(it))).collect())
        }
        Value::Array(items) => items.iter().map(expand).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn text(input: &Value) -> String {
    match expand(input).get("$raw") {
        Some(raw) => raw.as_str().unwrap().to_owned(),
        None => expand(input).to_string(),
    }
}

#[test]
fn messages_of_the_corpus_are_read_strictly() {
    let world = World::wide();
    let (mut client, _) = world.subscribed(ANN, "main");
    let mut seen = 0;
    for case in corpus("ws_messages") {
        let (name, input) = (case["name"].as_str().unwrap(), &case["input"]);
        let expected = case["expected"].as_str().unwrap();
        if input.get("$bytes").is_some() || input.get("$binary_text").is_some() {
            // Below, on sockets of their own.
            continue;
        }
        seen += 1;
        let text = text(input);
        let parsed = ClientMessage::parse(&text);
        match expected {
            "accept" => assert!(parsed.is_ok(), "{name}: {parsed:?}"),
            "reject" => {
                assert!(parsed.is_err(), "{name}");
                client.raw(&text);
                let frame = client.until("error");
                assert!(frame["detail"]["path"].is_string(), "{name}: {frame}");
            }
            "error frame" | "ignored" => {
                client.raw(&text);
                assert_eq!(client.until("tool_approval_rejected")["toolId"], input["toolId"]);
            }
            "reject: must equal the current version" => {
                client.raw(&text);
                assert_eq!(client.until("error")["code"], "invalid_message");
            }
            other => panic!("{name}: {other}"),
        }
    }
    assert_eq!(seen, 32);
    // The connection was kept through all of it.
    client.say(&json!({ "type": "ping" }));
    client.until("pong");
}

#[test]
fn what_is_too_long_or_no_text_closes_the_socket() {
    let world = World::wide();
    let mut client = world.socket(ANN);
    let _ = client.0.send(Message::text("x".repeat((1 << 20) + 1)));
    assert_eq!(client.closed(), 1009);
    let mut client = world.socket(ANN);
    let bad = Frame::message(vec![0xc3, 0x28], OpCode::Data(Data::Text), true);
    client.0.send(Message::Frame(bad)).unwrap();
    assert_eq!(client.closed(), 1007);
    // Pieces that never end are no way around it.
    let mut client = world.socket(ANN);
    for at in 0..40 {
        let code = if at == 0 { Data::Text } else { Data::Continue };
        let piece = Frame::message(vec![b'x'; 64 << 10], OpCode::Data(code), false);
        if client.0.send(Message::Frame(piece)).is_err() {
            break;
        }
    }
    assert!(matches!(client.closed(), 1009 | 0));
    let mut client = world.socket(ANN);
    assert!(matches!(client.next(), Next::Frame(frame) if frame["type"] == "connected"));
}

#[test]
fn what_is_no_json_is_told_so_and_the_socket_stays_open() {
    let world = World::wide();
    let mut client = world.socket(ANN);
    let texts =
        ["hello", "", " ", "{", "{\"type\":\"ping\"", "123abc", "{\"type\":\"ping\"} x", "\u{0}"];
    for text in texts {
        client.raw(text);
        let frame = client.until("error");
        assert_eq!(
            (&frame["code"], &frame["detail"]["path"]),
            (&"parse_error".into(), &"$".into())
        );
    }
    let whole = "{\"type\":\"ping\"}".as_bytes();
    for bytes in [&[][..], &[1, 2, 3], &[0xc3, 0x28], whole] {
        client.0.send(Message::binary(bytes.to_vec())).unwrap();
        assert_eq!(client.until("error")["code"], "parse_error");
    }
    // JSON that is no message is another thing.
    for text in ["[]", "null", "7", "{\"type\":\"ping\",\"type\":\"ping\"}", "{\"type\":\"pong\"}"]
    {
        client.raw(text);
        assert_eq!(client.until("error")["code"], "invalid_message", "{text}");
    }
    client.say(&json!({ "type": "ping" }));
    client.until("pong");
    assert!(world.log.has("ws.invalid_message"));
}
