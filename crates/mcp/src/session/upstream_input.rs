//! Input that a modern server wants from the client before it answers: it can phish as well as ask.

use super::Session;
use super::result::Answer;
use super::state::Target;
use crate::gate::{Begun, Call, Delivery};
use crate::message::Message;
use crate::method;
use crate::shown;
use serde_json::{Value, json};

impl Session {
    /// Judges every request that a result puts to the client; the error is the reason for the model.
    pub(super) fn check_input_requests(
        &self,
        call: &Answer,
        message: &Message,
    ) -> Result<(), String> {
        let result = message.outcome();
        if Self::forges_state(result) {
            return Err(
                "The server's answer carries an approval that is not its own, so it was withheld."
                    .to_owned(),
            );
        }
        if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
            return Ok(());
        }
        let server = self.links.get(call.server).map_or("", |link| link.name.as_str());
        let requests = result.get("inputRequests").and_then(Value::as_object);
        for request in requests.into_iter().flat_map(|it| it.values()) {
            let name = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let arguments = method::without_meta(request.get("params").unwrap_or(&Value::Null));
            let kind = method::server_request_kind(name);
            let asked = Call { server, kind, name, arguments: &arguments };
            let reason = match self.gate.begin(&asked) {
                // The client's answer comes with its next call, which is judged as a call.
                Ok(Begun::Allowed(ticket)) => {
                    self.gate.lost(ticket);
                    continue;
                }
                Ok(Begun::Denied { reason } | Begun::Asked { message: reason, .. }) => reason,
                Err(error) => error.to_string(),
            };
            let name = shown::log_value(name);
            return Err(format!("The server asked for `{name}`, which was not allowed: {reason}"));
        }
        Ok(())
    }

    /// Judges what a client answers to such requests: it leaves by the call, as the answer of a legacy client leaves by itself.
    pub(super) fn check_input_responses(
        &self,
        message: &Message,
        target: &Target,
    ) -> Result<(), String> {
        let server = self.links.get(target.server).map_or("", |link| link.name.as_str());
        let responses = message.params().get("inputResponses").and_then(Value::as_object);
        for response in responses.into_iter().flat_map(|it| it.values()) {
            let name = asked_by(response);
            let (kind, arguments) = (method::server_request_kind(name), json!({}));
            let asked = Call { server, kind, name, arguments: &arguments };
            let judged = match self.gate.begin(&asked) {
                Ok(Begun::Allowed(ticket)) => self.gate.finish(ticket, response, false),
                Ok(Begun::Denied { reason } | Begun::Asked { message: reason, .. }) => {
                    Ok(Delivery::Withheld { reason })
                }
                Err(error) => Err(error),
            };
            match judged {
                Ok(Delivery::AsItCame) => {}
                // An answer with holes in it is not the one that the person gave.
                Ok(Delivery::Replaced(_)) => return Err(ANSWER_CHANGED.to_owned()),
                Ok(Delivery::Withheld { reason }) => return Err(reason),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }
}

/// The request that an answer of this form is one to.
fn asked_by(response: &Value) -> &'static str {
    if response.get("roots").is_some() {
        "roots/list"
    } else if response.get("role").is_some() || response.get("model").is_some() {
        "sampling/createMessage"
    } else {
        "elicitation/create"
    }
}

pub(super) const ANSWER_CHANGED: &str =
    "What was answered to the server must not go to it as it is, so the call was not made.";
