//! A session: one client, one or several servers, and the gate between them.
//!
//! It is a state machine without threads, clocks or pipes: a message goes in, messages come out. Whoever drives it
//! says what time it is, and asks the gate about calls and results ([`Question`]).
//!
//! INVARIANT (TicketsComeBack): a ticket of the gate lives in exactly one place of the session and leaves it by
//! `finish` or `lost`.

mod ask;
mod bridge;
mod call;
mod client;
mod gather;
mod handshake;
mod listing;
mod notice;
mod own;
mod pending;
mod prompts;
mod result;
mod server;
mod state;
mod subscribe;
mod suspended;
mod upstream_input;
mod words;

use crate::approvals::{Approvals, random_word};
use crate::frame::{self, Frame};
use crate::gate::Gate;
use crate::limits::SERVERS_MAX;
use crate::message::{self, Id, Message, SERVER_UNAVAILABLE};
use crate::names::{self, BadServerName};
use gather::Gather;
use own::Own;
use serde_json::{Value, json};
use state::{Client, Link, Open, PersonAsked, Phase, Relayed, Routes, Stage};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use suspended::Suspended;

pub use pending::{Question, Reply};

/// A session between one client and its servers.
pub struct Session {
    gate: Arc<dyn Gate>,
    links: Vec<Link>,
    /// Whether the names of tools and prompts carry their server's.
    prefixes: bool,
    client: Client,
    /// The client's requests that have no answer yet.
    open: HashMap<Id, Open>,
    cancelled: VecDeque<Id>,
    /// Requests of ours to servers.
    own: HashMap<Id, Own>,
    /// Questions of ours to a legacy client.
    questions: HashMap<Id, PersonAsked>,
    /// Requests of servers to the client, by the id that the client sees.
    relayed: HashMap<Id, Relayed>,
    /// Calls of a modern client that wait for its answer to a legacy server, by their state.
    suspended: HashMap<String, Suspended>,
    /// Calls that went on since, by their id at the server: the client knows them by another.
    aliases: HashMap<Id, Id>,
    approvals: Approvals,
    gathers: HashMap<u64, Gather>,
    routes: Routes,
    /// A word that nobody can guess, so that no id of ours is anybody else's.
    word: String,
    counter: u64,
    began: Instant,
    now: Instant,
    out: Vec<Outgoing>,
    /// What the gate is to be asked.
    asked: Vec<pending::Question>,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// To whom.
    pub to: Peer,
    /// One line, without its end.
    pub line: Vec<u8>,
}

/// A peer of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// The client.
    Client,
    /// A server, by its place in the list that the session was made with.
    Server(usize),
}

/// A refusal to make a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// A server's name does not fit.
    #[error(transparent)]
    Name(#[from] BadServerName),
    /// Two servers have one name.
    #[error("two servers are called `{0}`; give one of them another name")]
    Twice(String),
    /// None, or too many.
    #[error("a session has 1 to {SERVERS_MAX} servers, not {0}")]
    Count(usize),
    /// The system gives no random bytes.
    #[error("the system gave no random bytes, so no session can be told from another")]
    Random,
}

impl Session {
    /// Makes a session with one server, whose names pass as they are.
    pub fn single(gate: Arc<dyn Gate>, server: &str, now: Instant) -> Result<Self, SessionError> {
        Self::new(gate, &[server], false, now)
    }

    /// Makes a session with several servers: names of tools and prompts become `server__name`.
    pub fn aggregate(
        gate: Arc<dyn Gate>,
        servers: &[&str],
        now: Instant,
    ) -> Result<Self, SessionError> {
        Self::new(gate, servers, true, now)
    }

    fn new(
        gate: Arc<dyn Gate>,
        servers: &[&str],
        prefixes: bool,
        now: Instant,
    ) -> Result<Self, SessionError> {
        if servers.is_empty() || servers.len() > SERVERS_MAX {
            return Err(SessionError::Count(servers.len()));
        }
        for (index, name) in servers.iter().enumerate() {
            names::check_server(name)?;
            if servers.iter().take(index).any(|it| it == name) {
                return Err(SessionError::Twice((*name).to_owned()));
            }
        }
        Ok(Self {
            gate,
            links: servers.iter().map(|name| Link::new(name, now)).collect(),
            prefixes,
            client: Client::default(),
            open: HashMap::new(),
            cancelled: VecDeque::new(),
            own: HashMap::new(),
            questions: HashMap::new(),
            relayed: HashMap::new(),
            suspended: HashMap::new(),
            aliases: HashMap::new(),
            approvals: Approvals::default(),
            gathers: HashMap::new(),
            routes: Routes::default(),
            word: random_word().ok_or(SessionError::Random)?,
            counter: 0,
            began: now,
            now,
            out: Vec::new(),
            asked: Vec::new(),
        })
    }

    /// Begins: tells the gate of the servers and, where there are several, asks each for its era.
    pub fn start(&mut self, now: Instant) -> Vec<Outgoing> {
        self.now = now;
        for server in 0..self.links.len() {
            self.note(server, "startup", &json!({}));
            if self.prefixes {
                self.probe(server);
            }
        }
        self.drain()
    }

    /// Takes a line of the client.
    pub fn take_client(&mut self, frame: &Frame, now: Instant) -> Vec<Outgoing> {
        self.now = now;
        let (refused, id) = match frame {
            Frame::Line(line) => match Message::parse(line) {
                Ok(message) => {
                    self.client_message(message);
                    return self.drain();
                }
                Err(refused) => (refused, frame::find_id(line)),
            },
            Frame::TooLong(id) => (message::Malformed::TooLong, id.clone()),
        };
        // The id of a request under way must not be answered twice.
        let id = id.filter(|id| !self.is_taken(id));
        self.send_client(message::error(id.as_ref(), refused.code(), &refused.to_string()));
        self.drain()
    }

    /// Takes a line of a server.
    pub fn take_server(&mut self, server: usize, frame: &Frame, now: Instant) -> Vec<Outgoing> {
        self.now = now;
        let (refused, id) = match frame {
            Frame::Line(line) => match Message::parse(line) {
                Ok(message) => {
                    self.server_message(server, message);
                    return self.drain();
                }
                Err(refused) => (refused, frame::find_id(line)),
            },
            Frame::TooLong(id) => (message::Malformed::TooLong, id.clone()),
        };
        self.note_malformed(server, &refused);
        if let Some(id) = id {
            self.unreadable_answer(server, &id, &refused);
        }
        self.drain()
    }

    /// Takes note that a server is gone: whoever waits for it is told, and nobody else notices.
    pub fn server_gone(&mut self, server: usize, reason: &str, now: Instant) -> Vec<Outgoing> {
        self.now = now;
        self.lose_server(server, reason);
        self.drain()
    }

    /// Lets time pass: whatever took too long ends.
    pub fn tick(&mut self, now: Instant) -> Vec<Outgoing> {
        self.now = now;
        self.expire_own();
        self.expire_gathers();
        self.expire_questions();
        self.expire_suspended();
        self.drain()
    }

    /// Ends: every ticket goes back.
    pub fn close(&mut self) {
        for (_, open) in std::mem::take(&mut self.open) {
            self.give_back(open.stage);
        }
        for (_, relayed) in std::mem::take(&mut self.relayed) {
            self.gate.lost(relayed.ticket);
        }
        self.lose_suspended(None);
        for (_, own) in std::mem::take(&mut self.own) {
            self.give_back_own(own);
        }
        self.questions.clear();
        for question in self.take_questions() {
            if let Some(ticket) = question.into_ticket() {
                self.gate.lost(ticket);
            }
        }
        for server in 0..self.links.len() {
            let Some(link) = self.links.get_mut(server) else { continue };
            if !matches!(link.phase, Phase::Gone { .. }) {
                link.phase = Phase::Gone { reason: "the session has ended".to_owned() };
                self.note(server, "shutdown", &json!({}));
            }
        }
    }

    /// Whether every server is gone.
    #[must_use]
    pub fn is_deserted(&self) -> bool {
        self.links.iter().all(|link| matches!(link.phase, Phase::Gone { .. }))
    }

    /// Whether no answer is owed to the client; a subscription is never answered.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.open.values().all(|open| {
            matches!(open.stage, Stage::Listening { .. } | Stage::Asking(_) | Stage::Input(_))
        })
    }

    fn give_back(&self, stage: Stage) {
        match stage {
            Stage::Gated { ticket, .. } | Stage::Listening { ticket, .. } => self.gate.lost(ticket),
            Stage::Input(input) => self.gate.lost(input.ticket),
            Stage::Plain
            | Stage::Tools { .. }
            | Stage::Handshake { .. }
            | Stage::Waiting
            | Stage::Asking(_)
            | Stage::Gathering(_)
            // Its ticket is with the gate, and comes back or is spent there.
            | Stage::Judging { .. }
            | Stage::Finishing { .. } => {}
        }
    }

    fn drain(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    fn send_client(&mut self, line: Vec<u8>) {
        self.out.push(Outgoing { to: Peer::Client, line });
    }

    fn send_server(&mut self, server: usize, line: Vec<u8>) {
        self.out.push(Outgoing { to: Peer::Server(server), line });
    }

    fn respond(&mut self, id: &Id, result: Value) {
        self.send_client(message::response(id, result));
    }

    fn fail(&mut self, id: &Id, code: i64, reason: &str) {
        self.send_client(message::error(Some(id), code, reason));
    }

    fn note(&self, server: usize, event: &str, detail: &Value) {
        if let Some(link) = self.links.get(server) {
            self.gate.lifecycle(&link.name, event, detail);
        }
    }

    fn new_id(&mut self) -> Id {
        self.counter += 1;
        Id::Text(format!("lazaret-{}-{}", self.word, self.counter))
    }

    fn is_taken(&self, id: &Id) -> bool {
        self.open.contains_key(id) || self.cancelled.contains(id) || self.is_suspended(id)
    }

    fn unavailable(&mut self, id: &Id, server: usize, reason: &str) {
        let name = self.links.get(server).map_or("", |link| link.name.as_str());
        let text = format!("the server `{name}` does not answer: {reason}");
        self.fail(id, SERVER_UNAVAILABLE, &text);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}
