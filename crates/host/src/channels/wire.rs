//! The way to a messenger, for whoever holds a permit.

use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use channel::{ANSWER_BYTES_MAX, Request, Response, TokenPlace, Verb, Wire, WireError};
use egress::{ReachesMessenger, Telling};
use monitor::Permit;
use vault::Name;
use zeroize::Zeroizing;

use super::line::Line;
use crate::secret_for::{FIELD_BYTES_MAX, SecretFor, not_sent};

/// A way that was permitted.
pub(super) struct PermittedWire<'a, E> {
    pub(super) line: &'a Line,
    pub(super) permit: &'a Permit<E>,
    pub(super) token: Zeroizing<String>,
    pub(super) stop: &'a AtomicBool,
}

impl Line {
    /// A way to the messenger, with its token.
    pub(super) fn wire<'a, E>(
        &'a self,
        permit: &'a Permit<E>,
        stop: &'a AtomicBool,
    ) -> Result<PermittedWire<'a, E>, WireError> {
        let token = self.secret(permit, &self.token)?;
        Ok(PermittedWire { line: self, permit, token, stop })
    }

    /// A secret that is for the messenger's host.
    pub(super) fn secret<E>(
        &self,
        permit: &Permit<E>,
        name: &Name,
    ) -> Result<Zeroizing<String>, WireError> {
        let secret = SecretFor { name, target: &self.target, purpose: "channel" };
        secret.resolved(self.keeper.as_deref(), permit, "")
    }
}

impl<E: ReachesMessenger> Wire for PermittedWire<'_, E> {
    fn ask(&self, request: &Request) -> Result<Response, WireError> {
        let mut headers = vec![header("accept", "application/json")];
        let mut hidden = Zeroizing::new(String::with_capacity(FIELD_BYTES_MAX));
        match request.token {
            TokenPlace::Path(before) => {
                if !self.token.bytes().all(is_plain) {
                    return Err(WireError::Key("the token is none of this messenger".to_owned()));
                }
                hidden.push_str(before);
                hidden.push_str(&self.token);
            }
            TokenPlace::Header(before) => {
                let mut value = Zeroizing::new(String::with_capacity(FIELD_BYTES_MAX));
                value.push_str(before);
                value.push_str(&self.token);
                headers.push(("authorization".to_owned(), value));
            }
        }
        hidden.push_str(&request.path);
        let body = match &request.body {
            None => Bytes::new(),
            Some(body) => {
                headers.push(header("content-type", "application/json"));
                body.to_string().into()
            }
        };
        let telling = Telling {
            verb: match request.verb {
                Verb::Get => egress::Verb::Get,
                Verb::Post => egress::Verb::Post,
            },
            target: &self.line.target,
            hidden: Some(hidden),
            headers,
            body,
            wait: request.wait,
            bytes_max: ANSWER_BYTES_MAX,
        };
        let told = self.line.servers.ask(self.permit, telling, self.stop);
        let told = told.map_err(|error| not_sent(error, |it| self.clean(it)))?;
        let retry_after = told.retry_after.and_then(|it| it.trim().parse().ok());
        Ok(Response { status: told.status, retry_after, body: told.body })
    }
}

impl<E> PermittedWire<'_, E> {
    /// INVARIANT (SecretsDoNotPrint): whoever repeats a token in an error is not repeated.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = text.replace(self.token.as_str(), "[REDACTED:token]");
        self.permit.scrubs().clean(&text).into_owned()
    }
}

fn header(name: &str, value: &str) -> (String, Zeroizing<String>) {
    (name.to_owned(), Zeroizing::new(value.to_owned()))
}

/// Characters that mean nothing in a path.
fn is_plain(it: u8) -> bool {
    it.is_ascii_alphanumeric() || b":_-".contains(&it)
}
