//! Questions to the gate that are under way: the session goes on while the gate answers.
//!
//! A call is judged, and its result, by whoever drives the session: it takes [`Question`]s out, asks, and brings the answers
//! back. Nothing of a call is sent before its answer is here, and nothing of a result goes on before its own. So whoever was
//! given a result, and then calls, calls after the gate has taken that result in.

use super::Session;
use super::result::Answer;
use super::state::{Open, Stage, Target};
use crate::catalogue::Lookup;
use crate::gate::{Begun, Call, Delivery, Gate, GateError, Kind, Ticket};
use crate::message::{Id, Message};
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

use super::Outgoing;

/// A question to the gate. Whoever takes it puts it, and brings the answer back.
#[must_use = "whoever asked waits for the answer"]
pub struct Question {
    place: Place,
    asked: Asked,
}

enum Asked {
    Begin { server: String, kind: Kind, name: String, arguments: Value },
    Finish { ticket: Ticket, message: Arc<Message>, failed: bool },
}

/// The request that an answer is for.
#[derive(Clone, Debug)]
struct Place {
    id: Id,
    /// Ids are used again; this is not.
    number: u64,
}

/// The gate's answer to a [`Question`].
#[must_use = "whoever asked waits for the answer"]
pub struct Reply {
    place: Place,
    said: Said,
}

enum Said {
    Begun(Result<Begun, GateError>),
    Finished(Result<Delivery, GateError>),
}

impl Question {
    /// Asks the gate; `then` gets its answer, here or on a thread of the gate.
    pub fn put(self, gate: &dyn Gate, then: impl FnOnce(Reply) + Send + 'static) {
        let Self { place, asked } = self;
        match asked {
            Asked::Begin { server, kind, name, arguments } => {
                let call = Call { server: &server, kind, name: &name, arguments: &arguments };
                let said = move |begun| then(Reply { place, said: Said::Begun(begun) });
                gate.begin_then(&call, Box::new(said));
            }
            Asked::Finish { ticket, message, failed } => {
                let said = move |delivery| then(Reply { place, said: Said::Finished(delivery) });
                gate.finish_then(ticket, message.outcome(), failed, Box::new(said));
            }
        }
    }
}

impl Question {
    /// The ticket of a result that nobody will judge.
    pub(super) fn into_ticket(self) -> Option<Ticket> {
        match self.asked {
            Asked::Begin { .. } => None,
            Asked::Finish { ticket, .. } => Some(ticket),
        }
    }
}

impl Session {
    /// Takes out what the gate is to be asked, in the order in which it came up.
    pub fn take_questions(&mut self) -> Vec<Question> {
        std::mem::take(&mut self.asked)
    }

    /// Takes an answer of the gate.
    pub fn take_reply(&mut self, reply: Reply, now: Instant) -> Vec<Outgoing> {
        self.now = now;
        let Reply { place, said } = reply;
        match said {
            Said::Begun(begun) => self.begun(&place, begun),
            Said::Finished(delivery) => self.finished(&place, delivery),
        }
        self.drain()
    }

    /// Has a call judged. A question to a person that was answered is not put again.
    pub(super) fn judge(&mut self, id: &Id, message: Message, target: Target, is_answered: bool) {
        let place = self.new_place(id);
        let server = self.links.get(target.server).map_or("", |link| link.name.as_str());
        let asked = Asked::Begin {
            server: server.to_owned(),
            kind: target.kind,
            name: target.name.clone(),
            arguments: target.arguments.clone(),
        };
        let lists = self.links.get(target.server).map_or(0, |link| link.catalogue.changes());
        let open = Open {
            server: target.server,
            method: target.method.clone(),
            era: target.era,
            progress: None,
            stage: Stage::Judging {
                number: place.number,
                call: Box::new(Judging { message, target, is_answered, lists }),
            },
        };
        self.open.insert(id.clone(), open);
        self.asked.push(Question { place, asked });
    }

    /// Has a result judged. Until then its request is open, so that its id is nobody else's.
    pub(super) fn have_judged(
        &mut self,
        id: &Id,
        answer: Answer,
        ticket: Ticket,
        failed: bool,
        message: Message,
    ) {
        let place = self.new_place(id);
        let message = Arc::new(message);
        let is_error = failed || super::call::is_tool_error(message.outcome());
        let open = Open {
            server: answer.server,
            method: answer.method.clone(),
            era: answer.era,
            progress: None,
            stage: Stage::Finishing {
                number: place.number,
                result: Box::new(Finishing { answer, failed, message: Arc::clone(&message) }),
            },
        };
        self.open.insert(id.clone(), open);
        self.asked
            .push(Question { place, asked: Asked::Finish { ticket, message, failed: is_error } });
    }

    fn begun(&mut self, place: &Place, begun: Result<Begun, GateError>) {
        let is_its = |open: &Open| matches!(&open.stage, Stage::Judging { number, .. } if *number == place.number);
        if !self.open.get(&place.id).is_some_and(is_its) {
            // Cancelled meanwhile, or its server is gone.
            if let Ok(Begun::Allowed(ticket)) = begun {
                self.gate.unsent(ticket);
            }
            return;
        }
        let Some(Stage::Judging { call, .. }) = self.open.remove(&place.id).map(|it| it.stage)
        else {
            return;
        };
        let Judging { message, target, is_answered, lists } = *call;
        let id = &place.id;
        match begun {
            Ok(Begun::Allowed(ticket)) if self.is_still_listed(&target, lists) => {
                self.forward(id, message, target, ticket);
            }
            Ok(Begun::Allowed(ticket)) => {
                self.gate.unsent(ticket);
                self.refuse(id, &target, CHANGED_MEANWHILE);
            }
            Ok(Begun::Denied { reason }) => self.refuse(id, &target, &reason),
            Ok(Begun::Asked { message: text, .. }) if is_answered => {
                self.refuse(id, &target, &text);
            }
            Ok(Begun::Asked { question, message: text }) => {
                self.ask(id, message, target, question, &text);
            }
            Err(error) => self.refuse(id, &target, &error.to_string()),
        }
    }

    /// Whether the tool is the one that the call was checked against: its server may have listed anew meanwhile.
    fn is_still_listed(&mut self, target: &Target, lists: u64) -> bool {
        let now = self.links.get(target.server).map_or(0, |link| link.catalogue.changes());
        target.kind != Kind::Tool || now == lists || self.look_up(target) == Lookup::Fits
    }

    fn finished(&mut self, place: &Place, delivery: Result<Delivery, GateError>) {
        let is_its = |open: &Open| matches!(&open.stage, Stage::Finishing { number, .. } if *number == place.number);
        // One that was cancelled meanwhile is taken in by the gate all the same, and goes no further.
        if !self.open.get(&place.id).is_some_and(is_its) {
            return;
        }
        if let Some(Stage::Finishing { result, .. }) =
            self.open.remove(&place.id).map(|it| it.stage)
        {
            let Finishing { answer, failed, message } = *result;
            self.hand_over(&place.id, answer, failed, Arc::unwrap_or_clone(message), delivery);
        }
    }

    fn new_place(&mut self, id: &Id) -> Place {
        self.counter += 1;
        Place { id: id.clone(), number: self.counter }
    }
}

/// A call that is being judged.
#[derive(Debug)]
pub(super) struct Judging {
    message: Message,
    target: Target,
    is_answered: bool,
    /// How often the server's tools had changed when it was checked against them.
    lists: u64,
}

/// A result that is being judged.
#[derive(Debug)]
pub(super) struct Finishing {
    answer: Answer,
    failed: bool,
    message: Arc<Message>,
}

const CHANGED_MEANWHILE: &str = "The tool has changed while this call was judged, so it was not made. List the tools, and call it again.";
