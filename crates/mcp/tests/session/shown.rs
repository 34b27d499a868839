//! Texts as people are shown them: `corpus/mcp/shown.json`.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[test]
fn every_vector_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp/shown.json");
    let vectors: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(vectors.len() >= 13);
    for vector in vectors {
        let (input, expected) = (&vector["input"], &vector["expected"]);
        let repeated = |key: &str| {
            let (text, count) = (input[key][0].as_str().unwrap(), input[key][1].as_u64().unwrap());
            text.repeat(usize::try_from(count).unwrap())
        };
        let text = |key: &str| input[key].as_str().unwrap().to_owned();
        let key = input.as_object().unwrap().keys().next().unwrap().as_str();
        match key {
            "tool_name" => assert_eq!(json!(mcp::shown::tool_name(&text(key))), *expected),
            "server_id" => assert_eq!(json!(mcp::shown::server_id(&text(key))), *expected),
            "description" => assert_eq!(json!(mcp::shown::description(&text(key))), *expected),
            "description_repeat" => {
                assert_eq!(json!(mcp::shown::description(&repeated(key)).len()), expected["len"]);
            }
            "log" => assert_eq!(json!(mcp::shown::log_value(&text(key))), *expected),
            "log_repeat" => {
                assert_eq!(json!(mcp::shown::log_value(&repeated(key)).len()), expected["max_len"]);
            }
            other => panic!("no such vector: {other}"),
        }
    }
}

#[test]
fn a_cut_falls_between_characters() {
    assert_eq!(mcp::shown::truncated("aä", 2), "a");
    assert_eq!(mcp::shown::truncated("ä", 1), "");
    assert_eq!(mcp::shown::description("a\u{202e}b\u{0}c\nd\u{e0041}"), "abc\nd");
}
