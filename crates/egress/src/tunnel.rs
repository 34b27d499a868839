//! What a program asks for through the proxy: a tunnel, or one request that is passed on.
//!
//! INVARIANT (OneGate): whom is dialled stands in the permit, not in what the program says afterwards.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderName;
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use model::ToolCall;
use monitor::Permit;
use scan::net::{Refused, Scheme, Target};
use serde_json::Value;
use tokio::time::timeout;

use crate::client::{AskError, of_pool};
use crate::connect::{Connector, Peer};
use crate::dial::{DialError, Dialer, Dialled};
use crate::limits::Limits;
use crate::rules::Rules;
use crate::tls::{self, Trust, TrustError};

/// The parameter of a call that says whom is dialled.
pub const URL: &str = "url";
/// The parameter of a call that says how it is asked.
pub const METHOD: &str = "method";

/// Connections that are kept for the next request to the same host.
const IDLE_PER_HOST_MAX: usize = 8;
/// How long they are kept.
const IDLE_KEPT: Duration = Duration::from_secs(30);
/// Fields that concern one connection and not the message.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Dials for programs.
pub struct Ways {
    dialer: Arc<Dialer>,
    pool: Pool<Connector, Incoming>,
    limits: Limits,
}

/// An answer that is passed on, and whom it is from.
pub struct Passed {
    /// The answer, its body still on the way.
    pub response: Response<Incoming>,
    /// The address that was dialled, where it is known.
    pub address: Option<std::net::IpAddr>,
}

impl Ways {
    /// Dials with `dialer`.
    ///
    /// # Errors
    /// If nobody vouches for servers.
    pub fn new(dialer: Arc<Dialer>, trust: &Trust, limits: Limits) -> Result<Self, TrustError> {
        let tls = tls::config(trust, &[b"http/1.1"])?;
        let connector = Connector { dialer: Arc::clone(&dialer), tls, handshake: limits.connect };
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_KEPT)
            .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
            .build(connector);
        Ok(Self { dialer, pool, limits })
    }

    /// A connection to the host of the permitted call.
    ///
    /// # Errors
    /// If the rules or its addresses refuse it, or nobody answers.
    pub async fn tunnel(
        &self,
        permit: Permit<ToolCall>,
        rules: &Rules,
    ) -> Result<Dialled, AskError> {
        let target = target(&permit.spend())?;
        rules.check(&target)?;
        match self.dialer.dial(target.host(), target.port()).await {
            Ok(dialled) => Ok(dialled),
            Err(DialError::Refused(refused)) => Err(refused.into()),
            Err(error) => Err(AskError::Failed(error.to_string())),
        }
    }

    /// Passes the permitted request on, with the fields and the body of `asked`, and gives its answer.
    ///
    /// # Errors
    /// As [`Ways::tunnel`].
    pub async fn pass_on(
        &self,
        permit: Permit<ToolCall>,
        rules: &Rules,
        asked: Request<Incoming>,
    ) -> Result<Passed, AskError> {
        let call = permit.spend();
        let target = target(&call)?;
        rules.check(&target)?;
        if target.scheme() != Scheme::Http {
            let reason = "https goes by CONNECT".to_owned();
            return Err(Refused { rule: "egress-proxy", reason }.into());
        }
        let (mut head, body) = asked.into_parts();
        let bad = |reason: String| AskError::Refused(Refused { rule: "egress-proxy", reason });
        head.uri = target.url().as_str().parse().map_err(|it| bad(format!("no URL: {it}")))?;
        head.method = method(&call).ok_or_else(|| bad("no method".to_owned()))?;
        head.headers.remove("host");
        head.extensions.clear();
        strip(&mut head.headers);
        let waiting = self.pool.request(Request::from_parts(head, body));
        let response = match timeout(self.limits.head, waiting).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(of_pool(&error)),
            Err(_) => {
                let waited = self.limits.head.as_millis();
                return Err(AskError::Failed(format!("no answer within {waited} ms")));
            }
        };
        let address = response.extensions().get::<Peer>().map(|it| it.0.ip());
        let mut response = response;
        strip(response.headers_mut());
        Ok(Passed { response, address })
    }
}

/// Takes off what concerns one connection only, and what `connection` names as such.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all("connection")
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .filter_map(|it| HeaderName::try_from(it.trim()).ok())
        .collect();
    named.iter().for_each(|it| drop(headers.remove(it)));
    HOP_BY_HOP.iter().for_each(|it| drop(headers.remove(*it)));
}

fn target(call: &ToolCall) -> Result<Target, Refused> {
    let url = call.call.args().get(URL).and_then(Value::as_str).unwrap_or_default();
    Target::parse(url)
}

fn method(call: &ToolCall) -> Option<Method> {
    let method = call.call.args().get(METHOD).and_then(Value::as_str)?;
    Method::from_bytes(method.as_bytes()).ok()
}
