//! One hop, as it is recorded: never a body, a secret or a query.

use std::net::IpAddr;
use std::time::Duration;

use aegx::{Digest, RecordType};
use evidence::{Content, NewRecord};
use hyper::{Method, Uri};
use model::{Caller, Kind, Taint};
use scan::net::Target;
use serde_json::{Map, Value, json};

use crate::client::AskError;

/// The longest path that is recorded, in characters; the rest may be anything.
const PATH_CHARS_MAX: usize = 120;

/// The longest name that is recorded, in characters; there are no longer ones.
const HOST_CHARS_MAX: usize = 253;
/// The longest method that is recorded, in characters.
const METHOD_CHARS_MAX: usize = 32;

/// One hop of one exchange.
#[derive(Clone, Debug)]
pub struct EgressEvent {
    /// The same for all hops of one exchange.
    pub correlation: String,
    /// What asked: `web_fetch`, `web_search`, `proxy`.
    pub tool: &'static str,
    /// `GET`, `POST`, `CONNECT`, …
    pub method: String,
    /// `https` or `http`; none where it is not known.
    pub scheme: &'static str,
    /// Whom.
    pub host: String,
    /// Where.
    pub port: u16,
    /// What for, without its query.
    pub path: String,
    /// The how-manieth of its exchange, from 0.
    pub hop: usize,
    /// The address that was dialled, if one was.
    pub address: Option<IpAddr>,
    /// How it went.
    pub outcome: Outcome,
    /// Bytes sent, of bodies and tunnels.
    pub sent_bytes: u64,
    /// Bytes received, of bodies and tunnels.
    pub received_bytes: u64,
    /// How long it took.
    pub took: Duration,
}

/// How a hop went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There was an answer with this status.
    Answered(u16),
    /// A tunnel was open and has ended.
    Tunnelled,
    /// It was refused, by this rule.
    Refused {
        /// The rule.
        rule: String,
        /// Why.
        reason: String,
    },
    /// It failed.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Outcome {
    fn decision(&self) -> &'static str {
        match self {
            Self::Answered(_) | Self::Tunnelled | Self::Failed { .. } => "allow",
            Self::Refused { .. } => "deny",
        }
    }
}

impl EgressEvent {
    /// A hop to `target` of which nothing is known yet.
    pub(crate) fn to(target: &Target, tool: &'static str, correlation: &str, hop: usize) -> Self {
        Self {
            scheme: target.scheme().as_str(),
            host: target.host().to_string(),
            port: target.port(),
            path: shortened(target.url().path()),
            hop,
            ..Self::begun(tool, correlation.to_owned())
        }
    }

    /// Nothing of it is known yet.
    fn begun(tool: &'static str, correlation: String) -> Self {
        Self {
            correlation,
            tool,
            method: String::new(),
            scheme: "",
            host: String::new(),
            port: 0,
            path: String::new(),
            hop: 0,
            address: None,
            outcome: Outcome::Failed { reason: "did not end".to_owned() },
            sent_bytes: 0,
            received_bytes: 0,
            took: Duration::ZERO,
        }
    }

    /// A hop to which `from` led with `location` and that was not taken, whatever stands there.
    pub(crate) fn astray(
        from: &Target,
        location: &str,
        tool: &'static str,
        correlation: &str,
        hop: usize,
    ) -> Self {
        let mut event = Self::to(from, tool, correlation, hop);
        let url = from.url().join(location).ok();
        // What has another scheme may carry its content in its path.
        let web = url.as_ref().filter(|it| matches!(it.scheme(), "http" | "https"));
        event.scheme = match web.map(url::Url::scheme) {
            Some("https") => "https",
            Some(_) => "http",
            None => "",
        };
        let host = web.and_then(url::Url::host_str).unwrap_or_default();
        event.host = host.trim_matches(['[', ']']).to_owned();
        event.port = web.and_then(url::Url::port_or_known_default).unwrap_or_default();
        event.path = shortened(web.map_or("", |it| it.path()));
        event
    }

    /// What a program asks of the proxy.
    #[must_use]
    pub fn of_proxy(method: &Method, uri: &Uri, correlation: String) -> Self {
        let scheme = match uri.scheme_str() {
            Some("http") => "http",
            Some(_) | None => "https",
        };
        Self {
            method: method.as_str().chars().take(METHOD_CHARS_MAX).collect(),
            scheme,
            host: uri.host().unwrap_or_default().chars().take(HOST_CHARS_MAX).collect(),
            port: uri.port_u16().unwrap_or(if scheme == "http" { 80 } else { 443 }),
            path: shortened(uri.path()),
            ..Self::begun("proxy", correlation)
        }
    }

    /// Notes that it did not end with an answer.
    pub fn failed(&mut self, error: &AskError) {
        self.outcome = match error {
            AskError::Refused(it) => {
                Outcome::Refused { rule: it.rule.to_owned(), reason: it.reason.clone() }
            }
            AskError::Failed(reason) => Outcome::Failed { reason: reason.clone() },
        };
    }

    /// The record of it, beside the decision `record` by which it happened.
    #[must_use]
    pub fn record(&self, who: &Caller, record: Digest) -> NewRecord {
        NewRecord { parents: vec![record], ..self.undecided(who) }
    }

    /// The record of what did not even come to a decision.
    #[must_use]
    pub fn undecided(&self, who: &Caller) -> NewRecord {
        let record_type = match self.outcome {
            Outcome::Refused { .. } => RecordType::GuardDecision,
            Outcome::Answered(_) | Outcome::Tunnelled | Outcome::Failed { .. } => {
                RecordType::ToolCall
            }
        };
        NewRecord {
            principal: aegx::Principal::Sys,
            taint: Taint::NONE,
            session: Some(who.session.clone()),
            agent: Some(who.agent.clone()),
            meta: Map::new(),
            content: Content::Json(self.value()),
            ..NewRecord::of_host(record_type, Kind::of_static("egress"), Value::Null)
        }
    }

    fn value(&self) -> Value {
        let millis = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
        let mut value = json!({
            "correlation": self.correlation,
            "decision": self.outcome.decision(),
            "hop": self.hop,
            "host": self.host,
            "method": self.method,
            "path": self.path,
            "port": self.port,
            "received_bytes": self.received_bytes,
            "scheme": self.scheme,
            "sent_bytes": self.sent_bytes,
            "took_ms": millis,
            "tool": self.tool,
        });
        let mut add = |name: &str, found: Value| {
            if let Some(fields) = value.as_object_mut() {
                fields.insert(name.to_owned(), found);
            }
        };
        if let Some(address) = self.address {
            add("address", address.to_string().into());
        }
        match &self.outcome {
            Outcome::Answered(status) => add("status", (*status).into()),
            Outcome::Tunnelled => {}
            Outcome::Refused { rule, reason } => {
                add("rule", rule.as_str().into());
                add("reason", reason.as_str().into());
            }
            Outcome::Failed { reason } => add("reason", reason.as_str().into()),
        }
        value
    }
}

fn shortened(path: &str) -> String {
    path.chars().take(PATH_CHARS_MAX).collect()
}
