//! Frames of the runtime on their way out: with numbers that clients know, without secrets, the end of a tool's input
//! put in.

use std::collections::HashMap;

use agent::{Frame, Status};

use crate::app::App;
use crate::frame::{ServerFrame, relayed};
use crate::holdback::{Holdback, clean};
use crate::turn::say;
use crate::turns::Key;

/// Frames of the runtime on their way to whoever listens.
pub(crate) struct Relay<'a> {
    app: &'a App,
    key: &'a Key,
    text: Holdback,
    thinking: Holdback,
    inputs: HashMap<String, (Holdback, String)>,
}

/// Tools whose inputs are put together at once, and the longest input, in bytes.
const INPUTS_MAX: usize = 64;
const INPUT_BYTES_MAX: usize = 64 << 10;

impl<'a> Relay<'a> {
    pub(crate) fn new(app: &'a App, key: &'a Key) -> Self {
        let (text, thinking) = Default::default();
        Self { app, key, text, thinking, inputs: HashMap::new() }
    }

    pub(crate) fn frame(&mut self, frame: Frame) {
        let frame = match frame {
            Frame::Token { id, text } => Frame::Token { id, text: self.text.push(&text) },
            Frame::ThinkingToken { text } => {
                Frame::ThinkingToken { text: self.thinking.push(&text) }
            }
            Frame::ToolUseStart { id, tool_name, tool_id } => {
                Frame::ToolUseStart { id, tool_name, tool_id }
            }
            Frame::ToolUseInput { tool_id, partial_json } => self.input(tool_id, &partial_json),
            Frame::ToolResult { id, tool_id, content } => {
                self.end_of_input(&tool_id);
                Frame::ToolResult { id, tool_id, content: clean(&content) }
            }
            Frame::SubagentStarted { task_id, description } => {
                Frame::SubagentStarted { task_id, description: clean(&description) }
            }
            Frame::SubagentDone { task_id, status, summary, total_tokens } => {
                Frame::SubagentDone { task_id, status, summary: clean(&summary), total_tokens }
            }
            // The end of a turn is said when its account is settled.
            Frame::Status { status: Status::Idle } => return,
            frame @ (Frame::Status { .. } | Frame::SubagentProgress { .. }) => frame,
        };
        let is_empty = match &frame {
            Frame::Token { text, .. } | Frame::ThinkingToken { text } => text.is_empty(),
            Frame::ToolUseInput { partial_json, .. } => partial_json.is_empty(),
            Frame::Status { .. }
            | Frame::ToolUseStart { .. }
            | Frame::ToolResult { .. }
            | Frame::SubagentStarted { .. }
            | Frame::SubagentProgress { .. }
            | Frame::SubagentDone { .. } => false,
        };
        if !is_empty {
            say(self.app, self.key, |id| relayed(frame, id));
        }
    }

    fn input(&mut self, tool_id: String, piece: &str) -> Frame {
        if self.inputs.len() >= INPUTS_MAX && !self.inputs.contains_key(&tool_id) {
            return Frame::ToolUseInput { tool_id, partial_json: String::new() };
        }
        let (held, whole) = self.inputs.entry(tool_id.clone()).or_default();
        if whole.len() + piece.len() <= INPUT_BYTES_MAX {
            whole.push_str(piece);
        }
        Frame::ToolUseInput { partial_json: held.push(piece), tool_id }
    }

    fn end_of_input(&mut self, tool_id: &str) {
        let Some((mut held, whole)) = self.inputs.remove(tool_id) else { return };
        let (tool_id, partial_json) = (tool_id.to_owned(), held.flush());
        if !partial_json.is_empty() {
            let tool_id = tool_id.clone();
            say(self.app, self.key, |_| ServerFrame::ToolUseInput { tool_id, partial_json });
        }
        say(self.app, self.key, |_| ServerFrame::ToolUseEnd { tool_id, input: clean(&whole) });
    }

    /// Lets go of the rest. Not before: whatever else is said between two pieces of a secret, they stay one.
    pub(crate) fn finish(mut self) {
        let text = self.text.flush();
        if !text.is_empty() {
            say(self.app, self.key, |id| ServerFrame::Token { id, text });
        }
        let text = self.thinking.flush();
        if !text.is_empty() {
            say(self.app, self.key, |_| ServerFrame::ThinkingToken { text });
        }
    }
}
