//! What a program asks for through the proxy: a tunnel, or one request that is passed on.
//!
//! INVARIANT (OneGate): whom is dialled stands in the permit, not in what the program says afterwards.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue, VIA};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use model::{AgentId, ToolCall};
use monitor::Permit;
use scan::net::{Inner, Refused, Rule, Scheme, Target};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use url::Position;

use crate::carried::Carried;
use crate::client::AskError;
use crate::dial::{DialError, Dialer, Dialled};
use crate::headers;
use crate::limits::{FIELDS_MAX, HEAD_BYTES_MIN, LOOKUPS_PER_AGENT_MAX, Limits};
use crate::passing::{Arriving, Driven, Leaving};
use crate::rules::Rules;
use crate::why::why;

/// The parameter of a call that says whom is dialled: a URL without its query, which may hold secrets and
/// would be recorded.
pub const URL: &str = "url";
/// The parameter of a call that says how it is asked.
pub const METHOD: &str = "method";

/// Fields that concern one connection and not the message.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Fields by which the proxy speaks itself. A server that sets them would speak in its name.
const OURS: &[&str] = &["proxy-status", "x-lazaret-refusal"];
/// How we call ourselves to servers.
const THROUGH: HeaderValue = HeaderValue::from_static("1.1 lazaret");

/// Dials for programs.
pub struct Ways {
    dialer: Arc<Dialer>,
    limits: Limits,
    /// The turns of each agent at looking names up.
    lookups: Mutex<HashMap<AgentId, Arc<Semaphore>>>,
}

impl Ways {
    /// Dials with `dialer`.
    #[must_use]
    pub fn new(dialer: Arc<Dialer>, limits: Limits) -> Self {
        Self { dialer, limits, lookups: Mutex::default() }
    }

    /// A connection to the host of the permitted call.
    ///
    /// # Errors
    /// If the rules or its addresses refuse it, or nobody answers.
    pub async fn tunnel(
        &self,
        permit: Permit<ToolCall>,
        rules: &Rules,
        carried: &Carried,
    ) -> Result<Dialled, AskError> {
        let lookups = self.lookups_of(&permit.who().agent);
        let target = Target::within(url(&permit.spend()), &rules.inner)?;
        rules.check_tunnel(&target)?;
        self.dial(&target, &lookups, carried).await
    }

    /// Passes the permitted request on, with the query, the fields and the body of `asked`, and gives its
    /// answer. The connection serves this one request: nobody else's answer can come through it.
    ///
    /// # Errors
    /// As [`Ways::tunnel`], and if more is sent than the rules allow.
    pub async fn pass_on(
        &self,
        permit: Permit<ToolCall>,
        rules: &Rules,
        asked: Request<Incoming>,
        carried: &Arc<Carried>,
    ) -> Result<Response<Arriving>, AskError> {
        let lookups = self.lookups_of(&permit.who().agent);
        let call = permit.spend();
        let target = with_query(url(&call), asked.uri(), &rules.inner)?;
        let method = method(&call).ok_or_else(|| refused("this is no method"))?;
        rules.check_method(&method)?;
        rules.check(&target)?;
        if target.scheme() != Scheme::Http {
            return Err(refused("https goes by CONNECT").into());
        }
        rules.check_payload(announced(asked.headers()))?;
        let request = request(method, &target, rules, asked, carried)?;
        let stream = self.dial(&target, &lookups, carried).await?.stream;
        let failed = |error: hyper::Error| AskError::Failed(why(&error).to_owned());
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(self.limits.head_bytes.max(HEAD_BYTES_MIN))
            .max_header_size(self.limits.head_bytes)
            .max_headers(FIELDS_MAX)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(failed)?;
        // What goes wrong with it is told to who waits for the answer.
        let driven = Driven(tokio::spawn(connection).abort_handle());
        let waited = self.wait(sender.send_request(request), carried).await;
        if let Some(refused) = carried.cut_off() {
            return Err(refused.clone().into());
        }
        let response = waited?;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let reason = "the server left HTTP, for which nobody had asked";
            return Err(AskError::Failed(reason.to_owned()));
        }
        headers::check_framing(response.headers())?;
        let (mut head, inner) = response.into_parts();
        strip(&mut head.headers);
        OURS.iter().for_each(|it| drop(head.headers.remove(*it)));
        head.version = Version::HTTP_11;
        head.extensions.clear();
        let body = Arriving { inner, carried: Arc::clone(carried), _connection: driven };
        Ok(Response::from_parts(head, body))
    }

    fn lookups_of(&self, agent: &AgentId) -> Arc<Semaphore> {
        let mut all = self.lookups.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Semaphore::new(LOOKUPS_PER_AGENT_MAX));
        // As many as there are agents, and those have accounts.
        Arc::clone(all.entry(agent.clone()).or_insert_with(new))
    }

    async fn dial(
        &self,
        target: &Target,
        lookups: &Arc<Semaphore>,
        carried: &Carried,
    ) -> Result<Dialled, AskError> {
        match self.dialer.dial_in_turn(target.host(), target.port(), Some(lookups)).await {
            Ok(dialled) => {
                carried.dialled(dialled.address.ip());
                Ok(dialled)
            }
            Err(DialError::Refused(refused)) => Err(refused.into()),
            Err(error) => Err(AskError::Failed(error.to_string())),
        }
    }

    /// Waits for the head of an answer, longer while there is still something being sent.
    async fn wait(
        &self,
        answer: impl Future<Output = hyper::Result<Response<Incoming>>>,
        carried: &Carried,
    ) -> Result<Response<Incoming>, AskError> {
        let mut answer = pin!(answer);
        loop {
            let before = carried.sent();
            match timeout(self.limits.head, &mut answer).await {
                Ok(answered) => {
                    return answered.map_err(|error| AskError::Failed(why(&error).to_owned()));
                }
                Err(_) if carried.sent() != before => {}
                Err(_) => {
                    let waited = self.limits.head.as_millis();
                    return Err(AskError::Failed(format!("no answer within {waited} ms")));
                }
            }
        }
    }
}

/// The request as the server gets it: what names the host is made anew from what was vetted.
fn request(
    method: Method,
    target: &Target,
    rules: &Rules,
    asked: Request<Incoming>,
    carried: &Arc<Carried>,
) -> Result<Request<Leaving>, Refused> {
    let (mut head, inner) = asked.into_parts();
    let url = target.url();
    let path = &url[Position::BeforePath..Position::AfterQuery];
    head.uri = path.parse().map_err(|_| refused("this cannot be asked for"))?;
    head.method = method;
    head.version = Version::HTTP_11;
    head.extensions.clear();
    strip(&mut head.headers);
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let host = HeaderValue::try_from(host).map_err(|_| refused("this is no host"))?;
    head.headers.insert(HOST, host);
    head.headers.append(VIA, THROUGH);
    let bytes_max = rules.payload_bytes_max;
    let body = Leaving { inner, carried: Arc::clone(carried), bytes_max };
    Ok(Request::from_parts(head, body))
}

/// Takes off what concerns one connection only, and what `connection` names as such.
fn strip(headers: &mut HeaderMap) {
    headers::one_framing(headers);
    let named: Vec<HeaderName> = headers
        .get_all("connection")
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .filter_map(|it| HeaderName::try_from(it.trim()).ok())
        // Where a body ends is never a matter of taste.
        .filter(|it| *it != CONTENT_LENGTH)
        .collect();
    named.iter().for_each(|it| drop(headers.remove(it)));
    HOP_BY_HOP.iter().for_each(|it| drop(headers.remove(*it)));
}

/// The length of a body, where it is said.
fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    length.and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn refused(reason: &str) -> Refused {
    Refused { rule: Rule::EgressProxy, reason: reason.to_owned() }
}

fn url(call: &ToolCall) -> &str {
    call.call.args().get(URL).and_then(Value::as_str).unwrap_or_default()
}

/// The permitted URL with the query of the request. The two must be of one request.
fn with_query(permitted: &str, asked: &Uri, inner: &Inner) -> Result<Target, Refused> {
    match asked.query() {
        Some(query) if !permitted.contains(['?', '#']) => {
            Target::within(&format!("{permitted}?{query}"), inner)
        }
        Some(_) | None => Target::within(permitted, inner),
    }
}

fn method(call: &ToolCall) -> Option<Method> {
    let method = call.call.args().get(METHOD).and_then(Value::as_str)?;
    Method::from_bytes(method.as_bytes()).ok()
}
