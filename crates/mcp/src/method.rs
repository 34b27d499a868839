//! Methods of the protocol, and what each is for the gate. One row per method.

use crate::gate::{Kind, Offer};
use crate::message::Message;
use serde_json::{Map, Value};

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// `initialize` or `server/discover`.
    Handshake,
    Ping,
    LogLevel,
    List(List),
    Gated(Gated),
}

/// A list of what a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
}

/// A call that the gate judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gated {
    pub(crate) kind: Kind,
    pub(crate) subject: Subject,
}

/// Where a call says what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// `params.name`.
    Name,
    /// `params.uri`.
    Uri,
    /// `params.ref.name` or `params.ref.uri`.
    Reference,
    /// `params.taskId`.
    Task,
    /// Nowhere: it is the method.
    Method,
}

impl List {
    /// The method that lists it.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
        }
    }

    /// The key of the items within the result.
    pub(crate) fn key(self) -> &'static str {
        self.offer().map_or("tools", Offer::key)
    }

    /// What is listed, unless it is tools.
    pub(crate) fn offer(self) -> Option<Offer> {
        match self {
            Self::Tools => None,
            Self::Prompts => Some(Offer::Prompts),
            Self::Resources => Some(Offer::Resources),
            Self::ResourceTemplates => Some(Offer::ResourceTemplates),
        }
    }

    /// The capability that a server declares who has it.
    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::ResourceTemplates => "resources",
        }
    }
}

/// Tells what is done with a request of the client.
pub(crate) fn classify(method: &str) -> Class {
    let gated = |kind, subject| Class::Gated(Gated { kind, subject });
    match method {
        "initialize" | "server/discover" => Class::Handshake,
        "ping" => Class::Ping,
        "logging/setLevel" => Class::LogLevel,
        "tools/list" => Class::List(List::Tools),
        "prompts/list" => Class::List(List::Prompts),
        "resources/list" => Class::List(List::Resources),
        "resources/templates/list" => Class::List(List::ResourceTemplates),
        "tools/call" => gated(Kind::Tool, Subject::Name),
        "prompts/get" => gated(Kind::Prompt, Subject::Name),
        "resources/read" => gated(Kind::Resource, Subject::Uri),
        "resources/subscribe" | "resources/unsubscribe" => gated(Kind::Subscription, Subject::Uri),
        "subscriptions/listen" => gated(Kind::Subscription, Subject::Method),
        "completion/complete" => gated(Kind::Completion, Subject::Reference),
        "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => {
            gated(Kind::Task, Subject::Task)
        }
        _ => gated(Kind::Other, Subject::Method),
    }
}

/// Whether the modern era has no such method any more.
pub(crate) fn is_legacy_only(method: &str) -> bool {
    matches!(
        method,
        "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe"
    )
}

/// Tells the kind of a request that a server makes of the client, or puts into `inputRequests`.
pub(crate) fn server_request_kind(method: &str) -> Kind {
    match method {
        "sampling/createMessage" => Kind::Sampling,
        "elicitation/create" => Kind::Elicitation,
        "roots/list" => Kind::Roots,
        _ => Kind::Other,
    }
}

/// Reads what a request is about; `None` where it does not say.
pub(crate) fn subject(message: &Message, subject: Subject) -> Option<&str> {
    let params = message.params();
    match subject {
        Subject::Name => params.get("name")?.as_str(),
        Subject::Uri => params.get("uri")?.as_str(),
        Subject::Reference => {
            let reference = params.get("ref")?;
            reference.get("name").or_else(|| reference.get("uri"))?.as_str()
        }
        Subject::Task => params.get("taskId")?.as_str(),
        Subject::Method => Some(message.method()),
    }
}

/// Reads what the gate is shown; `None` where a tool's arguments are no object.
pub(crate) fn arguments(message: &Message, kind: Kind) -> Option<Value> {
    let params = message.params();
    if kind == Kind::Tool {
        return match params.get("arguments") {
            None => Some(Value::Object(Map::new())),
            Some(arguments) => arguments.is_object().then(|| arguments.clone()),
        };
    }
    Some(without_meta(params))
}

/// Returns parameters without what belongs to the protocol.
pub(crate) fn without_meta(params: &Value) -> Value {
    let mut rest = params.as_object().cloned().unwrap_or_default();
    for key in ["_meta", "inputResponses", "requestState"] {
        rest.remove(key);
    }
    Value::Object(rest)
}
