//! Messages of the client.

use super::Session;
use super::state::{Open, Phase, Progress, Stage};
use crate::era::{self, Era};
use crate::gate::{Begun, Call, Kind};
use crate::limits::{CANCELLED_MAX, OPEN_REQUESTS_MAX, WAITING_MAX};
use crate::message::{
    self, Body, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Message, SERVER_UNAVAILABLE,
};
use crate::method::{self, Class};
use crate::reply;
use serde_json::{Value, json};

impl Session {
    pub(super) fn client_message(&mut self, mut message: Message) {
        if reply::strip_own_marks(&mut message.value) {
            message.changed = true;
        }
        match message.body.clone() {
            Body::Request { id, .. } => self.client_request(&id, message),
            Body::Notification { .. } => self.client_notification(message),
            Body::Response { id, failed } => self.client_response(&id, failed, message),
        }
    }

    fn client_request(&mut self, id: &Id, message: Message) {
        if self.is_taken(id) {
            let text = "the id of this request is in use by another; send it again with a new id";
            return self.send_client(message::error(None, INVALID_REQUEST, text));
        }
        if self.open.len() >= OPEN_REQUESTS_MAX {
            let text = format!("{OPEN_REQUESTS_MAX} requests are under way; wait for an answer");
            return self.fail(id, SERVER_UNAVAILABLE, &text);
        }
        let era = era::of_request(&message);
        self.client.era = Some(era);
        if era == Era::Modern && !self.client.is_introduced {
            self.introduce(&message, era);
        }
        self.route_request(id, message, era);
    }

    /// Does with a request what its method asks for; also with one that has waited.
    pub(super) fn route_request(&mut self, id: &Id, message: Message, era: Era) {
        if era == Era::Modern && method::is_legacy_only(message.method()) {
            let text = format!("there is no `{}` in this version", message.method());
            return self.fail(id, METHOD_NOT_FOUND, &text);
        }
        match method::classify(message.method()) {
            Class::Handshake => self.handshake(id, message, era),
            Class::Ping if self.is_deserted() => self.unavailable(id, 0, "it is gone"),
            Class::Ping => self.respond(id, json!({})),
            Class::LogLevel => self.log_level(id, message, era),
            Class::List(list) if self.prefixes => self.gather(id, list, era),
            Class::List(list) => self.list(id, message, list, era),
            Class::Gated(gated) => self.call(id, message, gated, era),
        }
    }

    /// Keeps a request until its server is ready.
    pub(super) fn wait(&mut self, id: &Id, server: usize, message: Message, era: Era) {
        let Some(link) = self.links.get_mut(server) else { return };
        if link.waiting.len() >= WAITING_MAX {
            return self.unavailable(id, server, "too many requests wait for it already");
        }
        let method = message.method().to_owned();
        link.waiting.push_back(message);
        let open = Open { server, method, era, progress: None, stage: Stage::Waiting };
        self.open.insert(id.clone(), open);
    }

    /// Takes up the requests that waited for a server.
    pub(super) fn release(&mut self, server: usize) {
        let Some(link) = self.links.get_mut(server) else { return };
        for message in std::mem::take(&mut link.waiting) {
            let Body::Request { id, .. } = message.body.clone() else { continue };
            if let Some(open) = self.take_waiting(&id) {
                self.route_request(&id, message, open.era);
            }
        }
    }

    /// Takes a request that waits; one that was cancelled meanwhile waits no longer.
    pub(super) fn take_waiting(&mut self, id: &Id) -> Option<Open> {
        let waits = self.open.get(id).is_some_and(|open| matches!(open.stage, Stage::Waiting));
        if waits { self.open.remove(id) } else { None }
    }

    fn log_level(&mut self, id: &Id, message: Message, era: Era) {
        let level = message.params().get("level").and_then(Value::as_str).unwrap_or("info");
        self.client.log_level = Some(level.to_owned());
        let params = json!({"level": level});
        let is_relayed = !self.prefixes && self.phase(0) == Phase::Ready(Era::Legacy);
        if is_relayed {
            return self.forward_plain(id, 0, message, era);
        }
        for server in self.ready_servers(Era::Legacy) {
            self.ask_and_forget(server, "logging/setLevel", params.clone());
        }
        self.respond(id, json!({}));
    }

    /// Sends a request whose answer needs no gate.
    pub(super) fn forward_plain(&mut self, id: &Id, server: usize, message: Message, era: Era) {
        let method = message.method().to_owned();
        let open = Open { server, method, era, progress: token(&message), stage: Stage::Plain };
        self.open.insert(id.clone(), open);
        let line = self.for_server(server, message, era);
        self.send_server(server, line);
    }

    /// Writes a request as the server's era wants it.
    pub(super) fn for_server(&mut self, server: usize, mut message: Message, era: Era) -> Vec<u8> {
        if self.phase(server) == Phase::Ready(Era::Modern) && era == Era::Legacy {
            let level = self.client.log_level.clone();
            let capabilities = era::asked_of_client(&self.client.capabilities);
            let info = &self.client.info;
            era::modernize(&mut message.value, &capabilities, info, level.as_deref());
            message.changed = true;
        }
        message.into_line()
    }

    fn client_notification(&mut self, message: Message) {
        match message.method() {
            "notifications/cancelled" => self.cancel(message),
            "notifications/initialized" => {
                // Where we wrote the handshake, we wrote this, too.
                let is_relayed = !self.prefixes && self.phase(0) == Phase::Ready(Era::Legacy);
                if is_relayed && self.client.era == Some(Era::Legacy) {
                    self.send_server(0, message.into_line());
                }
            }
            "notifications/roots/list_changed" => {
                for server in self.ready_servers(Era::Legacy) {
                    self.send_server(server, message.clone().into_line());
                }
            }
            _ if !self.prefixes => self.unknown_notification(message),
            _ => {}
        }
    }

    /// A notification may set something in motion as well as a request can.
    fn unknown_notification(&mut self, message: Message) {
        let Some(link) = self.links.first() else { return };
        if !matches!(link.phase, Phase::Ready(_)) {
            return;
        }
        let arguments = method::without_meta(message.params());
        let name = message.method();
        let call = Call { server: &link.name, kind: Kind::Other, name, arguments: &arguments };
        if let Ok(Begun::Allowed(ticket)) = self.gate.begin(&call) {
            // Nothing comes back that could be withheld.
            let _none = self.gate.finish(ticket, &Value::Null, false);
            self.send_server(0, message.into_line());
        }
    }

    fn cancel(&mut self, mut message: Message) {
        let Some(id) = message.params().get("requestId").and_then(Id::parse) else { return };
        // A legacy client must not cancel its handshake.
        let is_handshake = matches!(self.open.get(&id), Some(open) if matches!(open.stage, Stage::Handshake { .. }));
        if is_handshake {
            return;
        }
        let Some(open) = self.open.remove(&id) else { return };
        let is_at_server =
            matches!(open.stage, Stage::Plain | Stage::Gated { .. } | Stage::Tools { .. });
        if let Stage::Asking(question) = &open.stage {
            self.withdraw_question(question);
        }
        if matches!(open.stage, Stage::Input(_)) {
            self.withdraw_input(&id, "the call was cancelled");
        }
        if let Some(link) = self.links.get_mut(open.server) {
            let is_other = |body: &Body| !matches!(body, Body::Request { id: it, .. } if *it == id);
            link.waiting.retain(|message| is_other(&message.body));
        }
        if let Stage::Gathering(gather) = &open.stage {
            self.gathers.remove(gather);
        }
        self.give_back(open.stage);
        if is_at_server {
            let at_server = self.at_server(&id);
            if at_server != id
                && let Some(place) = message.value.pointer_mut("/params/requestId")
            {
                *place = at_server.to_value();
                message.changed = true;
            }
            self.aliases.remove(&at_server);
            // Its late answer comes by the id that the server knows.
            self.remember_cancelled(at_server);
            self.send_server(open.server, message.into_line());
        }
    }

    /// A late answer must not be taken for that of a new request with the same id.
    pub(super) fn remember_cancelled(&mut self, id: Id) {
        if self.cancelled.len() >= CANCELLED_MAX {
            self.cancelled.pop_front();
        }
        self.cancelled.push_back(id);
    }

    pub(super) fn phase(&self, server: usize) -> Phase {
        let gone = || Phase::Gone { reason: "there is no such server".to_owned() };
        self.links.get(server).map_or_else(gone, |link| link.phase.clone())
    }

    pub(super) fn ready_servers(&self, era: Era) -> Vec<usize> {
        let ready = Phase::Ready(era);
        let links = self.links.iter().enumerate();
        links.filter(|(_, link)| link.phase == ready).map(|(server, _)| server).collect()
    }
}

/// The token by which a request wants to hear of its progress.
pub(super) fn token(message: &Message) -> Option<Progress> {
    let token = message.params().get("_meta")?.get("progressToken")?.clone();
    Some(Progress { token, bytes: 0 })
}
