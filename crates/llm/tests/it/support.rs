//! What the tests share: a wire that replays bytes, and requests.

use std::path::PathBuf;
use std::sync::Mutex;

use llm::wire::{Chunks, Post, Reply, Wire, WireError};
use llm::{Block, Message, Request, Role, ToolDefinition};
use serde_json::json;

/// Replays one answer, cut into chunks of `step` bytes.
pub(crate) struct Replay {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) retry_after: Option<String>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) step: usize,
    pub(crate) asked: Mutex<Vec<(String, Vec<u8>)>>,
}

impl Replay {
    pub(crate) fn stream(bytes: Vec<u8>, step: usize) -> Self {
        let asked = Mutex::new(Vec::new());
        let (status, content_type) = (200, "text/event-stream; charset=utf-8");
        Self { status, content_type, retry_after: None, bytes, step, asked }
    }
}

impl Wire for Replay {
    fn post(&self, post: &Post<'_>) -> Result<Reply, WireError> {
        self.asked.lock().unwrap().push((post.path.to_owned(), post.body.clone()));
        let chunks: Vec<Vec<u8>> =
            self.bytes.chunks(self.step.max(1)).map(<[u8]>::to_vec).rev().collect();
        Ok(Reply {
            status: self.status,
            content_type: self.content_type.to_owned(),
            retry_after: self.retry_after.clone(),
            body: Box::new(Pieces(chunks)),
        })
    }
}

struct Pieces(Vec<Vec<u8>>);

impl Chunks for Pieces {
    fn next(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        Ok(self.0.pop())
    }
}

pub(crate) fn request() -> Request {
    let words = |text: &str| Block::Text { text: text.to_owned() };
    let call = Block::ToolUse { id: "t1".into(), name: "look".into(), input: json!({"a": 1}) };
    let result =
        Block::ToolResult { tool_use_id: "t1".into(), content: "seen".into(), is_error: true };
    Request {
        model: "some-model".into(),
        system: "be brief".into(),
        messages: vec![
            Message { role: Role::User, content: vec![words("hello")] },
            Message { role: Role::Assistant, content: vec![words("let me look"), call] },
            Message { role: Role::User, content: vec![result, words("and?")] },
        ],
        tools: vec![ToolDefinition {
            name: "look".into(),
            description: "looks".into(),
            parameters: json!({"type": "object"}),
        }],
        max_tokens: Some(100),
        temperature: Some(1.5),
        effort: None,
    }
}

pub(crate) fn corpus(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/llm").join(name)
}
