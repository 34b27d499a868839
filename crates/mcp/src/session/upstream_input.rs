//! Input that a modern server wants from the client before it answers: it can phish as well as ask.

use super::Session;
use super::result::Answer;
use crate::era::Era;
use crate::gate::{Begun, Call};
use crate::message::Message;
use crate::method;
use crate::shown;
use serde_json::Value;

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
        if call.era == Era::Legacy {
            return Err(
                "The server wants input from you that your client's protocol version cannot give."
                    .to_owned(),
            );
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
}
