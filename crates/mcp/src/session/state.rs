//! What a session remembers of its client, its servers and the requests under way.

use super::bridge::Input;
use super::pending::{Finishing, Judging};
use super::prompts::Prompts;
use crate::approvals::Subject;
use crate::catalogue::Catalogue;
use crate::era::{Era, LEGACY_VERSION};
use crate::gate::{Kind, Ticket};
use crate::limits::{
    NOTICE_BYTES_PERIOD_MAX, NOTICES_JUDGED_MAX, NOTIFICATIONS_MAX, NOTIFICATIONS_PERIOD,
    ROUTES_MAX,
};
use crate::message::{Id, Message};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

/// The client, as it introduced itself.
#[derive(Debug)]
pub(super) struct Client {
    /// The era of its newest request.
    pub(super) era: Option<Era>,
    pub(super) version: String,
    pub(super) capabilities: Value,
    pub(super) info: Value,
    pub(super) log_level: Option<String>,
    /// Whether it said who it is and what it can do.
    pub(super) is_introduced: bool,
    /// Whether it has an answer of ours to its handshake.
    pub(super) is_greeted: bool,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            era: None,
            version: LEGACY_VERSION.to_owned(),
            capabilities: json!({}),
            info: json!({"name": "lazaret", "version": env!("CARGO_PKG_VERSION")}),
            log_level: None,
            is_introduced: false,
            is_greeted: false,
        }
    }
}

/// A server.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) phase: Phase,
    pub(super) capabilities: Value,
    pub(super) info: Value,
    pub(super) instructions: Option<String>,
    pub(super) catalogue: Catalogue,
    pub(super) prompts: Prompts,
    /// Whether we are listing its tools for ourselves.
    pub(super) is_listing: bool,
    /// Requests that wait until it is ready or listed.
    pub(super) waiting: VecDeque<Message>,
    pub(super) rate: Rate,
    /// Of those, the ones whose texts are judged.
    pub(super) notices: Rate,
    /// Bytes of those.
    pub(super) words: Rate,
    /// Times that it was recorded that a text was left out.
    pub(super) left_out: u32,
    /// What it said last beside a list, and was let in.
    pub(super) heard: Option<Value>,
    pub(super) malformed: u64,
    /// Times that we sent `initialize`.
    pub(super) handshakes: u32,
}

/// How far a server has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    New,
    /// `server/discover` or `initialize` is under way.
    Negotiating,
    Ready(Era),
    Gone {
        reason: String,
    },
}

impl Link {
    pub(super) fn new(name: &str, now: Instant) -> Self {
        Self {
            name: name.to_owned(),
            phase: Phase::New,
            capabilities: json!({}),
            info: json!({"name": name, "version": "0"}),
            instructions: None,
            catalogue: Catalogue::default(),
            prompts: Prompts::default(),
            is_listing: false,
            waiting: VecDeque::new(),
            rate: Rate { began: now, count: 0, max: NOTIFICATIONS_MAX },
            notices: Rate { began: now, count: 0, max: NOTICES_JUDGED_MAX },
            words: Rate { began: now, count: 0, max: NOTICE_BYTES_PERIOD_MAX },
            left_out: 0,
            heard: None,
            malformed: 0,
            handshakes: 0,
        }
    }

    pub(super) fn has(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some()
    }
}

/// A count of notifications, or of their bytes, within a period.
#[derive(Debug)]
pub(super) struct Rate {
    began: Instant,
    count: u32,
    max: u32,
}

impl Rate {
    /// Counts one more; says whether it is still within the limit, and whether it is the first beyond.
    pub(super) fn count(&mut self, now: Instant) -> (bool, bool) {
        self.begin_anew(now);
        self.count = self.count.saturating_add(1);
        (self.count <= self.max, self.count == self.max.saturating_add(1))
    }

    /// Counts so many more, if they are within the limit; says whether they are.
    pub(super) fn spend(&mut self, now: Instant, amount: u32) -> bool {
        self.begin_anew(now);
        let count = self.count.saturating_add(amount);
        let is_within = count <= self.max;
        self.count = if is_within { count } else { self.count };
        is_within
    }

    fn begin_anew(&mut self, now: Instant) {
        if now.saturating_duration_since(self.began) >= NOTIFICATIONS_PERIOD {
            self.began = now;
            self.count = 0;
        }
    }
}

/// A request of the client under way.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) server: usize,
    pub(super) method: String,
    pub(super) era: Era,
    pub(super) progress: Option<Progress>,
    pub(super) stage: Stage,
}

/// What a server tells about the progress of a request.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) token: Value,
    /// Bytes of it that were judged.
    pub(super) bytes: usize,
}

/// Where a request is.
#[derive(Debug)]
pub(super) enum Stage {
    /// At the server; its answer passes without the gate.
    Plain,
    /// At the server; its answer goes through the gate. What was sent is kept where the server may want input in a way that the
    /// client does not know.
    Gated {
        ticket: Ticket,
        kind: Kind,
        name: String,
        is_continued: bool,
        kept: Option<Box<Subjected>>,
    },
    /// With the client, which is asked what a modern server wants to know.
    Input(Box<Input>),
    /// At the server: a page of tools.
    Tools { cursor: Option<String> },
    /// `initialize` or `server/discover`: at the server, or waiting until we have an answer.
    Handshake { message: Box<Message>, is_relayed: bool, deadline: Option<Instant> },
    /// With the gate, before it is sent.
    Judging { number: u64, call: Box<Judging> },
    /// With the gate, after the server has answered.
    Finishing { number: u64, result: Box<Finishing> },
    /// With us, until the server is ready.
    Waiting,
    /// With a person, whom the client asks by this id.
    Asking(Id),
    /// With us, until every server has listed.
    Gathering(u64),
    /// With us: a subscription that we keep for a server that knows none.
    Listening { ticket: Ticket, wanted: Value },
}

/// A call, as routed.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) server: usize,
    pub(super) kind: Kind,
    /// The name as the server knows it.
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) era: Era,
    pub(super) method: String,
}

impl Target {
    pub(super) fn subject(&self) -> Subject {
        Subject {
            server: self.server,
            method: self.method.clone(),
            name: self.name.clone(),
            arguments: crate::canonical::digest(&self.arguments),
        }
    }
}

/// A question of ours to a legacy client.
#[derive(Debug)]
pub(super) struct PersonAsked {
    /// The client's request that waits for it.
    pub(super) id: Id,
    pub(super) message: Message,
    pub(super) target: Target,
    pub(super) question: String,
    pub(super) deadline: Instant,
}

/// A request of a server to the client, under way.
#[derive(Debug)]
pub(super) struct Relayed {
    pub(super) server: usize,
    pub(super) whence: Whence,
    pub(super) ticket: Ticket,
}

/// What a request to the client comes from.
#[derive(Debug)]
pub(super) enum Whence {
    /// A request of a legacy server, by the id that it chose.
    Server(Id),
    /// A modern server's result of this call, and the request's key in it.
    Result { call: Id, key: String },
}

impl Relayed {
    /// Whether it is the request that this server knows by this id.
    pub(super) fn is(&self, server: usize, id: &Id) -> bool {
        self.server == server && matches!(&self.whence, Whence::Server(it) if it == id)
    }
}

/// A call whose server is of the other era, as it was sent.
#[derive(Debug)]
pub(super) struct Subjected {
    pub(super) message: Message,
    pub(super) subject: Subject,
    /// Times that its server wanted input.
    pub(super) rounds: u32,
}

/// Which server has what, where several stand behind one client.
#[derive(Debug, Default)]
pub(super) struct Routes {
    resources: HashMap<String, usize>,
    tasks: HashMap<String, (usize, String)>,
}

impl Routes {
    /// Remembers a resource; says whether it is this server's, and not an earlier one's.
    pub(super) fn add_resource(&mut self, uri: &str, server: usize) -> bool {
        if self.resources.len() >= ROUTES_MAX && !self.resources.contains_key(uri) {
            return false;
        }
        *self.resources.entry(uri.to_owned()).or_insert(server) == server
    }

    pub(super) fn resource(&self, uri: &str) -> Option<usize> {
        self.resources.get(uri).copied()
    }

    pub(super) fn add_task(&mut self, task: &str, server: usize, tool: &str) {
        if self.tasks.len() >= ROUTES_MAX {
            self.tasks.clear();
        }
        self.tasks.entry(task.to_owned()).or_insert_with(|| (server, tool.to_owned()));
    }

    pub(super) fn task(&self, task: &str) -> Option<(usize, &str)> {
        self.tasks.get(task).map(|(server, tool)| (*server, tool.as_str()))
    }

    pub(super) fn forget(&mut self, server: usize) {
        self.resources.retain(|_, it| *it != server);
        self.tasks.retain(|_, (it, _)| *it != server);
    }
}
