//! Frames of a worker, rebuilt: nothing that the worker wrote is passed on but the fields that a frame has.

use serde_json::Value;

use crate::frame::{Frame, Status, SubagentStatus};

/// Units of a text in one frame. Longer ones are cut: a person looks at frames.
pub const FRAME_TEXT_CHARS_MAX: usize = 100_000;
/// Units of a name or an id in one frame.
pub const FRAME_NAME_CHARS_MAX: usize = 128;

/// Rebuilds frames of one worker. Numbers must grow; a frame whose number does not is dropped.
#[derive(Debug, Default)]
pub struct Rebuilder {
    /// One more than the last number.
    next: u64,
    dropped: u64,
}

impl Rebuilder {
    /// The frame, made anew of the fields that it has; none if it is no frame, or its number was there before.
    pub fn take(&mut self, said: &Value) -> Option<Frame> {
        let frame = rebuilt(said).filter(|it| it.number().is_none_or(|id| id >= self.next));
        match &frame {
            Some(frame) => {
                self.next = frame.number().map_or(self.next, |it| it.saturating_add(1));
            }
            None => self.dropped = self.dropped.saturating_add(1),
        }
        frame
    }

    /// How many were none.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

fn rebuilt(said: &Value) -> Option<Frame> {
    let text = |key: &str| shown(said.get(key)?.as_str()?, FRAME_TEXT_CHARS_MAX);
    let name = |key: &str| shown(said.get(key)?.as_str()?, FRAME_NAME_CHARS_MAX);
    let number = |key: &str| said.get(key)?.as_u64();
    Some(match said.get("type")?.as_str()? {
        "status" => Frame::Status { status: status(said.get("status")?.as_str()?)? },
        "token" => Frame::Token { id: number("id")?, text: text("text")? },
        "thinking_token" => Frame::ThinkingToken { text: text("text")? },
        "tool_use_start" => Frame::ToolUseStart {
            id: number("id")?,
            tool_name: name("toolName")?,
            tool_id: name("toolId")?,
        },
        "tool_use_input" => {
            Frame::ToolUseInput { tool_id: name("toolId")?, partial_json: text("partialJson")? }
        }
        "tool_result" => Frame::ToolResult {
            id: number("id")?,
            tool_id: name("toolId")?,
            content: text("content")?,
        },
        "subagent_started" => {
            Frame::SubagentStarted { task_id: name("taskId")?, description: text("description")? }
        }
        "subagent_progress" => Frame::SubagentProgress {
            task_id: name("taskId")?,
            tool_uses: number("toolUses")?,
            duration_ms: number("durationMs")?,
            total_tokens: number("totalTokens")?,
        },
        "subagent_done" => Frame::SubagentDone {
            task_id: name("taskId")?,
            status: ended(said.get("status")?.as_str()?)?,
            summary: text("summary")?,
            total_tokens: number("totalTokens")?,
        },
        _ => return None,
    })
}

fn status(word: &str) -> Option<Status> {
    match word {
        "thinking" => Some(Status::Thinking),
        "responding" => Some(Status::Responding),
        "tool_use" => Some(Status::ToolUse),
        "idle" => Some(Status::Idle),
        "interrupted" => Some(Status::Interrupted),
        _ => None,
    }
}

fn ended(word: &str) -> Option<SubagentStatus> {
    match word {
        "completed" => Some(SubagentStatus::Completed),
        "failed" => Some(SubagentStatus::Failed),
        "stopped" => Some(SubagentStatus::Stopped),
        _ => None,
    }
}

/// A text as it may be shown: cut, and without what steers a terminal or turns the direction of writing.
#[expect(clippy::unnecessary_wraps, reason = "it stands where fields that lack stand")]
fn shown(text: &str, chars_max: usize) -> Option<String> {
    Some(clean(text, chars_max))
}

/// A text that cannot steer a terminal: control characters but line feeds and tabs, and marks that turn the direction
/// of writing, are replaced.
#[must_use]
pub fn clean(text: &str, chars_max: usize) -> String {
    let seen = |it: char| match it {
        '\n' | '\t' => it,
        _ if it.is_control() || turns(it) => char::REPLACEMENT_CHARACTER,
        _ => it,
    };
    text.chars().take(chars_max).map(seen).collect()
}

/// Marks of Unicode's bidirectional algorithm, by which a name can be made to look like another.
fn turns(it: char) -> bool {
    matches!(it, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
