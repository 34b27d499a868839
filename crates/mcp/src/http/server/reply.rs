//! Answers as HTTP: one JSON object, or a stream of events.

use super::limits::KEEP_ALIVE;
use super::live::Reader;
use super::outbox::Event;
use super::splice;
use crate::message::{self, Id};
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// A body: bytes that are there, or events as they come.
pub(super) enum Reply {
    Whole(Option<Bytes>),
    Events(Box<Events>),
}

/// Events for one client.
pub(super) struct Events {
    reader: Reader,
    first: Option<Event>,
    alive: Interval,
}

impl Reply {
    /// Whether it is an error of JSON-RPC, and nothing else.
    pub(super) fn is_error(&self) -> bool {
        match self {
            Self::Whole(Some(bytes)) => splice::find(bytes, &["error"]).is_some(),
            Self::Whole(None) | Self::Events(_) => false,
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|it| Ok(Frame::data(it)))),
            Self::Events(events) => events.poll(context).map(|it| it.map(|it| Ok(Frame::data(it)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        let bytes = match self {
            Self::Whole(bytes) => bytes.as_ref().map_or(0, Bytes::len),
            Self::Events(_) => return SizeHint::default(),
        };
        SizeHint::with_exact(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Events {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let next = match self.first.take() {
            Some(event) => Poll::Ready(Some(event)),
            None => self.reader.poll_next(context),
        };
        match next {
            Poll::Ready(Some(event)) => {
                self.alive.reset();
                Poll::Ready(Some(self.write(&event)))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending if self.alive.poll_tick(context).is_ready() => {
                // To be woken for the tick after this one.
                let _pending = self.alive.poll_tick(context);
                Poll::Ready(Some(Bytes::from_static(b": \n\n")))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// One event. A client that may come back learns its number.
    fn write(&self, event: &Event) -> Bytes {
        let id = if self.reader.is_resumable() {
            format!("id: {}-{}\n", self.reader.stream, event.number)
        } else {
            String::new()
        };
        [b"event: message\n", id.as_bytes(), b"data: ", &event.line, b"\n\n"].concat().into()
    }
}

/// Reads the number of an event, as [`Events`] writes it: the stream, and the event.
pub(super) fn event_id(text: &str) -> Option<(u64, u64)> {
    let (stream, number) = text.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// Answers with events, the first of which may be here already.
pub(super) fn events(mut reader: Reader, first: Option<Event>) -> Response<Reply> {
    reader.is_streaming = true;
    let mut alive = interval(KEEP_ALIVE);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    alive.reset();
    let body = Reply::Events(Box::new(Events { reader, first, alive }));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

/// Answers with one JSON text.
pub(super) fn json(status: StatusCode, text: impl Into<Bytes>) -> Response<Reply> {
    let mut response = Response::new(Reply::Whole(Some(text.into())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Answers with nothing but a status.
pub(super) fn empty(status: StatusCode) -> Response<Reply> {
    let mut response = Response::new(Reply::Whole(None));
    *response.status_mut() = status;
    response
}

/// Answers that only these methods are served.
pub(super) fn only(methods: &'static str) -> Response<Reply> {
    let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// Answers with an error of JSON-RPC.
pub(super) fn error(
    status: StatusCode,
    id: Option<&Id>,
    code: i64,
    reason: &str,
) -> Response<Reply> {
    json(status, message::error(id, code, reason))
}

/// Answers with an error of JSON-RPC that carries data.
pub(super) fn error_with(
    status: StatusCode,
    id: Option<&Id>,
    code: i64,
    reason: &str,
    data: Option<Value>,
) -> Response<Reply> {
    let Some(data) = data else { return error(status, id, code, reason) };
    let id = id.map_or(Value::Null, Id::to_value);
    let error = json!({"code": code, "message": reason, "data": data});
    json(status, message::encode(&json!({"jsonrpc": "2.0", "id": id, "error": error})))
}

/// Tells proxies not to collect events.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");
