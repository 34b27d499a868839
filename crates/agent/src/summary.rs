//! A conversation that outgrows the window: its older part is replaced by a summary.
//!
//! A summary is made of whatever was said, also of what came from outside: it stands between marks, and is nobody's word.
//! The labels of what is replaced are not lost: those of a session only grow, and they are the parent's.

use llm::{Block, ErrorKind, Message, Role};
use scan::boundary::{Boundary, Nonce, wrap};
use serde_json::Value;

use crate::message::Purpose;
use crate::prompt::SUMMARISED;
use crate::query::{Parent, Stopped, text_of};

/// Messages of one request to a model.
pub const MESSAGES_MAX: usize = 200;
/// Messages from which on the older part is replaced.
const MESSAGES_FULL: usize = 160;
/// Bytes from which on it is, too.
const BYTES_FULL: usize = 400_000;
/// Values of JSON from which on it is, too: a request has at most 10,000, definitions of tools included.
const VALUES_FULL: usize = 5_000;
/// Values of JSON that a block has beside those of its input.
const VALUES_PER_BLOCK: usize = 6;
/// The part of a full conversation, one of so many, that has to be there to be replaced: each summary is a question to a model.
const WORTH: usize = 4;
/// Messages that stay as they are.
const KEPT: usize = 10;
/// Messages that stay where that was not enough.
const KEPT_LEAST: usize = 1;
/// Characters of what is summarised, the newest of it; fewer where the model that summarises has no room for them.
const SUMMARISED_CHARS_MAX: [usize; 3] = [150_000, 30_000, 6_000];
/// Characters of a result where all of them together are too long.
const RESULT_CHARS_LEAST: usize = 2_000;

/// Replaces the older part of a conversation, if that is needed and makes it shorter by much.
pub(crate) fn shorten(messages: &mut Vec<Message>, parent: &impl Parent) -> Result<(), Stopped> {
    let is_full = |part: usize, of: &[Message]| {
        let sum = |what: fn(&Message) -> usize| of.iter().map(what).sum::<usize>();
        of.len() >= MESSAGES_FULL / part
            || sum(bytes) >= BYTES_FULL / part
            || sum(values) >= VALUES_FULL / part
    };
    let older = || messages.get(..place(messages, KEPT)?);
    if is_full(1, messages) && older().is_some_and(|it| is_full(WORTH, it)) {
        summarise(messages, KEPT, parent)?;
    }
    Ok(())
}

/// What is done where a model says that a conversation is too long for it: its window is not known before.
#[derive(Default)]
pub(crate) struct Shorter {
    times: u8,
}

impl Shorter {
    /// Makes the conversation shorter after `stopped`, if that is why; true if it can be asked again.
    pub(crate) fn after(
        &mut self,
        stopped: &Stopped,
        messages: &mut Vec<Message>,
        parent: &impl Parent,
    ) -> Result<bool, Stopped> {
        if !is_too_long(stopped) {
            return Ok(false);
        }
        self.times = self.times.saturating_add(1);
        match self.times {
            1 if summarise(messages, KEPT, parent)? => Ok(true),
            1 | 2 => {
                self.times = 2;
                let is_shorter = summarise(messages, KEPT_LEAST, parent)?;
                Ok(cut_results(messages) || is_shorter)
            }
            _ => Ok(false),
        }
    }
}

fn is_too_long(stopped: &Stopped) -> bool {
    matches!(stopped, Stopped::Failed { code, .. } if code == ErrorKind::ContextTooLong.as_str())
}

/// Replaces all but the last messages by a summary; false if there is no place to cut.
fn summarise(
    messages: &mut Vec<Message>,
    kept: usize,
    parent: &impl Parent,
) -> Result<bool, Stopped> {
    let Some(cut) = place(messages, kept) else { return Ok(false) };
    let (older, rest) = messages.split_at(cut);
    let summary = summary_of(older, parent)?;
    let block = |text: String| Block::Text { text };
    let mut first = vec![block(format!("{SUMMARISED}\n{summary}"))];
    let mut short = Vec::new();
    if rest.first().is_some_and(is_turn) {
        short.push(Message { role: Role::User, content: first });
        let read = vec![block("I have read the summary.".to_owned())];
        short.push(Message { role: Role::Assistant, content: read });
    } else {
        // The turn goes on: what it was asked stays as it was said.
        first.extend(older.iter().rfind(|it| is_turn(it)).into_iter().flat_map(words));
        short.push(Message { role: Role::User, content: first });
    }
    short.extend_from_slice(rest);
    *messages = short;
    Ok(true)
}

/// Where a conversation can be cut so that at least `kept` messages stay: before a turn, or before a step of one. Never between
/// a call and its result: providers refuse that.
fn place(messages: &[Message], kept: usize) -> Option<usize> {
    let most = messages.len().saturating_sub(kept).saturating_add(1);
    let mut place = messages.iter().take(most);
    // A summary of one message alone would say no less.
    place.rposition(|it| is_turn(it) || it.role == Role::Assistant).filter(|it| *it > 1)
}

fn is_turn(message: &Message) -> bool {
    message.role == Role::User && message.content.iter().all(|it| matches!(it, Block::Text { .. }))
}

/// What the user said in a turn, without a summary that stands before it.
fn words(turn: &Message) -> impl Iterator<Item = Block> {
    let is_said = |it: &&Block| !matches!(it, Block::Text { text } if text.starts_with(SUMMARISED));
    turn.content.iter().filter(is_said).cloned()
}

/// Has the `fast` model summarise messages.
fn summary_of(older: &[Message], parent: &impl Parent) -> Result<String, Stopped> {
    let text = plain(older);
    let mut last = None;
    for chars in SUMMARISED_CHARS_MAX {
        let drop = text.chars().count().saturating_sub(chars);
        let told = marked(&text.chars().skip(drop).collect::<String>())?;
        let ask = Message { role: Role::User, content: vec![Block::Text { text: told }] };
        match parent.ask(Purpose::Summary, &[ask], &mut |_| {}) {
            Ok(answer) => return marked(&text_of(&answer.content)),
            Err(stopped) if is_too_long(&stopped) => last = Some(stopped),
            Err(stopped) => return Err(stopped),
        }
    }
    Err(last.unwrap_or(Stopped::Interrupted))
}

/// Cuts long results of calls; false if there is none.
fn cut_results(messages: &mut [Message]) -> bool {
    let mut is_cut = false;
    for block in messages.iter_mut().flat_map(|it| &mut it.content) {
        let Block::ToolResult { content, .. } = block else { continue };
        let Some((at, _)) = content.char_indices().nth(RESULT_CHARS_LEAST) else { continue };
        content.truncate(at);
        content.push_str("\n[the rest was left out: the conversation is too long for the model]");
        is_cut = true;
    }
    is_cut
}

/// INVARIANT (FailClosed): marks that somebody can guess are none, so that without randomness there is no summary.
fn marked(text: &str) -> Result<String, Stopped> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| Stopped::Failed {
        code: "no_randomness".to_owned(),
        message: error.to_string(),
    })?;
    Ok(wrap(Boundary::History, "conversation", text, &Nonce::new(random)))
}

fn bytes(message: &Message) -> usize {
    let one = |it: &Block| match it {
        Block::Text { text } => text.len(),
        Block::ToolUse { input, .. } => input.to_string().len(),
        Block::ToolResult { content, .. } => content.len(),
    };
    message.content.iter().map(one).sum()
}

fn values(message: &Message) -> usize {
    let one = |it: &Block| match it {
        Block::ToolUse { input, .. } => VALUES_PER_BLOCK.saturating_add(values_of(input)),
        Block::Text { .. } | Block::ToolResult { .. } => VALUES_PER_BLOCK,
    };
    message.content.iter().map(one).sum()
}

/// How many values there are in one, itself included: it came from a parser that bounds how deep it is.
#[must_use]
pub fn values_of(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(all) => all.iter().map(values_of).sum(),
        Value::Object(all) => all.values().map(values_of).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    inner.saturating_add(1)
}

/// A conversation as text.
fn plain(messages: &[Message]) -> String {
    let line = |it: &Message| {
        let who = match it.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let parts = it.content.iter().map(|it| match it {
            Block::Text { text } => text.clone(),
            Block::ToolUse { name, input, .. } => format!("[calls {name} {input}]"),
            Block::ToolResult { content, .. } => format!("[result: {content}]"),
        });
        format!("{who}: {}\n", parts.collect::<Vec<_>>().join(" "))
    };
    messages.iter().map(line).collect()
}
