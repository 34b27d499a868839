//! A conversation that outgrows the window: its older part is replaced by a summary.
//!
//! A summary is made of whatever was said, also of what came from outside: it stands between marks, and is nobody's word.
//! The labels of what is replaced are not lost: those of a session only grow, and they are the parent's.

use llm::{Block, Message, Role};
use scan::boundary::{Boundary, Nonce, wrap};

use crate::message::Purpose;
use crate::prompt::SUMMARISED;
use crate::query::{Parent, Stopped, text_of};

/// Messages of one request to a model.
pub const MESSAGES_MAX: usize = 200;
/// Messages from which on the older part is replaced.
const MESSAGES_FULL: usize = 160;
/// Characters from which on it is, too.
const CHARS_FULL: usize = 400_000;
/// Messages that stay as they are.
const KEPT: usize = 10;
/// Characters of what is summarised; the newest of it.
const SUMMARISED_CHARS_MAX: usize = 150_000;

/// Replaces the older part of a conversation, if that is needed.
pub(crate) fn shorten(messages: &mut Vec<Message>, parent: &impl Parent) -> Result<(), Stopped> {
    let chars: usize = messages.iter().map(size).sum();
    if messages.len() < MESSAGES_FULL && chars < CHARS_FULL {
        return Ok(());
    }
    // Never between a call and its result: providers refuse that.
    let is_turn = |it: &Message| {
        it.role == Role::User && it.content.iter().all(|it| matches!(it, Block::Text { .. }))
    };
    let most = messages.len().saturating_sub(KEPT);
    let cut = messages.iter().take(most).rposition(is_turn).filter(|it| *it > 0);
    // A single turn that is too long has no such place; whoever asks the model says so.
    let Some(cut) = cut else { return Ok(()) };
    let rest = messages.split_off(cut);
    let told = match marked(&plain(messages)) {
        Ok(told) => told,
        Err(error) => {
            messages.extend(rest);
            return Err(error);
        }
    };
    let ask = Message { role: Role::User, content: vec![Block::Text { text: told }] };
    let answer = parent.ask(Purpose::Summary, &[ask], &mut |_| {});
    let summary = match answer.and_then(|it| marked(&text_of(&it.content))) {
        Ok(summary) => summary,
        Err(error) => {
            messages.extend(rest);
            return Err(error);
        }
    };
    let text = format!("{SUMMARISED}\n{summary}");
    let block = |text: &str| vec![Block::Text { text: text.to_owned() }];
    *messages = vec![
        Message { role: Role::User, content: block(&text) },
        Message { role: Role::Assistant, content: block("I have read the summary.") },
    ];
    messages.extend(rest);
    Ok(())
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

fn size(message: &Message) -> usize {
    let one = |it: &Block| match it {
        Block::Text { text } => text.len(),
        Block::ToolUse { input, .. } => input.to_string().len(),
        Block::ToolResult { content, .. } => content.len(),
    };
    message.content.iter().map(one).sum()
}

/// A conversation as text, the newest part of it.
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
    let text: String = messages.iter().map(line).collect();
    let drop = text.chars().count().saturating_sub(SUMMARISED_CHARS_MAX);
    text.chars().skip(drop).collect()
}
