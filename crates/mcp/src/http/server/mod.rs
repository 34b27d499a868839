//! The client-facing side of streamable HTTP: one endpoint, many clients at once, both eras.
//!
//! A request passes in this order: its `Host` and `Origin`, who calls, its body, its header fields against its body. What
//! it asks for is done by a session of that client alone ([`Live`](live::Live)), which is the session over pipes.
//!
//! **Invariants**: `BodyDecides` (header fields are compared with the body and never acted on), `NobodyElses` (a session
//! is found by its id and its client together), `NobodyWaits` (no client that does not read holds up a session).

pub mod auth;
mod board;
mod headers;
pub mod limits;
mod live;
mod origin;
mod outbox;
mod params;
mod patience;
mod post;
mod reply;
mod sessions;
mod splice;

pub use live::{Backend, Started};
pub use origin::Origins;

use auth::{Authenticator, Principal, Refused, WELL_KNOWN};
use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue, ORIGIN, VARY, WWW_AUTHENTICATE,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use limits::{CONNECTIONS_MAX, FIELDS_MAX, HEAD_BYTES_MAX, HEAD_WAIT, SWEEP, WRITE_WAIT};
use origin::Foreign;
use patience::Patience;
use reply::Reply;
use serde_json::json;
use sessions::Sessions;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The path of the endpoint.
pub const PATH: &str = "/mcp";

/// What an endpoint is made of.
pub struct Parts {
    /// Names and pages that may be used.
    pub origins: Origins,
    /// Who may call.
    pub auth: Authenticator,
    /// Who starts servers.
    pub backend: Arc<dyn Backend>,
    /// Seconds since 1970.
    pub clock: fn() -> i64,
    /// Sessions at one time.
    pub sessions_max: usize,
    /// Time after which an idle session ends.
    pub idle_max: Duration,
    /// Who takes note of requests that were refused before they were read. It must not wait.
    pub refusals: Box<dyn Fn(Refusal) + Send + Sync>,
}

/// A reason for which a request is refused before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// A `Host` that is not on the list.
    Host,
    /// An `Origin` that is not on the list.
    Origin,
    /// No token.
    NoToken,
    /// A token that does not count.
    BadToken,
    /// A token that lacks a scope.
    Scope,
}

impl Refusal {
    /// Returns the word for this reason, as it stands in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Origin => "origin",
            Self::NoToken => "no_token",
            Self::BadToken => "bad_token",
            Self::Scope => "scope",
        }
    }
}

/// An endpoint.
pub struct Endpoint {
    origins: Origins,
    auth: Authenticator,
    sessions: Sessions,
    clock: fn() -> i64,
    refusals: Box<dyn Fn(Refusal) + Send + Sync>,
}

impl Endpoint {
    /// Makes an endpoint.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let Parts { origins, auth, backend, clock, sessions_max, idle_max, refusals } = parts;
        let sessions = Sessions::new(backend, sessions_max, idle_max);
        Arc::new(Self { origins, auth, sessions, clock, refusals })
    }

    /// Serves who comes to `listener`, until it is dropped.
    ///
    /// # Errors
    /// Never: what goes wrong with one connection ends that connection.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> Infallible {
        tokio::spawn(sweep(Arc::downgrade(&self)));
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            // Without room the connection is closed at once: whoever is here goes on.
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
            // Small messages go at once; a socket that cannot be told so works as well.
            let _ = stream.set_nodelay(true);
            let endpoint = Arc::clone(&self);
            tokio::spawn(async move {
                endpoint.converse(stream).await;
                drop(place);
            });
        }
    }

    /// Ends every session and waits until their servers have ended, but not longer than this.
    pub fn close(&self, wait: Duration) {
        let deadline = Instant::now() + wait;
        let all = self.sessions.end_all();
        while Instant::now() < deadline && !all.iter().all(|live| live.has_ended()) {
            std::thread::sleep(CLOSE_LOOK);
        }
    }

    async fn converse(self: Arc<Self>, stream: TcpStream) {
        let answering = service_fn(move |request| {
            let endpoint = Arc::clone(&self);
            async move { Ok::<_, Infallible>(endpoint.answer(request).await) }
        });
        // A connection that breaks off has nobody left to be told.
        let _broken = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_WAIT)
            .max_buf_size(HEAD_BYTES_MAX)
            .max_headers(FIELDS_MAX)
            .serve_connection(TokioIo::new(Patience::new(stream, WRITE_WAIT)), answering)
            .await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Reply> {
        if let Err(foreign) = self.origins.check(request.uri(), request.headers()) {
            (self.refusals)(match foreign {
                Foreign::Host => Refusal::Host,
                Foreign::Origin => Refusal::Origin,
            });
            return refused(StatusCode::FORBIDDEN, &foreign.to_string());
        }
        let origin = request.headers().get(ORIGIN).cloned();
        let mut response = self.route(request).await;
        if let Some(origin) = origin {
            allow_page(response.headers_mut(), origin);
        }
        response
    }

    async fn route(&self, request: Request<Incoming>) -> Response<Reply> {
        let path = request.uri().path();
        if let Some(rest) = path.strip_prefix(WELL_KNOWN)
            && (rest.is_empty() || rest == PATH)
            && let Some(metadata) = self.auth.metadata()
        {
            return match *request.method() {
                Method::GET => reply::json(StatusCode::OK, metadata),
                _ => reply::only("GET"),
            };
        }
        if path != PATH {
            return reply::empty(StatusCode::NOT_FOUND);
        }
        if *request.method() == Method::OPTIONS {
            return reply::empty(StatusCode::NO_CONTENT);
        }
        let client = match self.auth.check(request.headers(), (self.clock)()).await {
            Ok(client) => client,
            Err(why) => return self.unauthorized(&why),
        };
        match *request.method() {
            Method::POST => self.post(request, &client).await,
            Method::GET => self.get(request.headers(), &client),
            Method::DELETE => self.delete(request.headers(), &client),
            _ => reply::only("POST, GET, DELETE"),
        }
    }

    /// Opens a legacy client's stream, or reads one on that broke off.
    fn get(&self, headers: &HeaderMap, client: &Principal) -> Response<Reply> {
        if !headers.contains_key(headers::SESSION) {
            return reply::only("POST");
        }
        if headers::check_legacy_version(headers).is_err() {
            return reply::empty(StatusCode::BAD_REQUEST);
        }
        let live = match self.session(headers, client) {
            Ok(live) => live,
            Err(status) => return reply::empty(status),
        };
        let reader = match headers.get("last-event-id") {
            None => live.listen(),
            Some(last) => {
                let last = last.to_str().ok().and_then(reply::event_id);
                last.and_then(|(stream, number)| live.resume(stream, Some(number)))
            }
        };
        match reader {
            Some(reader) => reply::events(reader, None),
            None => {
                refused(StatusCode::BAD_REQUEST, "what came after this event is not kept any more")
            }
        }
    }

    fn delete(&self, headers: &HeaderMap, client: &Principal) -> Response<Reply> {
        if !headers.contains_key(headers::SESSION) {
            return reply::only("POST");
        }
        if let Err(status) = self.session(headers, client) {
            return reply::empty(status);
        }
        let id = headers.get(headers::SESSION).and_then(|it| it.to_str().ok());
        self.sessions.remove(id.unwrap_or_default());
        reply::empty(StatusCode::NO_CONTENT)
    }

    fn unauthorized(&self, why: &Refused) -> Response<Reply> {
        let (status, refusal) = match why {
            Refused::Missing => (StatusCode::UNAUTHORIZED, Refusal::NoToken),
            Refused::Invalid(_) => (StatusCode::UNAUTHORIZED, Refusal::BadToken),
            Refused::Scope(_) => (StatusCode::FORBIDDEN, Refusal::Scope),
        };
        (self.refusals)(refusal);
        let mut response = refused(status, &why.to_string());
        if let Ok(challenge) = HeaderValue::from_str(&self.auth.challenge(why)) {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// An answer to whoever did not get as far as a message.
fn refused(status: StatusCode, reason: &str) -> Response<Reply> {
    reply::json(status, json!({"error": reason}).to_string())
}

/// Lets a page read the answer whose origin is on the list.
fn allow_page(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("origin"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(FIELDS_OF_PAGES));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(headers::SESSION));
}

/// Ends what is idle, as long as the endpoint is there.
async fn sweep(endpoint: std::sync::Weak<Endpoint>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(endpoint) = endpoint.upgrade() else { return };
        endpoint.sessions.sweep(|client| endpoint.auth.may_be(client));
    }
}

/// Fields that a page may send.
const FIELDS_OF_PAGES: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name";
/// Pause after a connection could not be accepted: descriptors may be used up.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Time between two looks whether the sessions have ended.
const CLOSE_LOOK: Duration = Duration::from_millis(10);
