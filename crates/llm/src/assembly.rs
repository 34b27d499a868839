//! An answer that is put together while it streams, in bounds.

use serde_json::{Map, Value};

use crate::answer::{Flow, Piece, StopReason, Usage};
use crate::request::Block;

/// The longest answer, in bytes: texts, thoughts, names and arguments together.
pub const ANSWER_BYTES_MAX: usize = 8 << 20;
/// The most blocks of an answer.
pub const BLOCKS_MAX: usize = 256;
/// The longest name of a tool, in characters, as `llm_call` has it.
const TOOL_NAME_CHARS_MAX: usize = 100;
/// The longest id of a call that is kept as it is, in characters.
const TOOL_ID_CHARS_MAX: usize = 128;

/// Why a stream is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Broken(pub(crate) String);

impl Broken {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// What has come of an answer so far.
pub(crate) struct Assembly<'a> {
    on_piece: &'a mut dyn FnMut(Piece) -> Flow,
    open: Vec<Open>,
    bytes: usize,
    flow: Flow,
    /// Why it ended, once that was said.
    pub(crate) stop: Option<StopReason>,
    /// What the provider has counted so far.
    pub(crate) counted: Counted,
}

/// Tokens as the provider has counted them so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cache_read: u64,
    pub(crate) cache_creation: u64,
    /// Whether it is the last word.
    pub(crate) is_final: bool,
}

enum Open {
    Text { key: u64, text: String },
    Tool { key: u64, id: String, name: String, json: String },
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(on_piece: &'a mut dyn FnMut(Piece) -> Flow) -> Self {
        let counted = Counted::default();
        Self { on_piece, open: Vec::new(), bytes: 0, flow: Flow::Continue, stop: None, counted }
    }

    /// Words of the block `key`.
    pub(crate) fn text(&mut self, key: u64, words: &str) -> Result<(), Broken> {
        if words.is_empty() {
            return Ok(());
        }
        self.count(words.len())?;
        match self.open.last_mut() {
            Some(Open::Text { key: of, text }) if *of == key => text.push_str(words),
            Some(Open::Text { .. } | Open::Tool { .. }) | None => {
                self.room()?;
                self.open.push(Open::Text { key, text: words.to_owned() });
            }
        }
        self.hand(Piece::Text(words.to_owned()));
        Ok(())
    }

    /// Words that the model thinks.
    pub(crate) fn thinking(&mut self, words: &str) -> Result<(), Broken> {
        if words.is_empty() {
            return Ok(());
        }
        self.count(words.len())?;
        self.hand(Piece::Thinking(words.to_owned()));
        Ok(())
    }

    /// The block `key` is a call of a tool.
    pub(crate) fn tool(&mut self, key: u64, id: &str, name: &str) -> Result<(), Broken> {
        if name.is_empty() || name.chars().count() > TOOL_NAME_CHARS_MAX {
            return Err(Broken::new("the model asks for a tool that cannot have such a name"));
        }
        self.count(id.len().saturating_add(name.len()))?;
        self.room()?;
        let is_taken = |id: &str| {
            self.open.iter().any(|it| matches!(it, Open::Tool { id: of, .. } if of == id))
        };
        // Results name calls by their ids: one that is missing, repeated or too long is replaced by ours.
        let usable = !id.is_empty()
            && id.chars().count() <= TOOL_ID_CHARS_MAX
            && id.chars().all(|it| it.is_ascii_graphic())
            && !is_taken(id);
        let id = if usable { id.to_owned() } else { format!("call_{}", self.open.len()) };
        let (name, json) = (name.to_owned(), String::new());
        self.hand(Piece::ToolStart { id: id.clone(), name: name.clone() });
        self.open.push(Open::Tool { key, id, name, json });
        Ok(())
    }

    /// Whether the block `key` is a call that has begun.
    pub(crate) fn has_tool(&self, key: u64) -> bool {
        self.open.iter().any(|it| matches!(it, Open::Tool { key: of, .. } if *of == key))
    }

    /// More of the arguments of the call `key`.
    pub(crate) fn tool_input(&mut self, key: u64, part: &str) -> Result<(), Broken> {
        if part.is_empty() {
            return Ok(());
        }
        self.count(part.len())?;
        let found = self.open.iter_mut().rev().find_map(|it| match it {
            Open::Tool { key: of, id, json, .. } if *of == key => Some((id, json)),
            Open::Tool { .. } | Open::Text { .. } => None,
        });
        let Some((id, json)) = found else {
            return Err(Broken::new("the stream has arguments of a call that did not begin"));
        };
        json.push_str(part);
        let piece = Piece::ToolInput { id: id.clone(), partial_json: part.to_owned() };
        self.hand(piece);
        Ok(())
    }

    /// Nothing more is wanted.
    pub(crate) fn cut_off(&mut self) {
        self.flow = Flow::Stop;
    }

    /// Whether more is wanted.
    pub(crate) fn flow(&self) -> Flow {
        self.flow
    }

    /// Whether the model asks for tools.
    pub(crate) fn asks_for_tools(&self) -> bool {
        self.open.iter().any(|it| matches!(it, Open::Tool { .. }))
    }

    /// What was used: as the provider counted it, or our estimate where it has not said its last word.
    pub(crate) fn usage(&self, request_bytes: usize) -> Usage {
        let estimate = Usage::estimate(request_bytes, self.bytes);
        let counted = &self.counted;
        let (input, output) = (counted.input, counted.output);
        let is_final = counted.is_final && input.is_some() && output.is_some();
        Usage {
            input_tokens: input.unwrap_or(estimate.input_tokens),
            output_tokens: match is_final {
                true => output.unwrap_or_default(),
                false => output.unwrap_or_default().max(estimate.output_tokens),
            },
            cache_read_tokens: counted.cache_read,
            cache_creation_tokens: counted.cache_creation,
            estimated: !is_final,
        }
    }

    /// The blocks, whole.
    pub(crate) fn into_content(self) -> Vec<Block> {
        let whole = |it| match it {
            Open::Text { text, .. } => Block::Text { text },
            Open::Tool { id, name, json, .. } => {
                Block::ToolUse { id, name, input: arguments(json) }
            }
        };
        self.open.into_iter().map(whole).collect()
    }

    fn hand(&mut self, piece: Piece) {
        if self.flow == Flow::Continue {
            self.flow = (self.on_piece)(piece);
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), Broken> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > ANSWER_BYTES_MAX {
            return Err(Broken::new(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes")));
        }
        Ok(())
    }

    fn room(&self) -> Result<(), Broken> {
        if self.open.len() >= BLOCKS_MAX {
            return Err(Broken::new(format!("the answer has more than {BLOCKS_MAX} blocks")));
        }
        Ok(())
    }
}

/// Arguments that were written out: an object of one meaning, or the text as it stands.
fn arguments(json: String) -> Value {
    if json.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match model::ipc::read_json(json.as_bytes()) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) | Err(_) => Value::String(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_one_meaning_or_none() {
        assert_eq!(arguments(" ".to_owned()), serde_json::json!({}));
        assert_eq!(arguments(r#"{"a":1}"#.to_owned()), serde_json::json!({"a": 1}));
        for other in [r#"{"a":1,"a":2}"#, r#"{"a":"#, "[1]", "null", r#"{"a":1} {}"#] {
            assert_eq!(arguments(other.to_owned()), Value::String(other.to_owned()));
        }
        let deep = format!("{}{}", r#"{"a":"#.repeat(100), "}".repeat(100));
        assert!(arguments(deep).is_string());
    }

    #[test]
    fn an_answer_is_bounded_and_ids_are_unique() {
        let mut none = |_: Piece| Flow::Continue;
        let mut all = Assembly::new(&mut none);
        all.tool(1, "", "fetch").unwrap();
        all.tool(2, "same", "fetch").unwrap();
        all.tool(3, "same", "fetch").unwrap();
        all.tool(4, "a b", "fetch").unwrap();
        assert!(all.tool(5, "x", &"n".repeat(101)).is_err() && all.tool(5, "x", "").is_err());
        let half = "a".repeat(ANSWER_BYTES_MAX / 2);
        all.text(6, &half).unwrap();
        assert!(all.text(6, &half).is_err());
        let ids: Vec<_> = all
            .into_content()
            .into_iter()
            .filter_map(|it| match it {
                Block::ToolUse { id, .. } => Some(id),
                Block::Text { .. } | Block::ToolResult { .. } => None,
            })
            .collect();
        assert_eq!(ids, ["call_0", "same", "call_2", "call_3"]);
        let mut many = Assembly::new(&mut none);
        let last = (0..1000).map(|it| many.text(it, "a")).find(Result::is_err);
        assert!(last.is_some());
    }
}
