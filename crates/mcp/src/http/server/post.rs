//! POST: one message of a client. Its body decides what it is; header fields must agree with it.

use super::auth::Principal;
use super::headers::{self, HEADER_MISMATCH, MISSING_CAPABILITY, Problem, UNSUPPORTED_VERSION};
use super::limits::{BODY_WAIT, STREAM_AFTER};
use super::live::{Full, Live, Reader};
use super::reply::{self, Reply};
use super::sessions::OpenError;
use super::{Endpoint, splice};
use crate::era::{self, Era, MODERN_VERSION};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::message::{
    Body, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Malformed, Message, SERVER_UNAVAILABLE,
};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use std::future::poll_fn;
use std::sync::Arc;
use tokio::time::timeout;

impl Endpoint {
    pub(super) async fn post(
        &self,
        request: Request<Incoming>,
        client: &Principal,
    ) -> Response<Reply> {
        let (head, body) = request.into_parts();
        if !is_json(&head.headers) {
            return reply::empty(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        let Some(takes) = Takes::of(&head.headers) else {
            return reply::empty(StatusCode::NOT_ACCEPTABLE);
        };
        let message = match read(body).await {
            Ok(message) => message,
            Err(response) => return *response,
        };
        match message.body.clone() {
            Body::Request { id, .. } => {
                self.post_request(&head.headers, client, &id, message, takes).await
            }
            Body::Notification { .. } | Body::Response { .. } => {
                self.post_other(&head.headers, client, message)
            }
        }
    }

    async fn post_request(
        &self,
        headers: &HeaderMap,
        client: &Principal,
        id: &Id,
        message: Message,
        takes: Takes,
    ) -> Response<Reply> {
        let era = era::of_request(&message);
        if let Err(problem) = headers::check(headers, &message, era) {
            return refuse(id, &problem);
        }
        let is_handshake = message.method() == "initialize";
        let live = match era {
            Era::Modern => self.sessions.shared(client).await,
            Era::Legacy if is_handshake => {
                return self.handshake(client, id, message, takes).await;
            }
            Era::Legacy => match self.session(headers, client) {
                Ok(live) => Ok(live),
                Err(status) => return missing_session(status, id),
            },
        };
        match live {
            Ok(live) => {
                let checked = match era {
                    Era::Modern => live.check_params(headers, &message),
                    Era::Legacy => Ok(()),
                };
                match checked {
                    Ok(()) => ask(&live, era, id, message, takes).await,
                    Err(problem) => refuse(id, &problem),
                }
            }
            Err(error) => unavailable(&error, id),
        }
    }

    /// Begins a session. It stays only if its client hears of it.
    async fn handshake(
        &self,
        client: &Principal,
        id: &Id,
        message: Message,
        takes: Takes,
    ) -> Response<Reply> {
        let (begun, live) = match self.sessions.open(client, self.auth.tells_apart()).await {
            Ok(opened) => opened,
            Err(error) => return unavailable(&error, id),
        };
        let mut response = ask(&live, Era::Legacy, id, message, takes).await;
        if response.status() == StatusCode::OK
            && !response.body().is_error()
            && let Ok(value) = HeaderValue::from_str(begun.id())
        {
            response.headers_mut().insert(headers::SESSION, value);
            begun.keep();
        }
        response
    }

    /// A notification, or a legacy client's answer to a question: nothing comes back.
    fn post_other(
        &self,
        headers: &HeaderMap,
        client: &Principal,
        message: Message,
    ) -> Response<Reply> {
        let is_notification = matches!(message.body, Body::Notification { .. });
        let has_session = headers.contains_key(headers::SESSION);
        let version = headers.get(headers::VERSION);
        // The modern era has no notification of clients that a server by HTTP would act on.
        if is_notification && !has_session && version.is_some_and(|it| it == MODERN_VERSION) {
            return reply::empty(StatusCode::ACCEPTED);
        }
        let checked = if is_notification {
            headers::check(headers, &message, Era::Legacy)
        } else {
            headers::check_legacy_version(headers)
        };
        if let Err(problem) = checked {
            return refuse_without_id(&problem);
        }
        match self.session(headers, client) {
            Ok(live) => match live.tell(message) {
                Ok(()) => reply::empty(StatusCode::ACCEPTED),
                Err(Full::Busy) => reply::empty(StatusCode::SERVICE_UNAVAILABLE),
                Err(Full::Over) => reply::empty(StatusCode::NOT_FOUND),
            },
            Err(status) => reply::empty(status),
        }
    }

    /// The legacy session that a request names: 400 where it names none, 404 where there is no such one.
    pub(super) fn session(
        &self,
        headers: &HeaderMap,
        client: &Principal,
    ) -> Result<Arc<Live>, StatusCode> {
        let id = headers.get(headers::SESSION).ok_or(StatusCode::BAD_REQUEST)?;
        let id = id.to_str().map_err(|_| StatusCode::NOT_FOUND)?;
        self.sessions.find(id, client).ok_or(StatusCode::NOT_FOUND)
    }
}

/// What a client takes as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Json,
    Events,
}

impl Takes {
    /// Reads `Accept`. Clients name both; one that names JSON alone gets the answer and nothing before it.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut all = headers.get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok()).peekable();
        if all.peek().is_none() {
            return Some(Self::Json);
        }
        let kinds = all.flat_map(|it| it.split(','));
        let kinds = kinds.map(|it| it.split(';').next().unwrap_or_default().trim());
        let kinds: Vec<String> = kinds.map(str::to_ascii_lowercase).collect();
        let has = |kind: &str| kinds.iter().any(|it| it == kind);
        if has("text/event-stream") || has("*/*") {
            return Some(Self::Events);
        }
        (has("application/json") || has("application/*")).then_some(Self::Json)
    }
}

/// Reads a body, within its size and time.
async fn read(body: Incoming) -> Result<Message, Box<Response<Reply>>> {
    let refuse = |status, refused: &Malformed| {
        Box::new(reply::error(status, None, refused.code(), &refused.to_string()))
    };
    // What is announced to be too long is not waited for.
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > MESSAGE_BYTES_MAX {
        return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &Malformed::TooLong));
    }
    let Ok(read) = timeout(BODY_WAIT, Limited::new(body, MESSAGE_BYTES_MAX).collect()).await else {
        return Err(Box::new(reply::empty(StatusCode::REQUEST_TIMEOUT)));
    };
    let body = read.map_err(|_| refuse(StatusCode::PAYLOAD_TOO_LARGE, &Malformed::TooLong))?;
    let line = splice::one_line(body.to_bytes().to_vec());
    Message::parse(&line).map_err(|refused| refuse(StatusCode::BAD_REQUEST, &refused))
}

async fn ask(
    live: &Arc<Live>,
    era: Era,
    id: &Id,
    message: Message,
    takes: Takes,
) -> Response<Reply> {
    match live.request(message, takes == Takes::Events) {
        Ok(reader) => answer(reader, era, id, takes).await,
        Err(full) => busy(full, id),
    }
}

/// Answers a request: with one JSON object where the answer comes first and soon, else with events.
async fn answer(reader: Reader, era: Era, id: &Id, takes: Takes) -> Response<Reply> {
    let next = poll_fn(|context| reader.poll_next(context));
    let first = match takes {
        Takes::Json => Ok(next.await),
        Takes::Events => timeout(STREAM_AFTER, next).await,
    };
    let event = match first {
        Err(_) => return reply::events(reader, None),
        Ok(None) if reader.is_over() => return busy(Full::Over, id),
        // Cancelled by the client itself.
        Ok(None) => return reply::empty(StatusCode::ACCEPTED),
        Ok(Some(event)) => event,
    };
    if !event.is_last {
        return reply::events(reader, Some(event));
    }
    let status = match era {
        Era::Modern => status_of(&event.line),
        Era::Legacy => StatusCode::OK,
    };
    reply::json(status, event.line)
}

/// The status that the modern era gives to an answer by its error code, whoever wrote the error: ourselves or the server.
fn status_of(line: &[u8]) -> StatusCode {
    let code = splice::find(line, &["error", "code"]);
    let code = code.and_then(|it| std::str::from_utf8(splice::at(line, &it)).ok()?.parse().ok());
    match code {
        Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

fn unavailable(error: &OpenError, id: &Id) -> Response<Reply> {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    reply::error(status, Some(id), SERVER_UNAVAILABLE, &error.to_string())
}

fn busy(full: Full, id: &Id) -> Response<Reply> {
    let status = match full {
        Full::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Full::Over => StatusCode::NOT_FOUND,
    };
    reply::error(status, Some(id), SERVER_UNAVAILABLE, &full.to_string())
}

fn refuse(id: &Id, problem: &Problem) -> Response<Reply> {
    let (code, reason) = (problem.code(), problem.to_string());
    reply::error_with(StatusCode::BAD_REQUEST, Some(id), code, &reason, problem.data())
}

fn refuse_without_id(problem: &Problem) -> Response<Reply> {
    let (code, reason) = (problem.code(), problem.to_string());
    reply::error_with(StatusCode::BAD_REQUEST, None, code, &reason, problem.data())
}

fn missing_session(status: StatusCode, id: &Id) -> Response<Reply> {
    let reason = if status == StatusCode::NOT_FOUND {
        "there is no such session, or it has ended; begin one with `initialize`"
    } else {
        "name the session in `Mcp-Session-Id`, or begin one with `initialize`"
    };
    reply::error(status, Some(id), INVALID_REQUEST, reason)
}

/// Whether the body is said to be JSON. Pages cannot say so without asking first.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_modern_era_have_their_status() {
        let status = |code: &str| {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"message":"-32601","code":{code}}}}}"#
            );
            status_of(line.as_bytes()).as_u16()
        };
        assert_eq!(["-32601", "-32020", "-32021", "-32022"].map(status), [404, 400, 400, 400]);
        assert_eq!(["-32602", "-32603", "-32000", "5", "null"].map(status), [200; 5]);
        let result = br#"{"jsonrpc":"2.0","id":1,"result":{"error":{"code":-32021}}}"#;
        assert_eq!(status_of(result), StatusCode::OK);
    }
}
