//! A provider that says what a script says: for tests, for demonstrations, and for a first run without a key.
//!
//! A script is one JSON object. `replies` are tried first, in order: the first whose `when` stands in the last
//! message is given, as often as it does. Else the turn of `turns` is given whose place is the number of
//! messages that the model has said so far; and where there is none, `otherwise`. The choice depends on the
//! request alone, so a script gives the same answers after a restart and to many sessions at once.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Provider;
use crate::answer::{Answer, Flow, Piece, StopReason, Usage};
use crate::attempt::{Attempt, Failure};
use crate::error::{ErrorKind, LlmError};
use crate::request::{Block, Request, Role};

/// The longest script, in bytes.
pub const SCRIPT_BYTES_MAX: usize = 4 << 20;
/// The most replies and turns of a script, each.
pub const TURNS_MAX: usize = 10_000;
/// Words of a scripted answer that come in one piece.
const PIECE_CHARS: usize = 24;
/// What is said where there is no script.
const NO_MODEL: &str =
    "This is the mock provider: there is no model behind it, and no script was given. You said: ";

/// Answers by a script.
#[derive(Clone, Debug, Default)]
pub struct Mock {
    script: Option<Script>,
}

/// Why a text is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the script of the mock provider: {0}")]
pub struct ScriptError(String);

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    replies: Vec<Reply>,
    #[serde(default)]
    turns: Vec<Turn>,
    otherwise: Option<Turn>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    when: String,
    give: Turn,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    /// Thought aloud first.
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    say: String,
    /// Whether the text of the last message stands behind what is said.
    #[serde(default)]
    echo: bool,
    #[serde(default)]
    call: Vec<Call>,
    stop: Option<StopReason>,
    usage: Option<BTreeMap<String, u64>>,
    /// A kind of error in place of an answer.
    error: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    input: Map<String, Value>,
}

impl Mock {
    /// The provider of this script.
    ///
    /// # Errors
    /// If the text is no script: unknown fields, a key twice, an unknown kind of error, or too much of it.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.len() > SCRIPT_BYTES_MAX {
            return Err(ScriptError(format!("it has more than {SCRIPT_BYTES_MAX} bytes")));
        }
        let value = model::ipc::read_json(text.as_bytes());
        let value = value.map_err(|it| ScriptError(it.to_string()))?;
        let script: Script =
            serde_json::from_value(value).map_err(|it| ScriptError(it.to_string()))?;
        if script.replies.len().max(script.turns.len()) > TURNS_MAX {
            return Err(ScriptError(format!("it has more than {TURNS_MAX} turns")));
        }
        script.all().try_for_each(Turn::check)?;
        Ok(Self { script: Some(script) })
    }

    fn turn(&self, request: &Request) -> Result<Turn, Failure> {
        let last = last_text(request);
        let Some(script) = &self.script else {
            return Ok(Turn { say: NO_MODEL.to_owned(), echo: true, ..Turn::default() });
        };
        if let Some(reply) = script.replies.iter().find(|it| last.contains(&it.when)) {
            return Ok(reply.give.clone());
        }
        let said = request.messages.iter().filter(|it| it.role == Role::Assistant).count();
        let turn = script.turns.get(said).or(script.otherwise.as_ref());
        turn.cloned().ok_or_else(|| {
            Failure::for_good(ErrorKind::Invalid, format!("the script has no turn {}", said + 1))
        })
    }
}

impl Script {
    fn all(&self) -> impl Iterator<Item = &Turn> {
        self.replies.iter().map(|it| &it.give).chain(&self.turns).chain(&self.otherwise)
    }
}

impl Turn {
    fn check(&self) -> Result<(), ScriptError> {
        if let Some(error) = &self.error
            && ErrorKind::parse(error).is_none()
        {
            let kinds = ErrorKind::ALL.map(ErrorKind::as_str).join(", ");
            return Err(ScriptError(format!("there is no error `{error}`; there are {kinds}")));
        }
        let known = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"];
        let names = self.usage.iter().flat_map(BTreeMap::keys);
        match names.into_iter().find(|it| !known.contains(&it.as_str())) {
            Some(wrong) => Err(ScriptError(format!("`{wrong}` is no part of `usage`"))),
            None => Ok(()),
        }
    }

    fn usage(&self, request: &Request, answer_bytes: usize) -> Usage {
        let Some(told) = &self.usage else {
            return Usage::estimate(request.text_bytes(), answer_bytes);
        };
        let of = |name: &str| told.get(name).copied().unwrap_or_default();
        Usage {
            input_tokens: of("inputTokens"),
            output_tokens: of("outputTokens"),
            cache_read_tokens: of("cacheReadTokens"),
            cache_creation_tokens: of("cacheCreationTokens"),
            estimated: false,
        }
    }
}

impl Attempt for Mock {
    fn attempt(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, Failure> {
        let turn = self.turn(request)?;
        if let Some(kind) = turn.error.as_deref().and_then(ErrorKind::parse) {
            return Err(scripted(kind));
        }
        let echoed = if turn.echo { last_text(request) } else { String::new() };
        let said = format!("{}{echoed}", turn.say);
        let number = request.messages.len();
        let calls: Vec<(String, &Call)> = turn
            .call
            .iter()
            .enumerate()
            .map(|(at, it)| (format!("mock_{number}_{at}"), it))
            .collect();
        let mut content = Vec::new();
        let mut flow = stream(&turn.thinking, Piece::Thinking, on_piece);
        if flow == Flow::Continue && !said.is_empty() {
            flow = stream(&said, Piece::Text, on_piece);
            content.push(Block::Text { text: said });
        }
        for (id, call) in calls {
            if flow == Flow::Stop {
                break;
            }
            flow = on_piece(Piece::ToolStart { id: id.clone(), name: call.name.clone() });
            let input = Value::Object(call.input.clone());
            if flow == Flow::Continue {
                let partial_json = input.to_string();
                flow = on_piece(Piece::ToolInput { id: id.clone(), partial_json });
            }
            content.push(Block::ToolUse { id, name: call.name.clone(), input });
        }
        let ends = if turn.call.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
        let stop = match flow {
            Flow::Continue => turn.stop.unwrap_or(ends),
            Flow::Stop => StopReason::Interrupted,
        };
        let usage = turn.usage(request, content.iter().map(Block::text_bytes).sum());
        let model = request.model.clone();
        Ok(Answer { content, stop, usage, model, failed: Vec::new() })
    }
}

impl Provider for Mock {
    fn ask(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        self.attempt(request, on_piece).map_err(|it| it.error)
    }
}

/// An error of the script. It passes on where the same from a real provider does.
fn scripted(kind: ErrorKind) -> Failure {
    let failure = Failure::for_good(kind, "the script says so");
    let passes_on = match kind {
        ErrorKind::Overloaded | ErrorKind::RateLimited | ErrorKind::Unreachable => true,
        ErrorKind::InvalidKey
        | ErrorKind::ContextTooLong
        | ErrorKind::Refused
        | ErrorKind::Invalid => false,
    };
    Failure { passes_on, ..failure }
}

/// Hands a text over in pieces, as a model does.
fn stream(
    text: &str,
    piece: impl Fn(String) -> Piece,
    on_piece: &mut dyn FnMut(Piece) -> Flow,
) -> Flow {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(PIECE_CHARS).map_or(rest.len(), |(at, _)| at);
        let (now, later) = rest.split_at(end);
        if on_piece(piece(now.to_owned())) == Flow::Stop {
            return Flow::Stop;
        }
        rest = later;
    }
    Flow::Continue
}

/// The words of the last message: what a person said, and what tools gave.
fn last_text(request: &Request) -> String {
    let blocks = request.messages.last().map(|it| it.content.as_slice()).unwrap_or_default();
    let texts = blocks.iter().map(|it| match it {
        Block::Text { text } => text.as_str(),
        Block::ToolResult { content, .. } => content.as_str(),
        Block::ToolUse { .. } => "",
    });
    texts.collect::<Vec<_>>().join("\n")
}
