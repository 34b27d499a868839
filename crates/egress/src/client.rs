//! One exchange with the web: a request, the redirects it meets, and the answer.

use std::collections::HashSet;
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, LOCATION, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use scan::net::{Inner, Refused, Rule, Target};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::body;
use crate::connect::{ConnectError, Connector};
use crate::dial::{DialError, Dialer};
use crate::event::{EgressEvent, Outcome};
use crate::headers;
use crate::limits::{FIELDS_MAX, HEAD_BYTES_MIN, Limits, REDIRECTS_MAX};
use crate::rules::Rules;
use crate::slots::Slots;
use crate::tls::{self, Trust, TrustError};
use crate::using::Using;
use crate::why::why;

/// How we call ourselves.
pub(crate) const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("lazaret/", env!("CARGO_PKG_VERSION")));
/// How answers may be packed.
const PACKED: HeaderValue = HeaderValue::from_static("gzip, deflate");
/// Connections that are kept for the next request to the same host.
const IDLE_PER_HOST_MAX: usize = 4;
/// How long they are kept.
pub(crate) const IDLE_KEPT: Duration = Duration::from_secs(30);

/// Asks the web, in bounds.
pub struct Client {
    pool: Pool<Connector, Full<Bytes>>,
    limits: Limits,
    slots: Slots,
}

/// What is asked for, by whom, under which rules.
pub(crate) struct Ask<'a> {
    /// What asks: `web_fetch`, `web_search`, `oauth_call`.
    pub(crate) tool: &'static str,
    pub(crate) session: &'a str,
    pub(crate) correlation: String,
    pub(crate) target: Target,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    /// What is sent along.
    pub(crate) body: Bytes,
    /// Are redirects followed? Never with somebody's token.
    pub(crate) follows: bool,
    pub(crate) rules: &'a Rules,
    /// For everything.
    pub(crate) total: Duration,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) target: Target,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody was asked, or nobody any more.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It was begun and failed.
    #[error("{0}")]
    Failed(String),
    /// It was begun, and not a byte of an answer came: the sentence is ours, and nobody else's word is in it.
    #[error("{0}")]
    Unanswered(String),
}

impl Client {
    /// A client that dials with `dialer` and believes `trust`.
    ///
    /// # Errors
    /// If nobody vouches for servers.
    pub fn new(dialer: Arc<Dialer>, trust: &Trust, limits: Limits) -> Result<Self, TrustError> {
        let tls = tls::config(trust, &[b"h2", b"http/1.1"])?;
        let answer_bytes = limits.wire_bytes.saturating_add(limits.head_bytes) as u64;
        let connector = Connector { dialer, tls, handshake: limits.connect, answer_bytes };
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_KEPT)
            .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
            .http1_max_buf_size(limits.head_bytes.max(HEAD_BYTES_MIN))
            .http1_max_headers(FIELDS_MAX)
            .http2_max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .http2_keep_alive_interval(limits.idle / 2)
            .http2_keep_alive_timeout(limits.idle / 2)
            .build(connector);
        Ok(Self { pool, limits, slots: Slots::default() })
    }

    /// Asks and follows redirects. Each hop is told to `see` when it has ended, however it did, also one that
    /// was not taken.
    pub(crate) async fn ask(
        &self,
        mut ask: Ask<'_>,
        see: &mut (dyn FnMut(EgressEvent) + Send),
    ) -> Result<Answer, AskError> {
        let end = Instant::now() + ask.total;
        let session = format!("session {}", ask.session);
        let slot = self.slots.take(&session, self.limits.per_session, "of this session");
        let _slot = slot.map_err(|refused| {
            let event = EgressEvent::to(&ask.target, ask.tool, &ask.correlation, 0);
            not_taken(event, &ask.method, refused, see)
        })?;
        let mut visited = HashSet::new();
        loop {
            let hop = visited.len();
            let begun = Instant::now();
            let mut event = EgressEvent::to(&ask.target, ask.tool, &ask.correlation, hop);
            event.method = ask.method.to_string();
            let outcome = timeout_at(end, self.hop(&ask, &mut event)).await;
            let outcome = outcome.unwrap_or_else(|_| Err(late(ask.total, event.received_bytes)));
            event.took = begun.elapsed();
            if let Err(error) = &outcome {
                event.failed(error);
            }
            see(event);
            let answer = outcome?;
            let Some(location) = location(&answer).filter(|_| ask.follows) else {
                return Ok(answer);
            };
            visited.insert(ask.target.url().clone());
            let inner = &ask.rules.inner;
            let next = onward(&ask.target, &location, &visited, inner).map_err(|refused| {
                let (from, hop) = (&ask.target, hop.saturating_add(1));
                let event = EgressEvent::astray(from, &location, ask.tool, &ask.correlation, hop);
                not_taken(event, &ask.method, refused, see)
            })?;
            headers::on_to(&mut ask.headers, &ask.target, &next);
            ask.target = next;
        }
    }

    /// One hop: the rules, a vetted connection, a question and its answer.
    async fn hop(&self, ask: &Ask<'_>, event: &mut EgressEvent) -> Result<Answer, AskError> {
        ask.rules.check_method(&ask.method)?;
        ask.rules.check(&ask.target)?;
        ask.rules.check_payload(ask.body.len() as u64)?;
        event.opened = ask.rules.opens(&ask.target);
        event.sent_bytes = ask.body.len() as u64;
        let host = ask.target.host().to_string();
        let _slot =
            self.slots.take(&format!("host {host}"), self.limits.per_host, "from this host")?;
        let (using, response) = self.head(ask, event).await?;
        event.outcome = Outcome::Answered(response.status().as_u16());
        headers::check_head(response.headers(), self.limits.head_bytes)?;
        headers::check_framing(response.headers())?;
        let answer = self.answer(ask, response, event).await?;
        using.ended_well();
        Ok(answer)
    }

    /// Asks, and waits for the head of the answer. A connection that was kept may have been closed by its server in the
    /// same moment: then it is asked by another, and at last by a new one.
    async fn head(
        &self,
        ask: &Ask<'_>,
        event: &mut EgressEvent,
    ) -> Result<(Using, Response<Incoming>), AskError> {
        let end = Instant::now() + self.limits.head;
        let mut others = IDLE_PER_HOST_MAX;
        loop {
            let mut request = self.request(ask)?;
            let mut using = Using::of(&mut request);
            let waiting = timeout_at(end, using.until(self.pool.request(request))).await;
            event.address = using.address();
            match waiting {
                Ok(Ok(response)) => return Ok((using, response)),
                Ok(Err(_)) if others > 0 && using.was_stale(!ask.method.is_safe()) => others -= 1,
                Ok(Err(error)) => {
                    event.address = event.address.or_else(|| dialled(&error));
                    return Err(if_silent(&using, of_pool(&error)));
                }
                Err(_) => {
                    let waited = self.limits.head.as_millis();
                    let late = AskError::Failed(format!("no answer within {waited} ms"));
                    return Err(if_silent(&using, late));
                }
            }
        }
    }

    fn request(&self, ask: &Ask<'_>) -> Result<Request<Full<Bytes>>, AskError> {
        let mut request = Request::builder()
            .method(&ask.method)
            .uri(ask.target.url().as_str())
            .body(Full::new(ask.body.clone()))
            .map_err(|error| {
                let reason = format!("it cannot be asked for: {error}");
                AskError::Refused(Refused { rule: Rule::NotAUrl, reason })
            })?;
        let fields = request.headers_mut();
        *fields = ask.headers.clone();
        fields.insert(ACCEPT_ENCODING, PACKED);
        fields.entry(USER_AGENT).or_insert(AGENT);
        Ok(request)
    }

    async fn answer(
        &self,
        ask: &Ask<'_>,
        response: Response<Incoming>,
        event: &mut EgressEvent,
    ) -> Result<Answer, AskError> {
        let (head, body) = response.into_parts();
        let target = ask.target.clone();
        // What a redirect has to say stands in its head.
        let wanted = ask.method != Method::HEAD && !is_redirect(head.status);
        let body = if wanted {
            let packed: Vec<_> = head.headers.get_all(CONTENT_ENCODING).iter().collect();
            let packed: Vec<_> =
                packed.into_iter().map(|it| String::from_utf8_lossy(it.as_bytes())).collect();
            let packed = (!packed.is_empty()).then(|| packed.join(","));
            let read = body::read(body, packed.as_deref(), &self.limits, &mut event.received_bytes);
            read.await.map_err(|error| AskError::Failed(error.to_string()))?
        } else {
            Vec::new()
        };
        Ok(Answer { target, status: head.status, headers: head.headers, body })
    }

    /// The connections that are kept.
    pub(crate) fn pool(&self) -> &Pool<Connector, Full<Bytes>> {
        &self.pool
    }

    /// The limits that it keeps.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where an answer sends us, if it does: every such field, as text.
fn location(answer: &Answer) -> Option<String> {
    if !is_redirect(answer.status) {
        return None;
    }
    let all: Vec<_> = answer.headers.get_all(LOCATION).iter().map(HeaderValue::as_bytes).collect();
    let (first, more) = all.split_first()?;
    // One that is repeated is one. Two are none: a line break is no part of any URL.
    let more = more.iter().filter(|it| *it != first);
    let all: Vec<_> =
        std::iter::once(first).chain(more).map(|it| String::from_utf8_lossy(it)).collect();
    Some(all.join("\n"))
}

/// The target that `location` names, if it may be asked for after all those that were `visited`.
fn onward(
    from: &Target,
    location: &str,
    visited: &HashSet<Url>,
    inner: &Inner,
) -> Result<Target, Refused> {
    let next = from.join_within(location, inner)?;
    if visited.contains(next.url()) {
        let reason = "the redirects go round in a circle".to_owned();
        return Err(Refused { rule: Rule::EgressCircle, reason });
    }
    if visited.len() > REDIRECTS_MAX {
        let reason = format!("there are more than {REDIRECTS_MAX} redirects");
        return Err(Refused { rule: Rule::EgressRedirects, reason });
    }
    Ok(next)
}

/// Tells `see` of a hop that is not taken.
fn not_taken(
    mut event: EgressEvent,
    method: &Method,
    refused: Refused,
    see: &mut (dyn FnMut(EgressEvent) + Send),
) -> AskError {
    event.method = method.to_string();
    let error = AskError::Refused(refused);
    event.failed(&error);
    see(event);
    error
}

fn late(total: Duration, received_bytes: u64) -> AskError {
    let total = total.as_millis();
    AskError::Failed(match received_bytes {
        0 => format!("it took longer than {total} ms"),
        some => format!("it took longer than {total} ms: the body came as far as {some} bytes"),
    })
}

/// What failed is unanswered if nothing ever came over its connection.
fn if_silent(using: &Using, error: AskError) -> AskError {
    match error {
        AskError::Failed(reason) if using.is_silent() => AskError::Unanswered(reason),
        AskError::Failed(_) | AskError::Unanswered(_) | AskError::Refused(_) => error,
    }
}

/// Who was dialled for a request that failed before it had a connection.
fn dialled(error: &hyper_util::client::legacy::Error) -> Option<IpAddr> {
    let mut source = error.source();
    while let Some(cause) = source {
        match cause.downcast_ref() {
            Some(ConnectError::Tls { peer, .. }) => return Some(peer.ip()),
            Some(ConnectError::Dial(DialError::Connect { address, .. })) => {
                return Some(address.ip());
            }
            Some(ConnectError::Dial(_)) | None => source = cause.source(),
        }
    }
    None
}

/// What a failed request comes down to.
pub(crate) fn of_pool(error: &hyper_util::client::legacy::Error) -> AskError {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(ConnectError::Dial(DialError::Refused(refused))) = cause.downcast_ref() {
            return refused.clone().into();
        }
        match cause.downcast_ref::<ConnectError>() {
            Some(ConnectError::Dial(DialError::Connect { error, .. })) => {
                // Which address a name has is what somebody else says.
                return AskError::Unanswered(format!("no connection: {error}"));
            }
            Some(ConnectError::Dial(error)) => return AskError::Unanswered(error.to_string()),
            // Of a handshake both ends have their part.
            Some(error @ ConnectError::Tls { .. }) => return AskError::Failed(error.to_string()),
            None => {}
        }
        source = cause.source();
    }
    AskError::Failed(why(error).to_owned())
}

#[cfg(test)]
mod tests;
