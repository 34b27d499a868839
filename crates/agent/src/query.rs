//! The loop: a model is asked, its tool calls are carried out, their results are shown to it, until it answers.
//!
//! It runs in the worker, which nobody believes. Every limit here is held again by the parent, which counts for itself.

use llm::{Answer, Block, Message, Role, StopReason};
use serde_json::Value;

use crate::frame::{Frame, Status};
use crate::message::{Called, Hooks, Purpose, Said};
use crate::outcome::Outcome;
use crate::repeat::Repeats;
use crate::results::Kept;
use crate::{summary, tools, verify};

/// Calls of one step that run side by side; more of them wait.
pub const PARALLEL_CALLS_MAX: usize = 16;
/// Calls of one step.
const CALLS_PER_STEP_MAX: usize = 64;

/// What the loop reaches the world by.
pub trait Parent {
    /// Asks the model; pieces of the answer are shown as they come.
    ///
    /// # Errors
    /// If there is no answer.
    fn ask(
        &self,
        purpose: Purpose,
        messages: &[Message],
        on_piece: &mut dyn FnMut(Said),
    ) -> Result<Answer, Stopped>;

    /// Hands messages to the door, side by side; their answers come in the same order.
    ///
    /// # Errors
    /// If the turn is to end.
    fn call(&self, messages: &[Value]) -> Result<Vec<Value>, Stopped>;

    /// Has a person asked about a call that the gate stopped. Did they say yes?
    ///
    /// # Errors
    /// If the turn is to end.
    fn approve(&self, tool_id: &str, name: &str, input: &Value) -> Result<bool, Stopped>;

    /// Shows something to the person.
    fn show(&self, frame: &Frame);
}

/// Why a turn ends without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Somebody interrupted it.
    Interrupted,
    /// Something did not work.
    Failed {
        /// A code.
        code: String,
        /// In words.
        message: String,
    },
}

impl Stopped {
    fn because(code: &str, message: impl Into<String>) -> Self {
        Self::Failed { code: code.to_owned(), message: message.into() }
    }
}

/// A conversation, and how its turns go.
#[derive(Debug, Default)]
pub struct Conversation {
    messages: Vec<Message>,
    hooks: Hooks,
    /// The number of the next frame.
    next: u64,
    kept: Kept,
}

/// A turn that came to its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The answer.
    pub content: String,
    /// Calls of tools in order.
    pub calls: Vec<Called>,
}

struct Use {
    id: String,
    name: String,
    input: Value,
}

impl Conversation {
    /// A conversation that begins.
    #[must_use]
    pub fn new(hooks: Hooks) -> Self {
        Self { hooks, ..Self::default() }
    }

    /// Takes over what was said before, if nothing was said here yet.
    pub fn resume(&mut self, history: Vec<Message>) {
        if self.messages.is_empty() {
            self.messages = history;
        }
    }

    /// Runs one turn. What was done before it ended stays part of the conversation.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn turn(&mut self, content: &str, parent: &impl Parent) -> (Result<(), Stopped>, Done) {
        let mut done = Done::default();
        self.messages.push(user(vec![Block::Text { text: content.to_owned() }]));
        let ended = self.steps(parent, &mut done);
        if ended.is_err() {
            self.close_open_calls();
        }
        (ended, done)
    }

    fn steps(&mut self, parent: &impl Parent, done: &mut Done) -> Result<(), Stopped> {
        let mut repeats = Repeats::new(self.hooks.loop_detection_threshold);
        let mut reminder = self.hooks.verify_before_complete.then_some(verify::REMINDER);
        for _ in 0..self.hooks.model_calls {
            summary::shorten(&mut self.messages, parent)?;
            let answer = self.shortened_step(parent)?;
            let text = text_of(&answer.content);
            let uses = uses(&answer.content);
            let stop = answer.stop;
            self.messages.push(Message { role: Role::Assistant, content: answer.content });
            // What was cut off is not carried out, also where a call in it was whole.
            if stop == StopReason::Interrupted {
                done.content = text;
                return Err(Stopped::Interrupted);
            }
            if uses.is_empty() {
                done.content = text;
                return Ok(());
            }
            if uses.len() > CALLS_PER_STEP_MAX {
                let why = format!("the model called {} tools in one step", uses.len());
                return Err(Stopped::because("too_many_calls", why));
            }
            for it in uses.iter().filter(|_| self.hooks.loop_detection) {
                repeats.note(&it.name, &it.input).map_err(|count| {
                    let why = format!(
                        "`{}` was called {count} times in a row with the same arguments",
                        it.name
                    );
                    Stopped::because("loop_detected", why)
                })?;
            }
            let blocks = self.carry_out(&uses, parent, done, &mut reminder)?;
            self.messages.push(user(blocks));
        }
        let most = self.hooks.model_calls;
        Err(Stopped::because("too_many_steps", format!("no answer after {most} model calls")))
    }

    /// Asks the model, again with a shorter conversation if this one is too long for it.
    fn shortened_step(&mut self, parent: &impl Parent) -> Result<Answer, Stopped> {
        let mut shorter = summary::Shorter::default();
        loop {
            let stopped = match self.step(parent) {
                Ok(answer) => return Ok(answer),
                Err(stopped) => stopped,
            };
            if !shorter.after(&stopped, &mut self.messages, parent)? {
                return Err(stopped);
            }
        }
    }

    /// Asks the model once, and shows what it says as it says it.
    fn step(&mut self, parent: &impl Parent) -> Result<Answer, Stopped> {
        parent.show(&Frame::Status { status: Status::Thinking });
        let mut responding = false;
        let next = &mut self.next;
        let answer = parent.ask(Purpose::Step, &self.messages, &mut |piece| {
            if matches!(piece, Said::Text { .. }) && !std::mem::replace(&mut responding, true) {
                parent.show(&Frame::Status { status: Status::Responding });
            }
            parent.show(&shown(piece, next));
        })?;
        Ok(answer)
    }

    /// Carries out calls, at most so many side by side, and gives the blocks that answer them.
    fn carry_out(
        &mut self,
        uses: &[Use],
        parent: &impl Parent,
        done: &mut Done,
        reminder: &mut Option<&str>,
    ) -> Result<Vec<Block>, Stopped> {
        parent.show(&Frame::Status { status: Status::ToolUse });
        let mut results = Vec::new();
        for some in uses.chunks(PARALLEL_CALLS_MAX) {
            for (it, outcome) in some.iter().zip(outcomes(some, &self.kept, parent)?) {
                let status = outcome.fate.as_str().to_owned();
                done.calls.push(Called { name: it.name.clone(), status });
                results.push((it.name.as_str(), outcome));
            }
        }
        let changes = results.iter().position(|(name, it)| verify::changes(name, it.fate));
        let mut shown = self.kept.shown(results, &self.hooks);
        if let Some(first) = changes.and_then(|at| shown.get_mut(at))
            && let Some(words) = reminder.take()
        {
            first.text = format!("{}\n{words}", first.text);
        }
        let mut blocks = Vec::new();
        for (it, outcome) in uses.iter().zip(shown) {
            let id = number(&mut self.next);
            let content = outcome.text.clone();
            parent.show(&Frame::ToolResult { id, tool_id: it.id.clone(), content });
            blocks.push(outcome.block(&it.id));
        }
        Ok(blocks)
    }

    /// Providers refuse a conversation in which a call has no result.
    fn close_open_calls(&mut self) {
        let Some(last) = self.messages.last().filter(|it| it.role == Role::Assistant) else {
            return;
        };
        let never = Outcome::failed("the turn ended before this call");
        let blocks: Vec<Block> = uses(&last.content).iter().map(|it| never.block(&it.id)).collect();
        if !blocks.is_empty() {
            self.messages.push(user(blocks));
        }
    }
}

/// What came of each call. One that the gate stopped and that a person then allows is made once more.
fn outcomes(uses: &[Use], kept: &Kept, parent: &impl Parent) -> Result<Vec<Outcome>, Stopped> {
    let read = |it: &Use| match kept.answer(&it.name, &it.input) {
        Some(outcome) => Err(outcome),
        None => tools::message(&it.name, &it.input).map_err(Outcome::failed),
    };
    let read: Vec<Result<Value, Outcome>> = uses.iter().map(read).collect();
    let asked: Vec<Value> = read.iter().filter_map(|it| it.as_ref().ok()).cloned().collect();
    let mut answers = parent.call(&asked)?.into_iter();
    let mut outcomes = Vec::new();
    for (it, read) in uses.iter().zip(read) {
        let message = match read {
            Ok(message) => message,
            Err(outcome) => {
                outcomes.push(outcome);
                continue;
            }
        };
        let mut answer = answers.next().unwrap_or_default();
        if answer.get("approval").is_some() && parent.approve(&it.id, &it.name, &it.input)? {
            answer = parent.call(&[message])?.pop().unwrap_or_default();
        }
        outcomes.push(Outcome::of(&answer));
    }
    Ok(outcomes)
}

fn shown(piece: Said, next: &mut u64) -> Frame {
    match piece {
        Said::Text { text } => Frame::Token { id: number(next), text },
        Said::Thinking { text } => Frame::ThinkingToken { text },
        Said::ToolStart { call, name } => {
            let tool_name = tools::shown(&name).to_owned();
            Frame::ToolUseStart { id: number(next), tool_name, tool_id: call }
        }
        Said::ToolInput { call, json } => Frame::ToolUseInput { tool_id: call, partial_json: json },
    }
}

fn number(next: &mut u64) -> u64 {
    let id = *next;
    *next = next.saturating_add(1);
    id
}

fn user(content: Vec<Block>) -> Message {
    Message { role: Role::User, content }
}

/// The text of an answer.
pub(crate) fn text_of(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|it| match it {
        Block::Text { text } => Some(text.as_str()),
        Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    });
    texts.collect()
}

fn uses(blocks: &[Block]) -> Vec<Use> {
    let uses = blocks.iter().filter_map(|it| match it {
        Block::ToolUse { id, name, input } => {
            Some(Use { id: id.clone(), name: name.clone(), input: input.clone() })
        }
        Block::Text { .. } | Block::ToolResult { .. } => None,
    });
    uses.collect()
}
