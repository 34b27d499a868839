//! The gate that calls pass: whoever implements it decides, this crate obeys.

use std::collections::BTreeMap;

use serde_json::Value;

/// A decider about calls between a client and its servers.
///
/// An implementation answers within a bounded time and never waits for a person: it says [`Begun::Asked`]. Every [`Ticket`] comes back exactly once, by [`Gate::finish`],
/// [`Gate::lost`] or [`Gate::unsent`].
pub trait Gate: Send + Sync {
    /// Judges a server's tools as they are listed now: the whole list, or one page of it.
    fn tools(&self, server: &str, page: Listing<'_>) -> Result<Listed, GateError>;

    /// Judges prompts, resources or templates of a server as they are listed now, the whole list or one page of it: returns the
    /// names or addresses of those whose definition is held until a person accepts it.
    fn offers(
        &self,
        server: &str,
        list: Offer,
        page: Listing<'_>,
    ) -> Result<Vec<String>, GateError>;

    /// Judges a call before it is sent.
    fn begin(&self, call: &Call<'_>) -> Result<Begun, GateError>;

    /// Judges what came back, before anybody reads it. `failed` says that it is an error.
    fn finish(&self, ticket: Ticket, result: &Value, failed: bool) -> Result<Delivery, GateError>;

    /// Judges a call as [`Gate::begin`] does; `then` gets the answer exactly once, and may get it on another thread. What
    /// is asked first is judged first.
    fn begin_then(&self, call: &Call<'_>, then: Then<Begun>) {
        then(self.begin(call));
    }

    /// Judges what came back as [`Gate::finish`] does; `then` gets the answer as that of [`Gate::begin_then`].
    fn finish_then(&self, ticket: Ticket, result: &Value, failed: bool, then: Then<Delivery>) {
        then(self.finish(ticket, result, failed));
    }

    /// Takes the ticket of a call back that was sent: no result will come, and nobody knows what it did.
    fn lost(&self, ticket: Ticket);

    /// Takes the ticket of a call back that was not sent: nobody has heard of it.
    fn unsent(&self, ticket: Ticket);

    /// Takes the person's answer to a question that [`Begun::Asked`] put. The call is judged again afterwards.
    fn answer(&self, question: &str, answered: Answered) -> Result<(), GateError>;

    /// Takes note of an event in a server's life: `startup`, `negotiation`, `crash`, `shutdown` and others.
    fn lifecycle(&self, server: &str, event: &str, detail: &Value);
}

/// Whoever waits for an answer of the gate.
pub type Then<T> = Box<dyn FnOnce(Result<T, GateError>) + Send>;

/// A list of a server, or one page of it.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The definitions.
    pub items: &'a [Value],
    /// Whether it goes on with a page before. What a server first lists is accepted; what it lists again is not the first.
    pub is_continued: bool,
}

/// A call to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The server that is called, or that calls.
    pub server: &'a str,
    /// The sort of call.
    pub kind: Kind,
    /// The tool's or prompt's name, the resource's address, or else the method.
    pub name: &'a str,
    /// The tool's arguments; for other kinds the request's parameters without `_meta`.
    pub arguments: &'a Value,
}

/// A sort of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `tools/call`.
    Tool,
    /// `resources/read`.
    Resource,
    /// `prompts/get`.
    Prompt,
    /// `completion/complete`.
    Completion,
    /// `resources/subscribe`, `resources/unsubscribe`, `subscriptions/listen`.
    Subscription,
    /// `resources/list`, `resources/templates/list`, `prompts/list`: their texts reach the model, too.
    List,
    /// `tasks/…`; the name is that of the tool that began the task, where it is known.
    Task,
    /// The server's `instructions` to the model.
    Instructions,
    /// `sampling/createMessage`, from the server to the client.
    Sampling,
    /// `elicitation/create`, from the server to the client.
    Elicitation,
    /// `roots/list`, from the server to the client.
    Roots,
    /// A notification of the server, or what it says beside its results.
    Notification,
    /// Any other method, in either direction.
    Other,
}

impl Kind {
    /// Returns the word for this kind, as it stands in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Completion => "completion",
            Self::Subscription => "subscription",
            Self::List => "list",
            Self::Task => "task",
            Self::Instructions => "instructions",
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
            Self::Notification => "notification",
            Self::Other => "other",
        }
    }
}

/// A permission for one call, to be given back with its result. It cannot be copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket(String);

impl Ticket {
    /// Makes a ticket of the gate's own reference.
    #[must_use]
    pub fn new(reference: impl Into<String>) -> Self {
        Self(reference.into())
    }

    /// Returns the gate's own reference.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.0
    }
}

/// What a server offers beside tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Offer {
    /// Prompts, by their names.
    Prompts,
    /// Resources, by their addresses.
    Resources,
    /// Templates of resources, by their patterns.
    ResourceTemplates,
}

impl Offer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Prompts, Self::Resources, Self::ResourceTemplates];

    /// Returns the key of the items within a list.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
        }
    }

    /// Returns the word for one of them.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::ResourceTemplates => "template",
        }
    }

    /// Returns the key by which one of them is named.
    #[must_use]
    pub fn name_key(self) -> &'static str {
        match self {
            Self::Prompts => "name",
            Self::Resources => "uri",
            Self::ResourceTemplates => "uriTemplate",
        }
    }
}

/// An answer about a list of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Names of tools that the policy denies outright: the client never hears of them.
    pub hidden: Vec<String>,
    /// Names of tools that are new, or whose definition changed since a person accepted it.
    pub held: Vec<String>,
    /// Definitions that the client is shown in place of the server's own, by name. Calls are checked against the
    /// server's own.
    pub cleaned: BTreeMap<String, Value>,
}

/// An answer about a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Begun {
    /// The call may be sent.
    Allowed(Ticket),
    /// The call may not be sent, and the reason is told to the model.
    Denied {
        /// One sentence for the model.
        reason: String,
    },
    /// A person must say.
    Asked {
        /// The question's id, for [`Gate::answer`].
        question: String,
        /// What the person is asked, and how to approve where no client can ask.
        message: String,
    },
}

/// A person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// This call may be sent.
    Once,
    /// Calls like this may be sent until the session ends.
    Session,
    /// Calls of this kind to this place may be sent until the session ends.
    Kind,
    /// It may not be sent.
    Deny,
}

/// An answer about a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The result goes on, byte for byte.
    AsItCame,
    /// This text goes on in its place.
    Replaced(String),
    /// Nothing of it goes on.
    Withheld {
        /// One sentence for the model.
        reason: String,
    },
}

/// A failure of the gate. Whatever was asked counts as denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gate gave no answer ({0}), so the call was not made; check that the daemon runs")]
pub struct GateError(pub String);
