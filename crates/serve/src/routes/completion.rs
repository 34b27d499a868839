//! Answers in the shape of OpenAI: whole, or as events while the agent writes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::events::hand_on;
use crate::app::App;
use crate::frame::ErrorCode;
use crate::limits::OUTGOING_MAX;
use crate::refusal::Refusal;
use crate::sockets::{Outgoing, Seat};
use crate::turn::{self, Answered, Asked, Refused};
use crate::turns::{Key, Waiting, Wanted};

/// What all parts of one answer have in common.
#[derive(Clone)]
pub(super) struct Completion {
    id: String,
    created: i64,
    key: Key,
}

/// How often a stream says that it is still there.
const ALIVE: Duration = Duration::from_secs(15);
/// Events that wait for one client.
const EVENTS_MAX: usize = 256;

impl Completion {
    pub(super) fn new(app: &App, key: &Key) -> Self {
        let id = format!("chatcmpl-{}-{}", app.sockets.number(), app.now_ms());
        Self { id, created: app.now(), key: key.clone() }
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    /// A whole answer.
    pub(super) fn answer(&self, answered: &Answered) -> Value {
        let message = json!({ "role": "assistant", "content": answered.content });
        let choice = json!({
            "index": 0, "message": message, "finish_reason": reason(answered), "logprobs": null,
        });
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.key.agent,
            "choices": [choice],
            "usage": usage(answered),
            "session_id": self.key.session,
        })
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.key.agent,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
            "session_id": self.key.session,
        })
    }
}

fn reason(answered: &Answered) -> &'static str {
    if answered.interrupted { "length" } else { "stop" }
}

fn usage(answered: &Answered) -> Value {
    let usage = &answered.usage;
    let read = usage
        .input_tokens
        .saturating_add(usage.cache_read_tokens)
        .saturating_add(usage.cache_creation_tokens);
    json!({
        "prompt_tokens": read,
        "completion_tokens": usage.output_tokens,
        "total_tokens": read.saturating_add(usage.output_tokens),
    })
}

/// Runs the turn; whoever goes away meanwhile interrupts it.
pub(super) async fn whole(app: &Arc<App>, asked: Asked) -> Result<Answered, Refused> {
    let mut interrupts = Interrupts::new(app, &asked.key);
    let mut seat = seated(app, &asked);
    let (of, ran, waiting) = (Arc::clone(app), asked, interrupts.enqueue());
    let turn = tokio::spawn(async move { turn::run(&of, ran, waiting).await });
    tokio::select! {
        biased;
        // An answer is for who may have it when it is there.
        _ = seat.closing.changed() => {
            Err(Refused::new(ErrorCode::TokenRevoked, "the token opens nothing any more"))
        }
        done = turn => {
            interrupts.done = true;
            done.unwrap_or_else(|_| Err(turn::internal("the turn broke off")))
        }
    }
}

/// A place among those who are looked at again when files change.
fn seated(app: &App, asked: &Asked) -> Seat {
    let (nobody, _) = channel(1);
    app.answers.sit(&asked.known, nobody)
}

/// The same, as events.
pub(super) fn stream(app: &Arc<App>, asked: Asked, made: Completion, with_usage: bool) -> Body {
    let (events, body) = channel(EVENTS_MAX);
    let app = Arc::clone(app);
    tokio::spawn(async move { pump(&app, asked, &made, with_usage, &events).await });
    Body::new(Events(body))
}

async fn pump(
    app: &Arc<App>,
    asked: Asked,
    made: &Completion,
    with_usage: bool,
    events: &Sender<Bytes>,
) {
    let (to, mut from) = channel(OUTGOING_MAX);
    let (id, key) = (app.sockets.number(), asked.key.clone());
    let mut seat = seated(app, &asked);
    app.rooms.listen(&key, (id, to), None, app.now_ms());
    let mut interrupts = Interrupts::new(app, &key);
    let (of, ran, waiting) = (Arc::clone(app), asked, interrupts.enqueue());
    let mut turn = tokio::spawn(async move { turn::run(&of, ran, waiting).await });
    let role = json!({ "role": "assistant", "content": "" });
    let mut is_there = hand_on(events, event(&made.chunk(&role, None))).await;
    let mut told = Streamed::default();
    let done = loop {
        if !is_there {
            break None;
        }
        tokio::select! {
            biased;
            _ = seat.closing.changed() => is_there = false,
            said = from.recv() => match said {
                Some(Outgoing { text, .. }) => if let Some(text) = told.token(&text) {
                    let chunk = made.chunk(&json!({ "content": text }), None);
                    is_there = hand_on(events, event(&chunk)).await;
                },
                // Whoever does not keep up is let go: an answer with a gap in it is none.
                None => is_there = false,
            },
            done = &mut turn => break Some(done),
            () = events.closed() => is_there = false,
            () = tokio::time::sleep(ALIVE) => {
                is_there = hand_on(events, Bytes::from_static(b": alive\n\n")).await;
            }
        }
    };
    // What was said before the end and not yet handed on.
    while done.is_some()
        && let Ok(Outgoing { text, .. }) = from.try_recv()
    {
        if let Some(text) = told.token(&text) {
            let chunk = made.chunk(&json!({ "content": text }), None);
            let _ = hand_on(events, event(&chunk)).await;
        }
    }
    app.rooms.leave(&key, id);
    let Some(done) = done else { return };
    interrupts.done = true;
    let done = done.unwrap_or_else(|_| Err(turn::internal("the turn broke off")));
    let rest = done.as_ref().ok().and_then(|it| told.rest_of(&it.content));
    if let Some(text) = rest {
        let chunk = made.chunk(&json!({ "content": text }), None);
        let _ = hand_on(events, event(&chunk)).await;
    }
    for it in last(made, done, with_usage) {
        let _ = hand_on(events, event(&it)).await;
    }
    let _ = hand_on(events, Bytes::from_static(b"data: [DONE]\n\n")).await;
}

/// What is said at the end of a stream.
fn last(made: &Completion, done: Result<Answered, Refused>, with_usage: bool) -> Vec<Value> {
    match done {
        Ok(answered) => {
            let mut last = vec![made.chunk(&json!({}), Some(reason(&answered)))];
            if with_usage {
                let mut chunk = made.chunk(&json!({}), None);
                if let Some(fields) = chunk.as_object_mut() {
                    fields.insert("choices".to_owned(), json!([]));
                    fields.insert("usage".to_owned(), usage(&answered));
                }
                last.push(chunk);
            }
            last
        }
        Err(refused) => {
            let refusal = Refusal::from(refused);
            vec![refusal.body()]
        }
    }
}

/// The text that was handed on.
#[derive(Default)]
struct Streamed {
    said: String,
    /// Where a tool was called last. The last word before it was held back, and came behind that.
    since: usize,
}

impl Streamed {
    /// The text of a frame that is a piece of the answer.
    fn token(&mut self, frame: &str) -> Option<String> {
        let frame: Value = serde_json::from_str(frame).ok()?;
        match frame.get("type").and_then(Value::as_str) {
            Some("token") => {
                let text = frame.get("text")?.as_str()?.to_owned();
                self.said.push_str(&text);
                Some(text)
            }
            Some("tool_use_start") => {
                self.since = self.said.len();
                None
            }
            Some(_) | None => None,
        }
    }

    /// The part of the answer that did not stream: what came after a doubt was held back until all of it was judged.
    fn rest_of(&self, answer: &str) -> Option<String> {
        // As pieces are on their way, so that both are the same text.
        let answer = agent::clean(answer, usize::MAX);
        let answer = answer.trim_matches(is_gap);
        let whole = self.said.get(self.since..).unwrap_or_default().trim_start_matches(is_gap);
        let said = whole.trim_end_matches(is_gap);
        if said.ends_with(answer) {
            return None;
        }
        if said.is_empty() && self.since == 0 {
            return Some(answer.to_owned());
        }
        // Where the answer begins in what was said: at once, or behind the word that was held back.
        let word = if self.since == 0 { 1 } else { said.find(is_gap).unwrap_or(said.len()) };
        let mut begins = said.char_indices().map(|it| it.0).take_while(|at| *at < word);
        let rest = begins.find_map(|at| answer.strip_prefix(said.get(at..)?));
        Some(match rest {
            Some(rest) => {
                // The gap that was trimmed may have been handed on already.
                let gap = whole.get(said.len()..).unwrap_or_default();
                rest.strip_prefix(gap).unwrap_or(rest).to_owned()
            }
            None => format!("\n\n{answer}"),
        })
    }
}

/// What may stand around an answer, and at only one side of what is compared.
fn is_gap(it: char) -> bool {
    it.is_whitespace() || it == char::REPLACEMENT_CHARACTER
}

fn event(value: &Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}

/// Interrupts the turn of whoever has gone before its end.
struct Interrupts {
    app: Arc<App>,
    key: Key,
    done: bool,
    /// The turn, once it has a place in the queue.
    wanted: Option<Wanted>,
}

impl Interrupts {
    fn new(app: &Arc<App>, key: &Key) -> Self {
        Self { app: Arc::clone(app), key: key.clone(), done: false, wanted: None }
    }

    /// A place in the queue of the session.
    fn enqueue(&mut self) -> Option<Waiting> {
        let waiting = self.app.queues.enqueue(&self.key);
        self.wanted = waiting.as_ref().map(Waiting::wanted);
        waiting
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        // The one that runs before a turn that waits is somebody else's to interrupt.
        if let Some(wanted) = self.wanted.as_ref().filter(|_| !self.done) {
            wanted.give_up();
        }
    }
}

/// A body of events as they come.
pub(super) struct Events(pub(super) Receiver<Bytes>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|it| it.map(|it| Ok(Frame::data(it))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(frames: &[Value]) -> Streamed {
        let mut all = Streamed::default();
        frames.iter().for_each(|it| drop(all.token(&it.to_string())));
        all
    }

    #[test]
    fn what_did_not_stream_is_said_at_the_end_and_nothing_twice() {
        let token = |text: &str| json!({ "type": "token", "id": 1, "text": text });
        let tool = json!({ "type": "tool_use_start", "id": 2, "toolName": "a", "toolId": "t" });
        for (frames, answer, rest) in [
            (vec![], "all of it", Some("all of it")),
            (vec![token("all "), token("of it")], "all of it", None),
            (vec![token("all of it\n")], "all of it", None),
            (vec![token("You find it at ")], "You find it at a link", Some("a link")),
            (vec![token("You find it at")], "You find it at a link", Some(" a link")),
            (vec![token("I look."), tool.clone(), token("It ")], "It is.", Some("is.")),
            (vec![token("I look."), tool.clone()], "It is.", Some("\n\nIt is.")),
            (vec![token("I "), tool.clone(), token("look.It is")], "It is.", Some(".")),
            (vec![token("I "), tool.clone(), token("look.It "), token("is.")], "It is.", None),
            (vec![token("I "), tool, token("look.")], "It is.", Some("\n\nIt is.")),
            (vec![token("One\u{fffd}\nTwo\u{fffd}")], "One\r\nTwo\u{200f}", None),
            (vec![token("One\u{fffd}\n")], "One\r\nTwo\r\n", Some("Two")),
            (vec![token("A secret: ")], "Withheld.", Some("\n\nWithheld.")),
            (vec![token("x")], "", None),
        ] {
            assert_eq!(streamed(&frames).rest_of(answer).as_deref(), rest, "{frames:?}");
        }
    }
}
