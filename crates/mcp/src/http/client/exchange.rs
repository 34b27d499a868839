//! One request, from its POST to its answer.

use super::fields::{EVENTS, JSON, LAST_EVENT};
use super::limits::{
    ANSWER_WAIT, ERROR_BYTES_MAX, EVENT_BYTES_MAX, HANDSHAKE_WAIT, IDLE_WAIT, LOOK, RECONNECTS_MAX,
    RESUMES_MAX, RETRY_MIN, STREAM_BYTES_MAX,
};
use super::link::{Shared, lock};
use super::sse::Parser;
use super::{Answer, Piece, Request, Verb, WebError, leave, read_all};
use crate::message::{self, Body, Id, Message};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const NOT_FOUND: u16 = 404;
/// The code by which legacy servers speak of the transport.
const TRANSPORT_ERROR: i64 = -32000;
/// What is said of a stream that ended too early.
const CUT: &str = "its stream ended before the answer";

/// How far a stream came.
enum Read {
    /// The answer is there.
    Answered,
    /// It ended before; it can be taken up again from here.
    Cut(Option<String>, Duration),
}

impl Shared {
    /// Asks, and hands the answer over with whatever comes before it.
    pub(super) fn exchange(
        self: &Arc<Self>,
        id: &Id,
        message: &Message,
        is_cancelled: &AtomicBool,
    ) -> Result<(), WebError> {
        if message.method() == "initialize" {
            let mut conversation = self.conversation();
            conversation.hello = Some(message.clone().into_line());
            conversation.forget_session();
        }
        let (mut answer, generation) = self.post(message, is_cancelled)?;
        let Some(generation) = generation.filter(|_| matches!(answer.status, 400 | NOT_FOUND))
        else {
            return self.read(id, message.method(), answer, is_cancelled);
        };
        let refusal = read_refusal(&mut answer, is_cancelled)?;
        if answer.status != NOT_FOUND && !is_forgotten(refusal.as_ref()) {
            return self.pass_refusal(id, answer.status, refusal);
        }
        // A server that forgot the session has not done what it was asked: it may be asked again, in a new one.
        self.greet_again(generation)?;
        let (answer, _) = self.post(message, is_cancelled)?;
        self.read(id, message.method(), answer, is_cancelled)
    }

    /// Asks for a subscription, and again where its stream ends: it has no answer but what comes meanwhile.
    pub(super) fn subscribe(
        self: &Arc<Self>,
        id: &Id,
        message: &Message,
        is_cancelled: &AtomicBool,
    ) -> Result<(), WebError> {
        let mut fruitless = 0;
        loop {
            let begun = Instant::now();
            let outcome = self.exchange(id, message, is_cancelled);
            let has_ended = self.has_ended.load(Ordering::SeqCst);
            let is_over = is_cancelled.load(Ordering::SeqCst) || has_ended;
            let is_refused = outcome.as_ref().err().is_some_and(|it| it.0 != CUT);
            fruitless = if begun.elapsed() >= IDLE_WAIT { 0 } else { fruitless + 1 };
            if outcome.is_ok() || is_over || is_refused || fruitless > RECONNECTS_MAX {
                return outcome;
            }
            self.sleep(RETRY_MIN.saturating_mul(1 << fruitless.min(6)));
        }
    }

    fn post(
        &self,
        message: &Message,
        is_cancelled: &AtomicBool,
    ) -> Result<(Answer, Option<u64>), WebError> {
        let (fields, generation) = self.conversation().fields(message);
        let wait = match message.method() {
            "initialize" | "server/discover" => HANDSHAKE_WAIT,
            _ => ANSWER_WAIT,
        };
        let request = Request {
            verb: Verb::Post,
            headers: fields.fixed,
            parameters: fields.parameters,
            body: message.clone().into_line(),
            wait,
        };
        Ok((self.web.send(&request, is_cancelled)?, generation))
    }

    fn read(
        &self,
        id: &Id,
        method: &str,
        mut answer: Answer,
        is_cancelled: &AtomicBool,
    ) -> Result<(), WebError> {
        if !(200..300).contains(&answer.status) {
            let refusal = read_refusal(&mut answer, is_cancelled)?;
            return self.pass_refusal(id, answer.status, refusal);
        }
        if method == "initialize" {
            self.conversation().absorb_head(&answer);
        }
        match answer.media_type().as_str() {
            EVENTS => self.read_events(id, method, answer, is_cancelled),
            JSON => {
                let body = read_all(&mut *answer.body, EVENT_BYTES_MAX, is_cancelled)?;
                match self.take_message(id, method, &body) {
                    true => Ok(()),
                    false => Err(WebError("its answer is none to this request".to_owned())),
                }
            }
            _ => {
                let status = answer.status;
                Err(WebError(format!("it answered HTTP {status} without a message")))
            }
        }
    }

    /// An error of the protocol is passed on, also where it names no request; of another only the number is told.
    fn pass_refusal(&self, id: &Id, status: u16, refusal: Option<Value>) -> Result<(), WebError> {
        let error = refusal.as_ref().and_then(|it| it.get("error"));
        let error = error.filter(|it| it.get("code").is_some_and(Value::is_i64));
        let error = error.ok_or_else(|| WebError(format!("it answered HTTP {status}")))?;
        let line = message::encode(&json!({"jsonrpc": "2.0", "id": id.to_value(), "error": error}));
        self.hand_over(&line);
        Ok(())
    }

    fn read_events(
        &self,
        id: &Id,
        method: &str,
        answer: Answer,
        is_cancelled: &AtomicBool,
    ) -> Result<(), WebError> {
        let mut answer = answer;
        let mut from: Option<String> = None;
        for _ in 0..=RESUMES_MAX {
            let (seen, wait) = match self.read_stream(id, method, answer, is_cancelled)? {
                Read::Answered => return Ok(()),
                Read::Cut(seen, wait) => (seen, wait),
            };
            from = seen.or(from);
            let headers = self.conversation().legacy();
            // Only a legacy server takes a stream up again, and only where it gave its events ids.
            let Some(from) = from.clone().filter(|_| !headers.is_empty()) else { break };
            thread::sleep(wait);
            answer = match self.resume(headers, &from, is_cancelled) {
                Ok(answer) => answer,
                Err(_) => break,
            };
        }
        Err(WebError(CUT.to_owned()))
    }

    fn resume(
        &self,
        mut headers: Vec<(&'static str, String)>,
        from: &str,
        is_cancelled: &AtomicBool,
    ) -> Result<Answer, WebError> {
        headers.push(("accept", EVENTS.to_owned()));
        headers.push((LAST_EVENT, from.to_owned()));
        let request = Request {
            verb: Verb::Get,
            headers,
            parameters: Vec::new(),
            body: Vec::new(),
            wait: HANDSHAKE_WAIT,
        };
        let answer = self.web.send(&request, is_cancelled)?;
        if answer.status != 200 || answer.media_type() != EVENTS {
            return Err(WebError("it does not take the stream up again".to_owned()));
        }
        Ok(answer)
    }

    /// Reads one stream up to the answer, or up to its end.
    fn read_stream(
        &self,
        id: &Id,
        method: &str,
        mut answer: Answer,
        is_cancelled: &AtomicBool,
    ) -> Result<Read, WebError> {
        let mut parser = Parser::new(EVENT_BYTES_MAX);
        let (mut bytes, mut last) = (0_usize, Instant::now());
        loop {
            if is_cancelled.load(Ordering::SeqCst) {
                return Ok(Read::Answered);
            }
            let cut = |parser: &Parser| {
                let wait = parser.retry().unwrap_or(RETRY_MIN);
                Ok(Read::Cut(parser.last_id().map(str::to_owned), wait))
            };
            let data = match answer.body.next(LOOK) {
                Ok(Piece::Data(data)) => data,
                Ok(Piece::Still) if last.elapsed() < IDLE_WAIT => continue,
                Ok(Piece::Still | Piece::End) | Err(_) => return cut(&parser),
            };
            last = Instant::now();
            bytes = bytes.saturating_add(data.len());
            if bytes > STREAM_BYTES_MAX {
                let why = format!("its stream has more than {STREAM_BYTES_MAX} bytes");
                return Err(WebError(why));
            }
            let mut messages = Vec::new();
            let taken = parser.take(&data, &mut messages);
            for message in &messages {
                if self.take_message(id, method, message) {
                    leave(&mut *answer.body);
                    return Ok(Read::Answered);
                }
            }
            taken.map_err(|error| WebError(error.to_string()))?;
        }
    }

    /// Hands a message over; `true` where it is the answer.
    fn take_message(&self, id: &Id, method: &str, message: &[u8]) -> bool {
        let parsed = Message::parse(&one_line(message));
        let is_answer = match parsed.as_ref().map(|it| &it.body) {
            Ok(Body::Response { id: of, failed }) if of == id => {
                if let (Ok(message), false) = (&parsed, failed) {
                    self.conversation().absorb(method, message.outcome());
                }
                true
            }
            Ok(Body::Response { .. } | Body::Request { .. } | Body::Notification { .. }) => false,
            // The session tells whoever waits, if the id can be found.
            Err(_) => crate::frame::find_id(message).as_ref() == Some(id),
        };
        self.hand_over(message);
        is_answer
    }

    /// Makes the handshake again where the server has forgotten the session of this generation, once for all who met that.
    fn greet_again(self: &Arc<Self>, generation: u64) -> Result<(), WebError> {
        let lost = || WebError("it has forgotten the session, and takes no new one".to_owned());
        let _only = lock(&self.greeting);
        let mut conversation = self.conversation();
        if conversation.generation != generation {
            return Ok(());
        }
        let hello = conversation.hello.clone().ok_or_else(lost)?;
        conversation.forget_session();
        drop(conversation);
        let mut hello = Message::parse(&hello).map_err(|_| lost())?;
        let id = Id::Text(format!("lazaret-again-{generation}"));
        hello.set_id(&id);
        let hello = Message::parse(&hello.into_line()).map_err(|_| lost())?;
        let (mut answer, _) = self.post(&hello, &self.has_ended)?;
        if answer.status != 200 {
            return Err(lost());
        }
        self.conversation().absorb_head(&answer);
        let found = match answer.media_type().as_str() {
            EVENTS => first_answer(&mut answer, &id)?,
            _ => read_all(&mut *answer.body, EVENT_BYTES_MAX, &self.has_ended)?,
        };
        let found = Message::parse(&one_line(&found)).map_err(|_| lost())?;
        if found.body != (Body::Response { id, failed: false }) {
            return Err(lost());
        }
        self.conversation().absorb("initialize", found.outcome());
        let line =
            message::encode(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self.tell(&Message::parse(&line).map_err(|_| lost())?)?;
        self.stand();
        // It may be another server by now: what it offers is looked at anew before it is used.
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        self.hand_over(&message::encode(&changed));
        Ok(())
    }
}

/// Reads the message of an answer that is no success, if there is one.
fn read_refusal(answer: &mut Answer, is_cancelled: &AtomicBool) -> Result<Option<Value>, WebError> {
    if answer.media_type() != JSON {
        leave(&mut *answer.body);
        return Ok(None);
    }
    let body = read_all(&mut *answer.body, ERROR_BYTES_MAX, is_cancelled)?;
    Ok(serde_json::from_slice(&body).ok())
}

/// Is it how widespread servers say, with 400 and not with 404, that they do not know a session? They answer for
/// themselves then, and for no request.
fn is_forgotten(refusal: Option<&Value>) -> bool {
    let Some(refusal) = refusal else { return false };
    let error = refusal.get("error").unwrap_or(&Value::Null);
    let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
    refusal.get("id").is_none_or(Value::is_null)
        && error.get("code").and_then(Value::as_i64) == Some(TRANSPORT_ERROR)
        && text.to_ascii_lowercase().contains("session")
}

/// Reads a stream up to the answer to this request; nothing else of it is of interest.
fn first_answer(answer: &mut Answer, id: &Id) -> Result<Vec<u8>, WebError> {
    let (mut parser, mut messages) = (Parser::new(EVENT_BYTES_MAX), Vec::new());
    let end = Instant::now() + HANDSHAKE_WAIT;
    loop {
        let Piece::Data(data) = answer.body.next(end.saturating_duration_since(Instant::now()))?
        else {
            return Err(WebError(CUT.to_owned()));
        };
        parser.take(&data, &mut messages).map_err(|error| WebError(error.to_string()))?;
        let is_it = |it: &Vec<u8>| crate::frame::find_id(it).as_ref() == Some(id);
        if let Some(found) = messages.drain(..).find(is_it) {
            return Ok(found);
        }
    }
}

fn one_line(message: &[u8]) -> Vec<u8> {
    message.iter().map(|&it| if matches!(it, b'\n' | b'\r') { b' ' } else { it }).collect()
}
