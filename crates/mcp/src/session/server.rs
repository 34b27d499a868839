//! Messages of servers that are no answers: requests to the client, notifications, and the end.

use super::Session;
use super::notice::said;
use super::state::{Phase, Relayed, Stage, Whence};
use super::words::Said;
use crate::era::Era;
use crate::gate::{Begun, Call, Delivery, Kind, Ticket};
use crate::limits::{NOTIFICATION_BYTES_MAX, SERVER_REQUESTS_MAX};
use crate::message::{
    self, Body, DENIED, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Malformed, Message,
};
use crate::method;
use crate::reply;
use crate::shown;
use serde_json::{Value, json};

impl Session {
    pub(super) fn server_message(&mut self, server: usize, mut message: Message) {
        if matches!(self.phase(server), Phase::Gone { .. }) {
            return;
        }
        if reply::strip_own_marks(&mut message.value) | message.strip_envelope() {
            message.changed = true;
        }
        match message.body.clone() {
            Body::Response { id, failed } => self.server_response(server, &id, failed, message),
            Body::Request { id, method } => self.server_request(server, id, &method, message),
            Body::Notification { method } => self.server_notification(server, &method, message),
        }
    }

    /// A request of a server: judged, and passed on to a client whose era knows such requests.
    fn server_request(&mut self, server: usize, id: Id, method: &str, mut message: Message) {
        if method == "ping" {
            return self.send_server(server, message::response(&id, json!({})));
        }
        if self.client.era == Some(Era::Modern) {
            if let Err((code, reason)) = self.suspend(server, &id, method, &message) {
                self.send_server(server, message::error(Some(&id), code, &reason));
            }
            return;
        }
        let refused = match self.judge_server_request(server, &id, method, &message) {
            Ok(ticket) => {
                let seen =
                    if self.prefixes || self.is_seen(&id) { self.new_id() } else { id.clone() };
                if seen != id {
                    message.set_id(&seen);
                }
                let whence = Whence::Server(id);
                self.relayed.insert(seen, Relayed { server, whence, ticket });
                return self.send_client(message.into_line());
            }
            Err(refused) => refused,
        };
        let (code, reason) = refused;
        self.send_server(server, message::error(Some(&id), code, &reason));
    }

    fn judge_server_request(
        &self,
        server: usize,
        id: &Id,
        method: &str,
        message: &Message,
    ) -> Result<Ticket, (i64, String)> {
        let same = self.relayed.values().filter(|it| it.server == server);
        if same.clone().any(|it| it.is(server, id)) {
            return Err((
                INVALID_REQUEST,
                "the id of this request is in use by another".to_owned(),
            ));
        }
        if same.count() >= SERVER_REQUESTS_MAX {
            return Err((
                INVALID_REQUEST,
                "too many requests to the client are under way".to_owned(),
            ));
        }
        if self.client.era != Some(Era::Legacy) {
            return Err((METHOD_NOT_FOUND, "the client takes no requests".to_owned()));
        }
        self.begin_request(server, method, message.params()).map_err(|reason| (DENIED, reason))
    }

    /// Judges a request of a server to the client; the error is the reason.
    pub(super) fn begin_request(
        &self,
        server: usize,
        method: &str,
        params: &Value,
    ) -> Result<Ticket, String> {
        let name = self.links.get(server).map_or("", |link| link.name.as_str());
        let (arguments, kind) = (said(params), method::server_request_kind(method));
        let call = Call { server: name, kind, name: method, arguments: &arguments };
        match self.gate.begin(&call) {
            Ok(Begun::Allowed(ticket)) => Ok(ticket),
            // A person is asked about what the client does, not in the name of a server.
            Ok(Begun::Denied { reason } | Begun::Asked { message: reason, .. }) => Err(reason),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Judges the client's answer to a request of a server: what goes to the server in its place, if anything does; the error is
    /// why nothing goes.
    pub(super) fn finish_request(
        &self,
        ticket: Ticket,
        answer: &Value,
        failed: bool,
    ) -> Result<Option<Value>, String> {
        match self.gate.finish(ticket, answer, failed) {
            Ok(Delivery::AsItCame) => Ok(None),
            Ok(Delivery::Replaced(text)) => {
                let result = reply::replaced(Kind::Other, Era::Legacy, "", &Value::Null, &text);
                result.map(Some).ok_or(text)
            }
            Ok(Delivery::Withheld { reason }) => Err(reason),
            Err(error) => Err(error.to_string()),
        }
    }

    fn is_seen(&self, id: &Id) -> bool {
        self.relayed.contains_key(id) || self.questions.contains_key(id)
    }

    /// The client's answer to a question of ours or to a server's request.
    pub(super) fn client_response(&mut self, id: &Id, failed: bool, mut message: Message) {
        if self.answer_question(id, failed, &message) {
            return;
        }
        let Some(Relayed { server, whence, ticket }) = self.relayed.remove(id) else { return };
        let origin = match whence {
            Whence::Server(origin) => origin,
            Whence::Result { call, key } => {
                return self.input_came(&call, key, ticket, failed, &message);
            }
        };
        let line = match self.finish_request(ticket, message.outcome(), failed) {
            Ok(None) => {
                if origin != *id {
                    message.set_id(&origin);
                }
                message.into_line()
            }
            Ok(Some(result)) => message::response(&origin, result),
            Err(reason) => message::error(Some(&origin), DENIED, &reason),
        };
        self.send_server(server, line);
    }

    fn server_notification(&mut self, server: usize, method: &str, mut message: Message) {
        let Some(link) = self.links.get_mut(server) else { return };
        let (is_within, is_first_beyond) = link.rate.count(self.now);
        if is_first_beyond {
            self.note(server, "flood", &json!({"method": shown::log_value(method)}));
        }
        // Losing this one would leave old definitions in force.
        if method == "notifications/tools/list_changed"
            && let Some(link) = self.links.get_mut(server)
        {
            link.catalogue.mark_stale();
        }
        if method == "notifications/prompts/list_changed"
            && let Some(link) = self.links.get_mut(server)
        {
            link.prompts.forget();
        }
        if !is_within || message.len() > NOTIFICATION_BYTES_MAX {
            return;
        }
        match method {
            "notifications/cancelled" => self.server_cancelled(server, message),
            "notifications/progress" => {
                let token = message.params().get("progressToken");
                let is_known = token.is_some()
                    && self
                        .open
                        .values()
                        .filter(|open| open.server == server)
                        .any(|open| open.progress.as_ref().map(|it| &it.token) == token);
                if is_known {
                    self.pass_notice(server, method, message, Some("message"));
                }
            }
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/subscriptions/acknowledged" => {
                if self.quieten(server, &mut message) {
                    self.changed(server, message);
                }
            }
            "notifications/tasks/status" => {
                self.pass_notice(server, method, message, Some("statusMessage"));
            }
            "notifications/message" | "notifications/elicitation/complete" => {
                self.pass_notice(server, method, message, None);
            }
            _ => {
                if self.is_judged(server, method, message.params()) {
                    self.send_client(message.into_line());
                }
            }
        }
    }

    /// A server takes its own request back.
    fn server_cancelled(&mut self, server: usize, mut message: Message) {
        let Some(origin) = message.params().get("requestId").and_then(Id::parse) else { return };
        if self.take_back_suspended(server, &origin) {
            return;
        }
        let found = self.relayed.iter().find(|(_, it)| it.is(server, &origin));
        let Some(seen) = found.map(|(seen, _)| seen.clone()) else { return };
        if let Some(relayed) = self.relayed.remove(&seen) {
            self.gate.lost(relayed.ticket);
        }
        if seen != origin
            && let Some(place) = message.value.pointer_mut("/params/requestId")
        {
            *place = seen.to_value();
            message.changed = true;
        }
        // Why it does, the client can do without.
        if Said::of(message.params()).speaks()
            && let Some(params) = message.value.get_mut("params")
        {
            *params = json!({"requestId": seen.to_value()});
            message.changed = true;
        }
        self.send_client(message.into_line());
    }

    pub(super) fn note_malformed(&mut self, server: usize, refused: &Malformed) {
        let Some(link) = self.links.get_mut(server) else { return };
        link.malformed += 1;
        // Some servers write their log where their messages belong: one record is enough.
        if link.malformed == 1 {
            self.note(server, "malformed", &json!({"reason": refused.to_string()}));
        }
    }

    pub(super) fn lose_server(&mut self, server: usize, reason: &str) {
        let Some(link) = self.links.get_mut(server) else { return };
        if matches!(link.phase, Phase::Gone { .. }) {
            return;
        }
        link.phase = Phase::Gone { reason: reason.to_owned() };
        link.waiting.clear();
        let name = link.name.clone();
        self.routes.forget(server);
        self.note(server, "crash", &json!({"reason": reason}));
        let text = format!("The server `{name}` does not answer: {reason}.");
        let is_hit = |stage: &Stage| match stage {
            Stage::Plain
            | Stage::Gated { .. }
            | Stage::Tools { .. }
            | Stage::Judging { .. }
            | Stage::Waiting
            | Stage::Asking(_)
            | Stage::Input(_) => true,
            Stage::Handshake { is_relayed, .. } => *is_relayed,
            // It has answered before it went.
            Stage::Finishing { .. } | Stage::Gathering(_) | Stage::Listening { .. } => false,
        };
        let hit = self.open.iter().filter(|(_, open)| open.server == server && is_hit(&open.stage));
        let hit: Vec<Id> = hit.map(|(id, _)| id.clone()).collect();
        for id in hit {
            if let Some(open) = self.open.remove(&id) {
                self.end_open(&id, open, &text);
            }
        }
        self.lose_relayed(server);
        self.lose_suspended(Some(server));
        let open = &self.open;
        self.aliases.retain(|_, seen| open.contains_key(seen));
        self.lose_own(server);
        self.answer_handshakes();
        self.gather_late(server);
        if self.prefixes {
            self.announce_change("notifications/tools/list_changed", json!({}));
        }
    }

    fn lose_relayed(&mut self, server: usize) {
        let lost = self.relayed.iter().filter(|(_, it)| it.server == server);
        let lost: Vec<Id> = lost.map(|(seen, _)| seen.clone()).collect();
        for seen in lost {
            if let Some(relayed) = self.relayed.remove(&seen) {
                self.gate.lost(relayed.ticket);
                self.cancel_at_client(&seen, "the server is gone");
            }
        }
    }
}
