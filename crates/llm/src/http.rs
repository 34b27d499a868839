//! A provider behind a wire: asks in its dialect and reads the stream, in bounds.

use crate::Provider;
use crate::answer::{Answer, Flow, Piece, StopReason, Usage};
use crate::assembly::{Assembly, Broken};
use crate::attempt::{Attempt, Failure};
use crate::classify;
use crate::dialect::{Dialect, Progress, ReadError};
use crate::error::{ErrorKind, LlmError};
use crate::request::Request;
use crate::sse::Events;
use crate::wire::{Chunks, Post, Reply, Wire, WireError};

/// The longest stream, in bytes: answers are wrapped in much that is not theirs.
pub const STREAM_BYTES_MAX: usize = 64 << 20;
/// How much of an error's body is read, in bytes.
pub const ERROR_BYTES_MAX: usize = 64 << 10;

/// A provider that speaks HTTP.
pub struct HttpProvider<'a> {
    /// Its API.
    pub dialect: Dialect,
    /// The way to it.
    pub wire: &'a dyn Wire,
}

impl Attempt for HttpProvider<'_> {
    fn attempt(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, Failure> {
        let body = self.dialect.body(request).to_string().into_bytes();
        let request_bytes = body.len();
        let (path, key) = (self.dialect.path(), self.dialect.key_field());
        let post = Post { path, headers: self.dialect.headers(), key, body };
        let mut reply = match self.wire.post(&post) {
            Ok(reply) => reply,
            Err(_) if self.wire.is_cancelled() => return Ok(cut_off(request, request_bytes)),
            Err(error) => return Err(not_asked(error)),
        };
        if !(200..300).contains(&reply.status) {
            return Err(self.refused(&mut reply));
        }
        if !is_events(&reply.content_type) {
            let found = &reply.content_type;
            let why = format!("the answer is no stream of events but `{found}`");
            return Err(Failure::unreachable(why));
        }
        let mut answer = Assembly::new(on_piece);
        let read = self.read(&mut *reply.body, &mut answer);
        let usage = answer.usage(request_bytes);
        match read {
            Ok(()) => {
                let stop = match answer.flow() {
                    Flow::Continue => answer.stop.unwrap_or(StopReason::EndTurn),
                    Flow::Stop => StopReason::Interrupted,
                };
                let (content, model) = (answer.into_content(), request.model.clone());
                Ok(Answer { content, stop, usage, model, failed: Vec::new() })
            }
            Err(mut failure) => {
                failure.error.usage = usage;
                Err(failure)
            }
        }
    }
}

impl Provider for HttpProvider<'_> {
    fn ask(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        self.attempt(request, on_piece).map_err(|it| it.error)
    }
}

impl HttpProvider<'_> {
    fn refused(&self, reply: &mut Reply) -> Failure {
        let mut body = Vec::new();
        while body.len() < ERROR_BYTES_MAX
            && !self.wire.is_cancelled()
            && let Ok(Some(chunk)) = reply.body.next()
        {
            body.extend_from_slice(&chunk);
        }
        body.truncate(ERROR_BYTES_MAX);
        let body = String::from_utf8_lossy(&body);
        classify::by_status(reply.status, &body, reply.retry_after.as_deref())
    }

    /// Reads to the end of the answer, or until nobody wants more.
    fn read(&self, body: &mut dyn Chunks, answer: &mut Assembly<'_>) -> Result<(), Failure> {
        let mut reader = self.dialect.reader();
        let mut events = Events::default();
        let mut bytes = 0usize;
        loop {
            let chunk = match body.next() {
                Ok(Some(chunk)) => chunk,
                Ok(None) if reader.may_end() => return Ok(()),
                Ok(None) => return Err(Failure::unreachable("the stream broke off")),
                Err(error) => return Err(not_asked(error)),
            };
            if self.wire.is_cancelled() {
                answer.cut_off();
                return Ok(());
            }
            bytes = bytes.saturating_add(chunk.len());
            if bytes > STREAM_BYTES_MAX {
                let why = format!("the stream is longer than {STREAM_BYTES_MAX} bytes");
                return Err(Failure::unreachable(why));
            }
            let mut whole = Vec::new();
            let pushed = events.push(&chunk, &mut whole);
            for data in whole {
                match reader.event(&data, answer) {
                    Ok(Progress::Done) => return Ok(()),
                    Ok(Progress::More) if answer.flow() == Flow::Stop => return Ok(()),
                    Ok(Progress::More) => {}
                    Err(ReadError::Broken(Broken(why))) => return Err(Failure::unreachable(why)),
                    Err(ReadError::Told(failure)) => return Err(*failure),
                }
            }
            pushed.map_err(|it| Failure::unreachable(it.to_string()))?;
        }
    }
}

/// The media type of events, whatever its parameters are.
fn is_events(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("text/event-stream")
}

/// An answer of which nothing had come when nobody wanted it any more. The question may have been read all the same.
fn cut_off(request: &Request, request_bytes: usize) -> Answer {
    Answer {
        content: Vec::new(),
        stop: StopReason::Interrupted,
        usage: Usage::estimate(request_bytes, 0),
        model: request.model.clone(),
        failed: Vec::new(),
    }
}

fn not_asked(error: WireError) -> Failure {
    match error {
        WireError::Key(why) => Failure::for_good(ErrorKind::InvalidKey, why),
        WireError::Refused(why) | WireError::Broken(why) => Failure::unreachable(why),
    }
}
