//! Requests as each API wants them. No dialect has a place for a tool that its provider would run.

use llm::{Block, Dialect, Message, Role};
use serde_json::{Value, json};

use crate::support::request;

#[test]
fn messages_has_its_own_shape() {
    let expected = json!({
        "model": "some-model", "max_tokens": 100, "stream": true, "temperature": 1.0,
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "let me look"},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "seen", "is_error": true},
                {"type": "text", "text": "and?"},
            ]},
        ],
        "tools": [{"name": "look", "description": "looks", "input_schema": {"type": "object"}}],
    });
    assert_eq!(Dialect::Messages.body(&request()), expected);
}

#[test]
fn chat_has_its_own_shape() {
    let body = Dialect::Chat.body(&request());
    let expected = json!([
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "let me look", "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}},
        ]},
        {"role": "tool", "tool_call_id": "t1", "content": "seen"},
        {"role": "user", "content": "and?"},
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!((&body["max_completion_tokens"], &body["max_tokens"]), (&json!(100), &Value::Null));
    assert_eq!(Dialect::LocalChat.body(&request())["max_tokens"], 100);
}

#[test]
fn responses_has_its_own_shape_and_is_not_kept_by_the_provider() {
    let body = Dialect::Responses.body(&request());
    let expected = json!([
        {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "let me look"}]},
        {"type": "function_call", "call_id": "t1", "name": "look", "arguments": "{\"a\":1}"},
        {"type": "function_call_output", "call_id": "t1", "output": "seen"},
        {"role": "user", "content": [{"type": "input_text", "text": "and?"}]},
    ]);
    assert_eq!(body["input"], expected);
    assert_eq!((&body["store"], &body["instructions"]), (&json!(false), &json!("be brief")));
}

#[test]
fn a_tool_is_a_function_whatever_its_name_and_schema_say() {
    let mut hosted = request();
    hosted.tools[0].name = "web_search".into();
    hosted.tools[0].parameters = json!({"type": "web_search_20250305", "server_label": "x"});
    for (dialect, path) in [(Dialect::Chat, "/tools/0/type"), (Dialect::Responses, "/tools/0/type")]
    {
        assert_eq!(dialect.body(&hosted).pointer(path), Some(&json!("function")));
    }
    assert_eq!(Dialect::Messages.body(&hosted).pointer("/tools/0/type"), None);
}

#[test]
fn arguments_that_are_no_object_and_empty_messages_do_not_break_a_conversation() {
    let mut odd = request();
    let input = Value::String("{\"a\":".into());
    odd.messages = vec![
        Message { role: Role::User, content: vec![Block::Text { text: " ".into() }] },
        Message {
            role: Role::Assistant,
            content: vec![Block::ToolUse { id: "t".into(), name: "x".into(), input }],
        },
    ];
    let body = Dialect::Messages.body(&odd);
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["messages"][0]["content"][0]["input"], json!({"not_json": "{\"a\":"}));
}
