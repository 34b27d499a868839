//! One hop, as it is recorded: never a body, a secret or a query.

use std::net::IpAddr;
use std::time::Duration;

use aegx::{Digest, RecordType};
use evidence::{AppendError, Content, Journal, NewRecord};
use hyper::{Method, Uri};
use model::{Caller, Kind, Surface, Taint};
use scan::net::{Target, seen_host};
use serde_json::{Map, Value, json};

use crate::client::AskError;

/// What others call these records.
const ALIAS: &str = "NetworkRequest";
/// The longest path that is recorded, in characters; the rest may be anything.
const PATH_CHARS_MAX: usize = 120;

/// The longest name that is recorded, in characters; there are no longer ones.
const HOST_CHARS_MAX: usize = 253;
/// The longest name of a token that is recorded, in characters.
const TOKEN_CHARS_MAX: usize = 40;
/// The longest method that is recorded, in characters.
const METHOD_CHARS_MAX: usize = 32;
/// The longest reason that is recorded, in characters. With all the others a record is short enough to stand
/// in the journal itself.
const REASON_CHARS_MAX: usize = 300;

/// One hop of one exchange.
#[derive(Clone, Debug)]
pub struct EgressEvent {
    /// The same for all hops of one exchange.
    pub correlation: String,
    /// What asked: `web_fetch`, `web_search`, `proxy`.
    pub tool: &'static str,
    /// The name of the token by which a program opened this way. It is no secret.
    pub token: Option<String>,
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
    /// Is it a host of the inner network that the operator has opened?
    pub opened: bool,
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
            path: shortened(target.url().path(), PATH_CHARS_MAX),
            hop,
            ..Self::begun(tool, correlation.to_owned())
        }
    }

    /// Nothing of it is known yet.
    fn begun(tool: &'static str, correlation: String) -> Self {
        Self {
            correlation,
            tool,
            token: None,
            method: String::new(),
            scheme: "",
            host: String::new(),
            port: 0,
            path: String::new(),
            hop: 0,
            address: None,
            opened: false,
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
        event.host = shortened(host.trim_matches(['[', ']']), HOST_CHARS_MAX);
        event.port = web.and_then(url::Url::port_or_known_default).unwrap_or_default();
        event.path = shortened(web.map_or("", |it| it.path()), PATH_CHARS_MAX);
        event
    }

    /// What a program asks of the proxy.
    #[must_use]
    pub fn of_proxy(method: &Method, uri: &Uri, correlation: String) -> Self {
        let (scheme, port) = match uri.scheme_str() {
            Some("http") => ("http", 80),
            Some("https") => ("https", 443),
            None if method == Method::CONNECT => ("https", 443),
            Some(_) | None => ("", 0),
        };
        Self {
            method: shortened(method.as_str(), METHOD_CHARS_MAX),
            scheme,
            host: uri.host().map(plain_host).unwrap_or_default(),
            port: uri.port_u16().unwrap_or(port),
            path: shortened(uri.path(), PATH_CHARS_MAX),
            ..Self::begun("proxy", correlation)
        }
    }

    /// Notes that it did not end with an answer.
    pub fn failed(&mut self, error: &AskError) {
        self.outcome = match error {
            AskError::Refused(it) => {
                Outcome::Refused { rule: it.rule.as_str().to_owned(), reason: it.reason.clone() }
            }
            AskError::Failed(reason) | AskError::Unanswered(reason) => {
                Outcome::Failed { reason: reason.clone() }
            }
        };
    }

    /// Records it, beside the `decision` by which it happened if it came to one. It is durable with the next
    /// record that is waited for.
    ///
    /// # Errors
    /// If it cannot be recorded in any way.
    pub fn note(
        &self,
        journal: &Journal,
        who: &Caller,
        decision: Option<Digest>,
    ) -> Result<(), AppendError> {
        journal.post(self.record(who, decision)).map(drop)
    }

    fn record(&self, who: &Caller, decision: Option<Digest>) -> NewRecord {
        let record_type = match self.outcome {
            Outcome::Refused { .. } => RecordType::GuardDecision,
            Outcome::Answered(_) | Outcome::Tunnelled | Outcome::Failed { .. } => {
                RecordType::ToolCall
            }
        };
        NewRecord {
            parents: decision.into_iter().collect(),
            principal: aegx::Principal::Sys,
            taint: Taint::NONE,
            session: Some(who.session.clone()),
            agent: Some(who.agent.clone()),
            meta: Map::from_iter([("alias".to_owned(), ALIAS.into())]),
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
            "surface": Surface::NetworkIo.as_str(),
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
        if self.opened {
            add("opened_by", "operator".into());
        }
        if let Some(token) = &self.token {
            add("token", shortened(token, TOKEN_CHARS_MAX).into());
        }
        match &self.outcome {
            Outcome::Answered(status) => add("status", (*status).into()),
            Outcome::Tunnelled => {}
            Outcome::Refused { rule, reason } => {
                add("rule", rule.as_str().into());
                add("reason", shortened(reason, REASON_CHARS_MAX).into());
            }
            Outcome::Failed { reason } => {
                add("reason", shortened(reason, REASON_CHARS_MAX).into());
            }
        }
        value
    }
}

/// A host in its one form, so that whoever looks for it finds it in whatever spelling it was asked for.
fn plain_host(written: &str) -> String {
    let host = seen_host(&format!("http://{written}/"));
    let host = host.as_deref().unwrap_or(written);
    shortened(host.trim_matches(['[', ']']), HOST_CHARS_MAX)
}

fn shortened(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use aegx::Sorted;
    use evidence::INLINE_BYTES_MAX;

    use super::*;

    #[test]
    fn the_longest_event_stands_in_the_journal_itself() {
        let uri: Uri = format!("http://{}/{}", "a".repeat(400), "%".repeat(5000)).parse().unwrap();
        let method = Method::from_bytes("M".repeat(100).as_bytes()).unwrap();
        let mut event = EgressEvent::of_proxy(&method, &uri, "0".repeat(16));
        // The character that is longest when it is written down.
        let reason = "\u{1}".repeat(100_000);
        event.outcome = Outcome::Refused { rule: "net-name-leads-inside".to_owned(), reason };
        event.address = "2606:4700:4700:1111:2222:3333:4444:5555".parse().ok();
        event.token = Some("\u{1}".repeat(1000));
        event.opened = true;
        (event.sent_bytes, event.received_bytes) = (u64::MAX, u64::MAX);
        assert!(Sorted(&event.value()).to_string().len() < INLINE_BYTES_MAX);
    }

    #[test]
    fn what_a_program_asks_for_has_one_spelling_and_no_guesses() {
        for (method, uri, scheme, host, port) in [
            ("GET", "http://ORIGIN.example./x", "http", "origin.example", 80),
            ("GET", "http://0x7f.1:81/", "http", "127.0.0.1", 81),
            ("GET", "http://[2606:4700:0:0::1]/", "http", "2606:4700::1", 80),
            ("CONNECT", "Origin.Example:443", "https", "origin.example", 443),
            ("GET", "ftp://origin.example/", "", "origin.example", 0),
            ("GET", "/path", "", "", 0),
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let event = EgressEvent::of_proxy(&method, &uri.parse().unwrap(), String::new());
            let found = (event.scheme, event.host.as_str(), event.port);
            assert_eq!(found, (scheme, host, port), "{uri}");
        }
    }

    #[test]
    fn a_record_stands_beside_its_decision_in_the_session_of_who_asked() {
        let who = Caller {
            session: model::SessionId::parse("s").unwrap(),
            user: model::UserId::parse("u").unwrap(),
            agent: model::AgentId::parse("a").unwrap(),
            door: Kind::of_static("ipc"),
        };
        let event = EgressEvent::begun("proxy", String::new());
        let decision = Digest::of(b"decision");
        let record = event.record(&who, Some(decision));
        assert_eq!(record.parents, [decision]);
        assert_eq!(record.session, Some(who.session.clone()));
        assert_eq!(record.agent, Some(who.agent.clone()));
        assert_eq!(record.kind.as_str(), "egress");
        assert_eq!(record.meta.get("alias"), Some(&json!("NetworkRequest")));
        let Content::Json(value) = &record.content else { panic!("{record:?}") };
        assert_eq!(value["surface"], "NetworkIO");
        assert!(event.record(&who, None).parents.is_empty());
        assert!(matches!(record.record_type, RecordType::ToolCall));
        let (rule, reason) = (String::new(), String::new());
        let refused = EgressEvent { outcome: Outcome::Refused { rule, reason }, ..event };
        assert!(matches!(refused.record(&who, None).record_type, RecordType::GuardDecision));
    }
}
