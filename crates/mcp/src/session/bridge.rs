//! Input that a modern server wants, put to a legacy client: each request as one of its own, and the call made again with the
//! answers. Each is judged as if a legacy server had asked, and each answer before it leaves.

use super::Session;
use super::result::Answer;
use super::state::{Open, Relayed, Stage, Subjected, Whence};
use crate::era;
use crate::gate::{Delivery, Kind, Ticket};
use crate::limits::{INPUT_REQUESTS_MAX, INPUT_ROUNDS_MAX};
use crate::message::{self, Id, Message};
use crate::shown;
use serde_json::{Map, Value, json};

/// A call that waits for answers of the client.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) ticket: Ticket,
    kind: Kind,
    name: String,
    is_continued: bool,
    /// The request, to be sent again.
    kept: Box<Subjected>,
    /// What the server wants to have back.
    state: Option<Value>,
    responses: Map<String, Value>,
    missing: usize,
}

/// A request that may be put to the client.
struct Wanted<'a> {
    key: &'a str,
    method: &'a str,
    params: &'a Value,
    ticket: Ticket,
}

impl Session {
    /// Puts what a result wants to a legacy client.
    pub(super) fn put_to_client(
        &mut self,
        id: &Id,
        call: Answer,
        ticket: Ticket,
        kept: Option<Box<Subjected>>,
        message: &Message,
    ) {
        let result = message.outcome();
        let wanted = match kept.as_ref() {
            Some(kept) if kept.rounds < INPUT_ROUNDS_MAX => self.wanted(call.server, result),
            Some(_) => Err(TOO_OFTEN.to_owned()),
            None => Err(CANNOT_GIVE.to_owned()),
        };
        let (wanted, mut kept) = match (wanted, kept) {
            (Ok(wanted), Some(kept)) => (wanted, kept),
            (Ok(_), None) => return self.gate.lost(ticket),
            (Err(reason), _) => {
                self.gate.lost(ticket);
                return self.refuse_kind(id, call.kind, &call.method, call.era, &reason);
            }
        };
        kept.rounds += 1;
        let input = Input {
            ticket,
            kind: call.kind,
            name: call.name,
            is_continued: call.is_continued,
            kept,
            state: result.get("requestState").cloned(),
            responses: Map::new(),
            missing: wanted.len(),
        };
        for Wanted { key, method, params, ticket } in wanted {
            let seen = self.new_id();
            let mut request = json!({"jsonrpc": "2.0", "id": seen.to_value(), "method": method, "params": params});
            if params.is_null()
                && let Some(request) = request.as_object_mut()
            {
                request.remove("params");
            }
            self.send_client(message::encode(&request));
            let whence = Whence::Result { call: id.clone(), key: key.to_owned() };
            self.relayed.insert(seen, Relayed { server: call.server, whence, ticket });
        }
        let stage = Stage::Input(Box::new(input));
        let open =
            Open { server: call.server, method: call.method, era: call.era, progress: None, stage };
        self.open.insert(id.clone(), open);
        self.send_again(id);
    }

    /// The requests of a result, each allowed; the error is the reason for the model.
    fn wanted<'a>(&self, server: usize, result: &'a Value) -> Result<Vec<Wanted<'a>>, String> {
        let requests = result.get("inputRequests").and_then(Value::as_object);
        if requests.is_some_and(|it| it.len() > INPUT_REQUESTS_MAX) {
            return Err(TOO_MUCH.to_owned());
        }
        let mut wanted: Vec<Wanted<'a>> = Vec::new();
        for (key, request) in requests.into_iter().flatten() {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").unwrap_or(&Value::Null);
            let refused = if era::can_answer(&self.client.capabilities, method, params) {
                match self.begin_request(server, method, params) {
                    Ok(ticket) => {
                        wanted.push(Wanted { key, method, params, ticket });
                        continue;
                    }
                    Err(reason) => reason,
                }
            } else {
                "your client cannot give it".to_owned()
            };
            wanted.into_iter().for_each(|it| self.gate.lost(it.ticket));
            let method = shown::log_value(method);
            return Err(format!(
                "The server asked for `{method}`, which was not allowed: {refused}"
            ));
        }
        Ok(wanted)
    }

    /// Takes the client's answer to one of them.
    pub(super) fn input_came(
        &mut self,
        call: &Id,
        key: String,
        ticket: Ticket,
        failed: bool,
        message: &Message,
    ) {
        let reason = match self.gate.finish(ticket, message.outcome(), failed) {
            Ok(Delivery::AsItCame) if failed => NO_ANSWER.to_owned(),
            Ok(Delivery::AsItCame) => {
                if let Some(Open { stage: Stage::Input(input), .. }) = self.open.get_mut(call) {
                    input.responses.insert(key, message.outcome().clone());
                    input.missing = input.missing.saturating_sub(1);
                }
                return self.send_again(call);
            }
            // An answer with holes in it is not the one that the person gave.
            Ok(Delivery::Replaced(_)) => super::upstream_input::ANSWER_CHANGED.to_owned(),
            Ok(Delivery::Withheld { reason }) => reason,
            Err(error) => error.to_string(),
        };
        let Some(open) = self.open.remove(call) else { return };
        let Open { method, era, stage, .. } = open;
        let Stage::Input(input) = stage else { return self.give_back(stage) };
        self.withdraw_input(call, "it is not needed any more");
        self.gate.lost(input.ticket);
        self.refuse_kind(call, input.kind, &method, era, &reason);
    }

    /// Makes the call again, once every answer is here.
    fn send_again(&mut self, call: &Id) {
        let is_complete = |open: &Open| matches!(&open.stage, Stage::Input(it) if it.missing == 0);
        if !self.open.get(call).is_some_and(is_complete) {
            return;
        }
        let Some(Open { server, method, era, stage: Stage::Input(input), .. }) =
            self.open.remove(call)
        else {
            return;
        };
        let Input { ticket, kind, name, is_continued, mut kept, state, responses, .. } = *input;
        if let Some(params) = kept.message.value.get_mut("params").and_then(Value::as_object_mut) {
            params.insert("inputResponses".to_owned(), Value::Object(responses));
            match state {
                Some(state) => params.insert("requestState".to_owned(), state),
                None => params.remove("requestState"),
            };
        }
        kept.message.changed = true;
        let message = kept.message.clone();
        let progress = super::client::token(&message);
        let stage = Stage::Gated { ticket, kind, name, is_continued, kept: Some(kept) };
        self.open.insert(call.clone(), Open { server, method, era, progress, stage });
        let line = self.for_server(server, message, era);
        self.send_server(server, line);
    }

    /// Takes requests back that were put to the client for a call.
    pub(super) fn withdraw_input(&mut self, call: &Id, reason: &str) {
        let is_its =
            |it: &Relayed| matches!(&it.whence, Whence::Result { call: it, .. } if it == call);
        let put = self.relayed.iter().filter(|(_, it)| is_its(it));
        let put: Vec<Id> = put.map(|(seen, _)| seen.clone()).collect();
        for seen in put {
            if let Some(relayed) = self.relayed.remove(&seen) {
                self.gate.lost(relayed.ticket);
                self.cancel_at_client(&seen, reason);
            }
        }
    }
}

const CANNOT_GIVE: &str =
    "The server wants input from you that your client's protocol version cannot give.";
const TOO_OFTEN: &str = "The server asked for input again and again, so the call was ended.";
const TOO_MUCH: &str = "The server asked for too much at once, so the call was ended.";
const NO_ANSWER: &str = "Your client gave no answer to what the server wants to know.";
