//! The way to a messenger, for whoever holds a permit.

use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use channel::{ANSWER_BYTES_MAX, Request, Response, TokenPlace, Verb, Wire, WireError};
use egress::{AskError, ReachesMessenger, Telling};
use monitor::{Permit, SERVICES};
use vault::{Name, ResolveError, Scope, Want};
use zeroize::Zeroizing;

use super::line::Line;
use crate::models::binding;

/// The longest secret with what stands before it, in bytes: so its place never moves and leaves no copy behind.
const SECRET_BYTES_MAX: usize = 65 << 10;

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
        let set = format!("lazaret vault set {name} --host {}", binding(&self.target));
        let Some(keeper) = &self.keeper else {
            return Err(WireError::Key(format!(
                "nobody keeps the secret `{name}`: the operator makes a vault with `lazaret vault init`, and then `{set}`"
            )));
        };
        let want = Want { name, domain: SERVICES, target: &self.target, purpose: "channel" };
        // No agent chooses it: the operator has set the messenger up.
        let found = keeper.resolve(permit, &Scope::Host, &want);
        let missed = |error: ResolveError| {
            if matches!(error, ResolveError::Elsewhere { .. }) {
                format!(
                    "the secret `{name}` is for another host; the operator binds it with `{set}`"
                )
            } else if matches!(error, ResolveError::Missing(_)) {
                format!("there is no secret `{name}`; the operator sets it with `{set}`")
            } else {
                error.to_string()
            }
        };
        let (secret, _) = found.map_err(|it| WireError::Key(missed(it)))?;
        let mut value = Zeroizing::new(String::with_capacity(SECRET_BYTES_MAX));
        value.push_str(secret.reveal(permit));
        Ok(value)
    }
}

impl<E: ReachesMessenger> Wire for PermittedWire<'_, E> {
    fn ask(&self, request: &Request) -> Result<Response, WireError> {
        let broken = |it: &str| WireError::Broken(self.clean(it));
        let mut headers = vec![header("accept", "application/json")];
        let mut hidden = Zeroizing::new(String::with_capacity(SECRET_BYTES_MAX));
        match request.token {
            TokenPlace::Path(before) => {
                if !self.token.bytes().all(is_plain) {
                    return Err(WireError::Key("the token is none of this messenger".to_owned()));
                }
                hidden.push_str(before);
                hidden.push_str(&self.token);
            }
            TokenPlace::Header(before) => {
                let mut value = Zeroizing::new(String::with_capacity(SECRET_BYTES_MAX));
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
        let told = told.map_err(|error| match error {
            AskError::Refused(it) => WireError::Refused(self.clean(&it.to_string())),
            AskError::Failed(it) | AskError::Unanswered(it) => broken(&it),
        })?;
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
