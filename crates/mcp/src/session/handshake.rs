//! Handshakes: relayed where client and server speak one era, written by us where they do not.

use super::Session;
use super::own::Job;
use super::state::{Link, Open, Phase, Stage};
use crate::era::{
    self, Era, LEGACY_VERSION, LEGACY_VERSIONS, META_CAPABILITIES, META_CLIENT, META_SERVER,
    META_VERSION, MODERN_VERSION,
};
use crate::gate::{Begun, Call, Delivery, Kind};
use crate::limits::{DISCOVER_WAIT, HANDSHAKE_WAIT, HANDSHAKES_MAX, INITIALIZE_WAIT};
use crate::message::{self, INVALID_PARAMS, Id, METHOD_NOT_FOUND, Message, SERVER_UNAVAILABLE};
use crate::shown;
use serde_json::{Map, Value, json};

impl Session {
    /// Takes the client's `initialize` or `server/discover`.
    pub(super) fn handshake(&mut self, id: &Id, message: Message, era: Era) {
        self.introduce(&message, era);
        if self.prefixes {
            self.keep_handshake(id, message, era, false);
            return self.answer_handshakes();
        }
        match self.phase(0) {
            Phase::New => {
                if let Some(link) = self.links.first_mut() {
                    link.phase = Phase::Negotiating;
                }
                self.send_server(0, message.clone().into_line());
                self.keep_handshake(id, message, era, true);
            }
            Phase::Negotiating => self.wait(id, 0, message, era),
            // One without a revision reads as a legacy one: it is not to turn a server to that era in the middle of a session.
            Phase::Ready(Era::Modern) if era == Era::Modern && !era::has_revision(&message) => {
                self.fail(id, INVALID_PARAMS, &format!("`params._meta` has no `{META_VERSION}`"));
            }
            Phase::Ready(Era::Modern) if era == Era::Modern => {
                self.send_server(0, message.clone().into_line());
                self.keep_handshake(id, message, era, true);
            }
            Phase::Ready(_) => {
                self.keep_handshake(id, message, era, false);
                self.answer_handshakes();
            }
            Phase::Gone { reason } => self.unavailable(id, 0, &reason),
        }
    }

    /// Asks a server for its era, if nobody did yet.
    pub(super) fn probe(&mut self, server: usize) {
        if self.phase(server) == Phase::New {
            if let Some(link) = self.links.get_mut(server) {
                link.phase = Phase::Negotiating;
            }
            self.ask_server(server, "server/discover", json!({}), Job::Discover, DISCOVER_WAIT);
        }
    }

    fn initialize(&mut self, server: usize) {
        if let Some(link) = self.links.get_mut(server) {
            link.handshakes += 1;
        }
        let params = json!({
            "protocolVersion": LEGACY_VERSION,
            "capabilities": era::asked_of_client(&self.client.capabilities),
            "clientInfo": self.client.info,
        });
        self.ask_server(server, "initialize", params, Job::Initialize, INITIALIZE_WAIT);
    }

    pub(super) fn introduce(&mut self, message: &Message, era: Era) {
        self.client.is_introduced = true;
        let params = message.params();
        let (capabilities, info) = match era {
            Era::Legacy => (params.get("capabilities"), params.get("clientInfo")),
            Era::Modern => {
                let meta = params.get("_meta").unwrap_or(&Value::Null);
                (meta.get(META_CAPABILITIES), meta.get(META_CLIENT))
            }
        };
        if let Some(capabilities) = capabilities.filter(|it| it.is_object()) {
            self.client.capabilities = capabilities.clone();
        }
        if let Some(info) = info.filter(|it| it.is_object()) {
            self.client.info = info.clone();
        }
        if let Some(version) = params.get("protocolVersion").and_then(Value::as_str) {
            self.client.version = version.to_owned();
        }
    }

    fn keep_handshake(&mut self, id: &Id, message: Message, era: Era, is_relayed: bool) {
        let deadline = match (is_relayed, era) {
            (true, Era::Modern) => Some(self.now + DISCOVER_WAIT),
            (true, Era::Legacy) => None,
            (false, _) => self.prefixes.then(|| self.now + HANDSHAKE_WAIT),
        };
        let method = message.method().to_owned();
        let stage = Stage::Handshake { message: Box::new(message), is_relayed, deadline };
        self.open.insert(id.clone(), Open { server: 0, method, era, progress: None, stage });
    }

    /// Takes the server's answer to a handshake that was relayed.
    pub(super) fn handshake_response(
        &mut self,
        id: &Id,
        server: usize,
        era: Era,
        request: Message,
        failed: bool,
        mut answer: Message,
    ) {
        let outcome = answer.outcome();
        if failed {
            let code = outcome.get("code").and_then(Value::as_i64);
            // Once the era is known, an error is about this request and not about the era.
            let is_open = self.phase(server) == Phase::Negotiating;
            let is_other_era = is_open
                && match era {
                    Era::Legacy => code == Some(METHOD_NOT_FOUND) || era::is_modern_error(outcome),
                    Era::Modern => !era::is_modern_error(outcome),
                };
            if is_other_era {
                self.keep_handshake(id, request, era, false);
                return match era {
                    Era::Legacy => {
                        self.ask_server(
                            server,
                            "server/discover",
                            json!({}),
                            Job::Discover,
                            DISCOVER_WAIT,
                        );
                    }
                    Era::Modern => self.initialize(server),
                };
            }
            if let Some(link) = self.links.get_mut(server)
                && link.phase == Phase::Negotiating
            {
                link.phase =
                    if era == Era::Modern { Phase::Ready(Era::Modern) } else { Phase::New };
            }
            self.pass_error(id, server, request.method(), answer);
            return self.release(server);
        }
        if era == Era::Modern && outcome.get("supportedVersions").is_none() {
            self.keep_handshake(id, request, era, false);
            return self.initialize(server);
        }
        if let Some(result) = answer.value.get_mut("result") {
            answer.changed |=
                self.quieten_beside(server, request.method(), result, &["instructions"]);
        }
        let outcome = answer.outcome();
        let told = outcome.get("instructions").and_then(Value::as_str).map(str::to_owned);
        self.absorb(server, era, outcome.clone());
        let judged = self.links.get(server).and_then(|link| link.instructions.clone());
        if judged != told
            && let Some(result) = answer.value.get_mut("result").and_then(Value::as_object_mut)
        {
            match judged {
                Some(text) => result.insert("instructions".to_owned(), json!(text)),
                None => result.remove("instructions"),
            };
            answer.changed = true;
        }
        self.send_client(answer.into_line());
        self.release(server);
    }

    /// Takes the server's answer to a handshake of ours.
    pub(super) fn own_handshake(
        &mut self,
        server: usize,
        job: &Job,
        failed: bool,
        outcome: &Value,
    ) {
        match job {
            Job::Discover if !failed && outcome.get("supportedVersions").is_some() => {
                self.ready(server, Era::Modern, outcome.clone());
            }
            Job::Discover if failed && era::is_modern_error(outcome) => {
                self.ready(server, Era::Modern, json!({}));
            }
            Job::Discover => self.initialize(server),
            Job::Initialize if !failed => {
                let line = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                self.send_server(server, message::encode(&line));
                self.ready(server, Era::Legacy, outcome.clone());
            }
            // A server that starts slowly may have been taken for a legacy one before it could answer.
            Job::Initialize if self.may_retry(server) => {
                self.ask_server(server, "server/discover", json!({}), Job::Discover, DISCOVER_WAIT);
            }
            Job::Initialize | Job::List(_) | Job::Listen | Job::Ignore => {
                let said = outcome.get("message").and_then(Value::as_str).unwrap_or_default();
                let is_let_in = self.may_pass(server, "initialize", outcome);
                let said = if is_let_in { said } else { "its words were withheld" };
                let said = shown::description(said).replace('\n', " ");
                self.lose_server(server, &format!("it refused the handshake ({said})"));
            }
        }
    }

    fn may_retry(&self, server: usize) -> bool {
        self.links.get(server).is_some_and(|link| link.handshakes < HANDSHAKES_MAX)
    }

    fn ready(&mut self, server: usize, era: Era, mut result: Value) {
        let method = if era == Era::Modern { "server/discover" } else { "initialize" };
        self.quieten_beside(server, method, &mut result, &["instructions"]);
        self.absorb(server, era, result);
        if self.prefixes && self.client.is_greeted {
            self.announce_change("notifications/tools/list_changed", json!({}));
        }
        self.answer_handshakes();
        self.gather_late(server);
        if era == Era::Modern && (self.prefixes || self.client.era == Some(Era::Legacy)) {
            self.listen_for_ourselves(server);
        }
        self.release(server);
    }

    fn absorb(&mut self, server: usize, era: Era, result: Value) {
        let instructions = result.get("instructions").and_then(Value::as_str);
        let judged = instructions.and_then(|text| self.judge_instructions(server, text));
        let Some(link) = self.links.get_mut(server) else { return };
        link.phase = Phase::Ready(era);
        link.instructions = judged;
        if let Some(capabilities) = result.get("capabilities").filter(|it| it.is_object()) {
            link.capabilities = capabilities.clone();
        }
        let info = match era {
            Era::Legacy => result.get("serverInfo"),
            Era::Modern => result.get("_meta").and_then(|it| it.get(META_SERVER)),
        };
        if let Some(info) = info.filter(|it| it.is_object()) {
            link.info = info.clone();
        }
        self.note(server, "negotiation", &result);
    }

    /// Instructions reach the model like any result: through the gate, or not at all.
    fn judge_instructions(&self, server: usize, text: &str) -> Option<String> {
        let name = self.links.get(server).map_or("", |link| link.name.as_str());
        let arguments = json!({});
        let call = Call {
            server: name,
            kind: Kind::Instructions,
            name: "instructions",
            arguments: &arguments,
        };
        let Ok(Begun::Allowed(ticket)) = self.gate.begin(&call) else { return None };
        let result = json!({"content": [{"type": "text", "text": text}]});
        match self.gate.finish(ticket, &result, false) {
            Ok(Delivery::AsItCame) => Some(text.to_owned()),
            Ok(Delivery::Replaced(text)) => Some(text),
            Ok(Delivery::Withheld { .. }) | Err(_) => None,
        }
    }

    /// Answers the handshakes that wait for us: when no server negotiates any more, or some are ready and the client
    /// has waited long enough for the others.
    pub(super) fn answer_handshakes(&mut self) {
        let is_ready = |link: &Link| matches!(link.phase, Phase::Ready(_));
        let is_gone = |link: &Link| matches!(link.phase, Phase::Gone { .. });
        let is_settled = self.links.iter().all(|link| is_ready(link) || is_gone(link));
        let is_any_ready = self.links.iter().any(is_ready);
        let now = self.now;
        let is_due = |open: &Open| match &open.stage {
            Stage::Handshake { is_relayed, deadline, .. } => {
                let is_late = deadline.is_some_and(|it| now >= it);
                !is_relayed && (is_settled || (is_any_ready && is_late))
            }
            Stage::Plain
            | Stage::Gated { .. }
            | Stage::Tools { .. }
            | Stage::Judging { .. }
            | Stage::Finishing { .. }
            | Stage::Waiting
            | Stage::Asking(_)
            | Stage::Input(_)
            | Stage::Gathering(_)
            | Stage::Listening { .. } => false,
        };
        let due = self.open.iter().filter(|(_, open)| is_due(open));
        let waiting: Vec<(Id, Era)> = due.map(|(id, open)| (id.clone(), open.era)).collect();
        for (id, era) in waiting {
            self.open.remove(&id);
            if self.is_deserted() {
                let text = match self.links.as_slice() {
                    [Link { phase: Phase::Gone { reason }, .. }] => {
                        format!("the server does not answer: {reason}")
                    }
                    _ => "no server answers; look at the servers' own messages".to_owned(),
                };
                self.fail(&id, SERVER_UNAVAILABLE, &text);
            } else {
                self.client.is_greeted = true;
                let result = self.introduction(era);
                self.respond(&id, result);
            }
        }
    }

    /// Our own `InitializeResult` or `DiscoverResult`.
    fn introduction(&self, era: Era) -> Value {
        let ready: Vec<_> =
            self.links.iter().filter(|link| matches!(link.phase, Phase::Ready(_))).collect();
        let mut capabilities = Map::new();
        for (key, value) in ready.iter().filter_map(|link| link.capabilities.as_object()).flatten()
        {
            capabilities.entry(key.clone()).or_insert_with(|| value.clone());
        }
        let own = json!({"name": "lazaret", "version": env!("CARGO_PKG_VERSION")});
        let info = match ready.as_slice() {
            [only] if !self.prefixes => only.info.clone(),
            _ => own,
        };
        let told: Vec<String> = ready
            .iter()
            .filter_map(|link| {
                let text = link.instructions.as_ref()?;
                Some(if self.prefixes { format!("{}: {text}", link.name) } else { text.clone() })
            })
            .collect();
        let mut result = match era {
            Era::Legacy => {
                let asked = self.client.version.as_str();
                let version = if LEGACY_VERSIONS.contains(&asked) { asked } else { LEGACY_VERSION };
                json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
            }
            Era::Modern => json!({
                "resultType": "complete", "supportedVersions": [MODERN_VERSION],
                "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private",
                "_meta": {META_SERVER: info},
            }),
        };
        if !told.is_empty()
            && let Some(object) = result.as_object_mut()
        {
            object.insert("instructions".to_owned(), json!(told.join("\n\n")));
        }
        result
    }

    /// A server that is silent about `server/discover` is a legacy one.
    pub(super) fn expire_relayed_discover(&mut self) {
        let now = self.now;
        let mut silent = Vec::new();
        for open in self.open.values_mut() {
            if let Stage::Handshake { is_relayed, deadline, .. } = &mut open.stage
                && *is_relayed
                && deadline.is_some_and(|it| now >= it)
            {
                *is_relayed = false;
                *deadline = None;
                silent.push(open.server);
            }
        }
        for server in silent {
            if self.phase(server) == Phase::Negotiating {
                self.initialize(server);
            }
        }
        self.answer_handshakes();
    }
}
