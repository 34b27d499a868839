//! Requests of a legacy server, put to a modern client: the call under way is answered with `input_required`, and goes on when
//! the client makes it again with the answer. The server notices nothing of it.
//!
//! INVARIANT (OneAnswer): a state is good once, for the very call that was under way.

use super::Session;
use super::state::{Open, Stage, Target};
use crate::approvals::{Subject, random_word};
use crate::era::{self, Era, META_CAPABILITIES};
use crate::gate::{Kind, Ticket};
use crate::limits::{APPROVAL_WAIT, APPROVALS_MAX};
use crate::message::{self, DENIED, Id, METHOD_NOT_FOUND, Message};
use serde_json::{Value, json};
use std::time::Instant;

/// A call that its server goes on with when the client has answered.
#[derive(Debug)]
pub(super) struct Suspended {
    /// The id of the call at the server.
    at_server: Id,
    subject: Subject,
    open: Open,
    /// The server's request, unless the server took it back.
    asked: Option<(Id, Ticket)>,
    expires: Instant,
}

impl Session {
    /// Whether a state claims to be one of these.
    pub(super) fn claims_input(state: &str) -> bool {
        state.starts_with(PREFIX)
    }

    /// Puts a request of a legacy server to the client, as what the one call that is under way there needs.
    pub(super) fn suspend(
        &mut self,
        server: usize,
        asked: &Id,
        method: &str,
        message: &Message,
    ) -> Result<(), (i64, String)> {
        let not_taken = |why: &str| (METHOD_NOT_FOUND, why.to_owned());
        let call = self.only_call_at(server).ok_or_else(|| not_taken(NO_CALL))?;
        let Some(Stage::Gated { kept: Some(kept), .. }) = self.open.get(&call).map(|it| &it.stage)
        else {
            return Err(not_taken(NO_CALL));
        };
        let meta = kept.message.params().get("_meta");
        let capabilities = meta.and_then(|it| it.get(META_CAPABILITIES)).unwrap_or(&Value::Null);
        if !era::can_answer(capabilities, method, message.params()) {
            return Err(not_taken("the client takes no such requests"));
        }
        let subject = kept.subject.clone();
        let ticket = self.begin_request(server, method, message.params());
        let ticket = ticket.map_err(|reason| (DENIED, reason))?;
        let word = random_word().filter(|_| self.suspended.len() < APPROVALS_MAX);
        let (Some(word), Some(mut open)) = (word, self.open.remove(&call)) else {
            self.gate.lost(ticket);
            return Err(not_taken("too many questions are open"));
        };
        // What it hears of the progress comes under the token of a request that was answered.
        open.progress = None;
        let state = format!("{PREFIX}{word}");
        let mut request = json!({"method": method});
        if let Some(request) = request.as_object_mut().filter(|_| !message.params().is_null()) {
            request.insert("params".to_owned(), message.params().clone());
        }
        self.respond(
            &call,
            json!({
                "resultType": "input_required", "inputRequests": {KEY: request}, "requestState": state,
            }),
        );
        let at_server = self.at_server(&call);
        self.aliases.remove(&at_server);
        let expires = self.now + APPROVAL_WAIT;
        let suspended =
            Suspended { at_server, subject, open, asked: Some((asked.clone(), ticket)), expires };
        self.suspended.insert(state, suspended);
        Ok(())
    }

    /// The call that a request of this server can be about: it does not say, so there must be one alone.
    fn only_call_at(&self, server: usize) -> Option<Id> {
        // Also one that waits for its client is under way there.
        if self.suspended.values().any(|it| it.open.server == server) {
            return None;
        }
        let may_ask = |kind: Kind| matches!(kind, Kind::Tool | Kind::Prompt | Kind::Resource);
        let mut calls = self.open.iter().filter(|(_, open)| {
            open.server == server
                && matches!(&open.stage, Stage::Gated { kind, .. } if may_ask(*kind))
        });
        let (id, open) = calls.next()?;
        (calls.next().is_none() && open.era == Era::Modern).then(|| id.clone())
    }

    /// Goes on with a call that the client makes again with an answer; says whether it is one.
    pub(super) fn resume(&mut self, id: &Id, message: &Message, target: &Target) -> bool {
        let state = message.params().get("requestState").and_then(Value::as_str);
        let Some(state) = state.filter(|it| Self::claims_input(it)) else { return false };
        let now = self.now;
        let found = self.suspended.remove(state);
        let is_its = |it: &Suspended| it.subject == target.subject() && now < it.expires;
        match found {
            Some(suspended) if is_its(&suspended) => {
                let Suspended { at_server, open, asked, .. } = suspended;
                let server = open.server;
                if at_server != *id {
                    self.aliases.insert(at_server, id.clone());
                }
                self.open.insert(id.clone(), open);
                if let Some((asked, ticket)) = asked {
                    let line = match message.params().pointer(ANSWER) {
                        Some(answer) => self.judged_answer(ticket, &asked, answer),
                        None => {
                            self.gate.lost(ticket);
                            message::error(Some(&asked), DENIED, "the client gave no answer")
                        }
                    };
                    self.send_server(server, line);
                }
            }
            Some(suspended) => {
                self.end_suspended(suspended, "it was answered for another call, or too late");
                self.refuse(id, target, STALE);
            }
            None => self.refuse(id, target, STALE),
        }
        true
    }

    /// The answer as it goes to the server.
    fn judged_answer(&self, ticket: Ticket, asked: &Id, answer: &Value) -> Vec<u8> {
        match self.finish_request(ticket, answer, false) {
            Ok(replaced) => message::response(asked, replaced.unwrap_or_else(|| answer.clone())),
            Err(reason) => message::error(Some(asked), DENIED, &reason),
        }
    }

    /// The id by which the client knows the call that this server knows by `id`. A server that answers a call though it wanted to
    /// know something first waits for nothing any more.
    pub(super) fn seen_id(&mut self, server: usize, id: &Id) -> Id {
        if let Some(seen) = self.aliases.get(id).cloned()
            && self.open.get(&seen).is_some_and(|open| open.server == server)
        {
            self.aliases.remove(id);
            return seen;
        }
        let its =
            self.suspended.iter().find(|(_, it)| it.open.server == server && it.at_server == *id);
        if let Some(state) = its.map(|(state, _)| state.clone())
            && let Some(mut suspended) = self.suspended.remove(&state)
        {
            if let Some((_, ticket)) = suspended.asked.take() {
                self.gate.lost(ticket);
            }
            self.give_back(suspended.open.stage);
        }
        id.clone()
    }

    /// The id of a call of the client at its server.
    pub(super) fn at_server(&self, id: &Id) -> Id {
        let alias = self.aliases.iter().find(|(_, seen)| *seen == id);
        alias.map_or_else(|| id.clone(), |(at_server, _)| at_server.clone())
    }

    /// Whether a call that goes on has this id at its server.
    pub(super) fn is_suspended(&self, id: &Id) -> bool {
        self.aliases.contains_key(id) || self.suspended.values().any(|it| it.at_server == *id)
    }

    /// A server takes its request back; says whether it was one of these.
    pub(super) fn take_back_suspended(&mut self, server: usize, asked: &Id) -> bool {
        let is_its = |it: &&mut Suspended| {
            it.open.server == server && it.asked.as_ref().is_some_and(|it| it.0 == *asked)
        };
        let Some(suspended) = self.suspended.values_mut().find(is_its) else { return false };
        if let Some((_, ticket)) = suspended.asked.take() {
            self.gate.lost(ticket);
        }
        true
    }

    pub(super) fn expire_suspended(&mut self) {
        let now = self.now;
        let late = self.suspended.iter().filter(|(_, it)| now >= it.expires);
        let late: Vec<String> = late.map(|(state, _)| state.clone()).collect();
        for state in late {
            if let Some(suspended) = self.suspended.remove(&state) {
                self.end_suspended(suspended, "nobody answered in time");
            }
        }
    }

    /// Ends a call that nobody goes on with, at its server, too.
    fn end_suspended(&mut self, suspended: Suspended, reason: &str) {
        let Suspended { at_server, open, asked, .. } = suspended;
        if let Some((asked, ticket)) = asked {
            self.gate.lost(ticket);
            self.send_server(open.server, message::error(Some(&asked), DENIED, reason));
        }
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": at_server.to_value(), "reason": reason}});
        self.send_server(open.server, message::encode(&cancel));
        self.remember_cancelled(at_server);
        self.give_back(open.stage);
    }

    /// Gives back what is held for calls that wait at this server, or at any.
    pub(super) fn lose_suspended(&mut self, server: Option<usize>) {
        let all = std::mem::take(&mut self.suspended);
        for (state, suspended) in all {
            if server.is_some_and(|it| it != suspended.open.server) {
                self.suspended.insert(state, suspended);
                continue;
            }
            if let Some((_, ticket)) = suspended.asked {
                self.gate.lost(ticket);
            }
            self.give_back(suspended.open.stage);
        }
    }
}

const PREFIX: &str = "lazaret-input-";
/// The key of the one request in a result.
const KEY: &str = "input";
/// Where its answer stands.
const ANSWER: &str = "/inputResponses/input";
const NO_CALL: &str =
    "the client takes requests as part of a call alone, and not one alone is under way";
const STALE: &str =
    "The server does not wait for this answer any more; make the call again without it.";
