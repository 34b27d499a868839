//! What a server says beside its results: notifications, errors of requests that need no gate, what stands beside a list of tools
//! or in a handshake. A model may read it as well as a result, so what is more than a word or two goes through the gate. How
//! much of it is judged is bounded: it is judged in the session's turn, and what waits behind it matters more.

use super::Session;
use super::words::{Said, silence};
use crate::gate::{Begun, Call, Delivery, Kind};
use crate::limits::{
    DEFINITION_BYTES_MAX, NOTICE_BYTES_CALL_MAX, NOTICE_BYTES_MAX, NOTICES_LEFT_OUT_TOLD_MAX,
};
use crate::message::{INTERNAL_ERROR, Id, Message};
use serde_json::{Value, json};

/// What stands in the place of an error that is not let in.
const WITHHELD: &str = "The server answered with an error whose text was withheld.";
/// What stands in the place of a text that is not let in, or that nobody looked at.
const LEFT_OUT: &str = "[text left out]";

impl Session {
    /// Passes a notification on. Of one that is not let in, what is left without its words is passed on, where the client waits
    /// for the rest; `text` is the field that says so.
    pub(super) fn pass_notice(
        &mut self,
        server: usize,
        method: &str,
        mut message: Message,
        text: Option<&str>,
    ) {
        if self.is_heard(server, method, message.params()) {
            return self.send_client(message.into_line());
        }
        let (Some(text), Some(params)) = (text, message.value.get_mut("params")) else { return };
        let had_text = params.get(text).is_some();
        silence(params);
        if Said::of(params).speaks() {
            return;
        }
        if had_text && let Some(params) = params.as_object_mut() {
            params.insert(text.to_owned(), json!(LEFT_OUT));
        }
        message.changed = true;
        self.send_client(message.into_line());
    }

    /// Takes words out of a notification that says that something changed, unless they are let in; `false` where nothing is left
    /// of it. The change itself is never lost.
    pub(super) fn quieten(&mut self, server: usize, message: &mut Message) -> bool {
        let method = message.method().to_owned();
        let mut said = message.params().clone();
        let uri = said.get("uri").and_then(Value::as_str).map(str::to_owned);
        // An address that the client was given is no news.
        if let Some(uri) = &uri
            && self.routes.resource(uri) == Some(server)
            && let Some(said) = said.as_object_mut()
        {
            said.remove("uri");
        }
        if self.is_heard(server, &method, &said) {
            return true;
        }
        silence(&mut said);
        let still_speaks = Said::of(&said).speaks();
        if method.ends_with("/list_changed") {
            said = if still_speaks { json!({}) } else { said };
        } else if still_speaks || (uri.is_some() && said.get("uri").is_none()) {
            return false;
        }
        if let Some(params) = message.value.get_mut("params") {
            *params = said;
            message.changed = true;
        }
        true
    }

    /// Whether what a server says may go on as it is: it says next to nothing, or there is time to look at it and the gate lets it
    /// in.
    pub(super) fn is_heard(&mut self, server: usize, method: &str, params: &Value) -> bool {
        let said = Said::of(params);
        !said.speaks() || self.is_judged(server, method, params)
    }

    /// Whether there is time to look at what a server says, and the gate lets it in.
    pub(super) fn is_judged(&mut self, server: usize, method: &str, params: &Value) -> bool {
        let token = params.get("progressToken").cloned();
        self.has_room(server, method, token.as_ref(), Said::of(params).bytes())
            && self.is_let_in(server, method, &said(params))
    }

    /// Whether so many bytes more of a server are judged: of one text, of one call and of one second only so many are.
    fn has_room(
        &mut self,
        server: usize,
        method: &str,
        token: Option<&Value>,
        bytes: usize,
    ) -> bool {
        let Some(link) = self.links.get_mut(server) else { return false };
        let is_within = bytes <= NOTICE_BYTES_MAX
            && link.notices.count(self.now).0
            && link.words.spend(self.now, u32::try_from(bytes).unwrap_or(u32::MAX));
        let call = token.and_then(|token| {
            let mut progress = self.open.values_mut().filter_map(|it| it.progress.as_mut());
            progress.find(|it| it.token == *token)
        });
        let fits = is_within
            && call.is_none_or(|call| {
                call.bytes = call.bytes.saturating_add(bytes);
                call.bytes <= NOTICE_BYTES_CALL_MAX
            });
        if !fits && link.left_out < NOTICES_LEFT_OUT_TOLD_MAX {
            link.left_out += 1;
            self.note(server, "texts_left_out", &json!({"method": method, "bytes": bytes}));
        }
        fits
    }

    /// Whether the gate lets in what a server says, as it came.
    fn is_let_in(&self, server: usize, name: &str, said: &Value) -> bool {
        let server = self.links.get(server).map_or("", |link| link.name.as_str());
        let call = Call { server, kind: Kind::Notification, name, arguments: said };
        let Ok(Begun::Allowed(ticket)) = self.gate.begin(&call) else { return false };
        self.gate.finish(ticket, said, false) == Ok(Delivery::AsItCame)
    }

    /// Whether an answer that no gate has judged may go on: it says next to nothing, or the gate lets it in.
    pub(super) fn may_pass(&self, server: usize, method: &str, outcome: &Value) -> bool {
        let said = Said::of(outcome);
        let is_short = said.bytes() <= NOTICE_BYTES_MAX;
        !said.speaks()
            || (is_short && self.is_let_in(server, method, &json!({ "answer": outcome })))
    }

    /// Takes sentences out of what stands beside the part of a result that was judged (`beside` says what that is), unless they
    /// are let in; says whether it changed anything. A server says the same beside each of its lists: that is judged once.
    pub(super) fn quieten_beside(
        &mut self,
        server: usize,
        method: &str,
        result: &mut Value,
        beside: &[&str],
    ) -> bool {
        let mut rest = result.clone();
        if let Some(fields) = rest.as_object_mut() {
            fields.retain(|key, _| !beside.contains(&key.as_str()));
        }
        let said = Said::of(&rest);
        let Some(link) = self.links.get(server) else { return false };
        if !said.has_sentence() || link.heard.as_ref() == Some(&rest) {
            return false;
        }
        if said.bytes() <= DEFINITION_BYTES_MAX && self.is_let_in(server, method, &rest) {
            if let Some(link) = self.links.get_mut(server) {
                link.heard = Some(rest);
            }
            return false;
        }
        for (key, value) in result.as_object_mut().into_iter().flatten() {
            if !beside.contains(&key.as_str()) {
                silence(value);
            }
        }
        if let Some(fields) = result.as_object_mut() {
            let is_quiet = |key: &str, it: &Value| !Said::of(&json!({ key: it })).has_sentence();
            fields.retain(|key, it| beside.contains(&key.as_str()) || is_quiet(key, it));
        }
        true
    }

    /// Passes an answer on that no gate has judged, or says that it is withheld.
    pub(super) fn pass_error(&mut self, id: &Id, server: usize, method: &str, answer: Message) {
        if self.may_pass(server, method, answer.outcome()) {
            return self.send_client(answer.into_line());
        }
        self.fail_without_words(id, answer.outcome());
    }

    /// Tells the client of an error without the server's words.
    pub(super) fn fail_without_words(&mut self, id: &Id, outcome: &Value) {
        let code = outcome.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL_ERROR);
        self.fail(id, code, WITHHELD);
    }
}

/// What the gate is shown of parameters: `_meta`, too, if it says anything. Who has nothing to say may leave them out.
pub(super) fn said(params: &Value) -> Value {
    let mut said = if params.is_null() { json!({}) } else { params.clone() };
    if let Some(fields) = said.as_object_mut()
        && fields.get("_meta").is_some_and(|it| !Said::of(it).speaks())
    {
        fields.remove("_meta");
    }
    said
}
