//! Answers of servers to the client's requests.

use super::Session;
use super::state::{Open, Stage};
use crate::approvals::Approvals;
use crate::era::{self, Era};
use crate::gate::{Delivery, GateError, Kind, Ticket};
use crate::message::{INTERNAL_ERROR, Id, Malformed, Message, SERVER_UNAVAILABLE};
use crate::method::{self, Class};
use crate::reply;
use serde_json::{Value, json};

impl Session {
    pub(super) fn server_response(
        &mut self,
        server: usize,
        id: &Id,
        failed: bool,
        mut message: Message,
    ) {
        if self.own.get(id).is_some_and(|own| own.server == server) {
            return self.own_response(id, failed, &message);
        }
        if self.aliases.values().any(|it| it == id) {
            // The server knows this call by another id.
            return;
        }
        let seen = self.seen_id(server, id);
        if seen != *id {
            message.set_id(&seen);
        }
        let id = &seen;
        let is_awaited = self.open.get(id).is_some_and(|open| {
            open.server == server
                && match &open.stage {
                    Stage::Plain | Stage::Gated { .. } | Stage::Tools { .. } => true,
                    Stage::Handshake { is_relayed, .. } => *is_relayed,
                    Stage::Waiting
                    | Stage::Judging { .. }
                    | Stage::Finishing { .. }
                    | Stage::Asking(_)
                    | Stage::Input(_)
                    | Stage::Gathering(_)
                    | Stage::Listening { .. } => false,
                }
        });
        if !is_awaited {
            // Late, answered twice, or never asked for. A cancelled id is free again once its answer came.
            self.cancelled.retain(|it| it != id);
            return;
        }
        let Some(open) = self.open.remove(id) else { return };
        self.deliver(id, open, failed, message);
    }

    fn deliver(&mut self, id: &Id, open: Open, failed: bool, message: Message) {
        let Open { server, method, era, stage, .. } = open;
        match stage {
            Stage::Gated { ticket, kind, name, is_continued, kept } => {
                let call = Answer { server, method, era, kind, name, is_continued };
                if era == Era::Legacy && !failed && wants_input(message.outcome()) {
                    return self.put_to_client(id, call, ticket, kept, &message);
                }
                self.finish(id, call, ticket, failed, message);
            }
            Stage::Tools { cursor } if !failed => self.tools_page(id, server, era, cursor, message),
            Stage::Handshake { message: request, .. } => {
                self.handshake_response(id, server, era, *request, failed, message);
            }
            Stage::Tools { .. } | Stage::Plain
                if !self.may_pass(server, &method, message.outcome()) =>
            {
                self.fail_without_words(id, message.outcome());
            }
            Stage::Tools { .. } | Stage::Plain => self.pass(&method, era, server, failed, message),
            Stage::Waiting
            | Stage::Judging { .. }
            | Stage::Finishing { .. }
            | Stage::Asking(_)
            | Stage::Input(_)
            | Stage::Gathering(_)
            | Stage::Listening { .. } => {}
        }
    }

    /// Hands a result to the gate.
    fn finish(
        &mut self,
        id: &Id,
        call: Answer,
        ticket: Ticket,
        failed: bool,
        mut message: Message,
    ) {
        let held = self.hold_listed(&call, failed, &mut message);
        let held = held.map_err(|error| error.to_string());
        if let Err(reason) = held.and_then(|()| self.check_input_requests(&call, &message)) {
            self.gate.lost(ticket);
            return self.refuse_kind(id, call.kind, &call.method, call.era, &reason);
        }
        self.have_judged(id, call, ticket, failed, message);
    }

    /// Hands to the client what the gate leaves of a result.
    pub(super) fn hand_over(
        &mut self,
        id: &Id,
        call: Answer,
        failed: bool,
        message: Message,
        delivery: Result<Delivery, GateError>,
    ) {
        let outcome = message.outcome();
        match delivery {
            Ok(Delivery::AsItCame) => {
                self.remember_task(&call, message.outcome());
                self.remember_resources(&call, failed, message.outcome());
                self.pass(&call.method, call.era, call.server, failed, message);
            }
            Ok(Delivery::Replaced(text)) if failed => {
                let code = outcome.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL_ERROR);
                self.fail(id, code, &text);
            }
            Ok(Delivery::Replaced(text)) => {
                match reply::replaced(call.kind, call.era, &call.name, outcome, &text) {
                    Some(result) => self.respond(id, result),
                    None => self.refuse_kind(id, call.kind, &call.method, call.era, &text),
                }
            }
            Ok(Delivery::Withheld { reason }) => {
                self.refuse_kind(id, call.kind, &call.method, call.era, &reason);
            }
            Err(error) => {
                self.refuse_kind(id, call.kind, &call.method, call.era, &error.to_string());
            }
        }
    }

    /// Passes an answer on, in the client's era.
    fn pass(&mut self, method: &str, era: Era, server: usize, failed: bool, mut message: Message) {
        let is_legacy = matches!(self.phase(server), super::Phase::Ready(Era::Legacy));
        if era == Era::Modern
            && is_legacy
            && !failed
            && let Some(result) = message.value.get_mut("result")
        {
            era::complete(method, result);
            message.changed = true;
        }
        self.send_client(message.into_line());
    }

    /// A task's handle says where the result will be: what comes from there is judged as this tool's.
    fn remember_task(&mut self, call: &Answer, result: &Value) {
        let task = result.get("taskId").or_else(|| result.pointer("/task/taskId"));
        if call.kind == Kind::Tool
            && let Some(task) = task.and_then(Value::as_str)
        {
            self.routes.add_task(task, call.server, &call.name);
        }
    }

    /// Takes what is held out of a list of prompts or resources.
    fn hold_listed(
        &mut self,
        call: &Answer,
        failed: bool,
        message: &mut Message,
    ) -> Result<(), GateError> {
        let Class::List(list) = method::classify(&call.method) else { return Ok(()) };
        let listed = message.value.get_mut("result").and_then(|it| it.get_mut(list.key()));
        let Some(items) = listed.filter(|_| !failed).and_then(Value::as_array_mut) else {
            return Ok(());
        };
        let mut kept = std::mem::take(items);
        message.changed |= self.hold_offers(call.server, list, &mut kept, call.is_continued)?;
        *items = kept;
        Ok(())
    }

    /// A resource that its server lists or has taken a subscription to is the server's own, not an address that
    /// somebody else could have chosen.
    fn remember_resources(&mut self, call: &Answer, failed: bool, result: &Value) {
        if failed {
            return;
        }
        match call.method.as_str() {
            "resources/list" => {
                let listed = result.get("resources").and_then(Value::as_array);
                for uri in listed.into_iter().flatten().filter_map(|it| it.get("uri")?.as_str()) {
                    self.routes.add_resource(uri, call.server);
                }
            }
            "resources/subscribe" => {
                self.routes.add_resource(&call.name, call.server);
            }
            _ => {}
        }
    }

    /// Tells whoever waits for an answer that it cannot be read.
    pub(super) fn unreadable_answer(&mut self, server: usize, id: &Id, refused: &Malformed) {
        let text = format!("The server's answer cannot be passed on: {refused}.");
        if self.own.get(id).is_some_and(|own| own.server == server) {
            let error = json!({"code": INTERNAL_ERROR, "message": text});
            return self.own_failed(id, &error);
        }
        let id = &self.seen_id(server, id);
        let is_its = |open: &Open| {
            open.server == server
                && matches!(open.stage, Stage::Plain | Stage::Gated { .. } | Stage::Tools { .. })
        };
        if !self.open.get(id).is_some_and(is_its) {
            return;
        }
        if let Some(open) = self.open.remove(id) {
            self.end_open(id, open, &text);
        }
    }

    /// Ends a request for which no answer will come.
    pub(super) fn end_open(&mut self, id: &Id, open: Open, text: &str) {
        let is_tool = matches!(&open.stage, Stage::Gated { kind: Kind::Tool, .. })
            || open.method == "tools/call";
        if let Stage::Asking(question) = &open.stage {
            self.withdraw_question(question);
        }
        if matches!(open.stage, Stage::Input(_)) {
            self.withdraw_input(id, "the call has ended");
        }
        self.give_back(open.stage);
        if is_tool {
            self.respond(id, reply::refusal(open.era, text));
        } else {
            self.fail(id, SERVER_UNAVAILABLE, text);
        }
    }

    /// Whether a result carries a state that only we may issue.
    pub(super) fn forges_state(result: &Value) -> bool {
        let state = result.get("requestState").and_then(Value::as_str);
        state.is_some_and(|it| Approvals::claims(it) || Self::claims_input(it))
    }
}

/// Whether a result is none yet: its server wants to know something first.
fn wants_input(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

/// The call that an answer belongs to.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) server: usize,
    pub(super) method: String,
    pub(super) era: Era,
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Whether a page of a list was asked for that is not the first.
    pub(super) is_continued: bool,
}
