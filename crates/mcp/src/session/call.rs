//! Calls of the client: routed, checked, judged, sent.

use super::Session;
use super::client::token;
use super::state::{Open, Phase, Stage, Subjected, Target};
use crate::catalogue::Lookup;
use crate::era::Era;
use crate::gate::{Kind, Ticket};
use crate::message::{DENIED, INVALID_PARAMS, Id, METHOD_NOT_FOUND, Message};
use crate::method::{self, Gated, Subject};
use crate::names;
use crate::reply;
use crate::shown;
use serde_json::{Value, json};

/// A call that names nothing that there is.
struct Unroutable {
    code: i64,
    reason: String,
}

impl Session {
    /// The path of a call. Every way out before `forward` is an answer to the client, and nothing was sent.
    pub(super) fn call(&mut self, id: &Id, message: Message, gated: Gated, era: Era) {
        let target = match self.target(&message, gated, era) {
            Ok(target) => target,
            Err(unroutable) => return self.fail(id, unroutable.code, &unroutable.reason),
        };
        if self.resume(id, &message, &target) {
            return;
        }
        let Some(mut message) = self.check(id, message, &target) else { return };
        match self.settle_approval(&mut message, &target) {
            Ok(is_answered) => match self.check_input_responses(&message, &target) {
                Ok(()) => self.judge(id, message, target, is_answered),
                Err(reason) => self.refuse(id, &target, &reason),
            },
            Err(reason) => self.refuse(id, &target, &reason),
        }
    }

    /// Checks that the server is there and has such a tool; `None` where the call was answered or has to wait.
    pub(super) fn check(&mut self, id: &Id, message: Message, target: &Target) -> Option<Message> {
        match self.phase(target.server) {
            Phase::Ready(_) => {}
            Phase::Gone { reason } => {
                self.refuse_unavailable(id, target, &reason);
                return None;
            }
            Phase::New | Phase::Negotiating => {
                self.probe(target.server);
                self.wait(id, target.server, message, target.era);
                return None;
            }
        }
        let completes_prompt =
            target.kind == Kind::Completion && message.params().pointer("/ref/name").is_some();
        if target.kind == Kind::Prompt || completes_prompt {
            return self.check_prompt(id, message, target);
        }
        if target.kind != Kind::Tool {
            return Some(message);
        }
        match self.look_up(target) {
            Lookup::Fits => return Some(message),
            Lookup::ListFirst => {
                self.list_for_ourselves(target.server);
                self.wait(id, target.server, message, target.era);
            }
            Lookup::Unknown => {
                let name = shown::log_value(&target.name);
                let text =
                    format!("there is no tool `{name}`; list the tools to see what there is");
                self.fail(id, INVALID_PARAMS, &text);
            }
            Lookup::Refused(reason) => self.refuse(id, target, &reason),
        }
        None
    }

    pub(super) fn forward(
        &mut self,
        id: &Id,
        mut message: Message,
        target: Target,
        ticket: Ticket,
    ) {
        let server = target.server;
        let is_kept_here = message.method() == "subscriptions/listen"
            && (self.prefixes || self.phase(server) != Phase::Ready(Era::Modern));
        if is_kept_here {
            return self.listen(id, &message, ticket);
        }
        if self.prefixes {
            unprefix(&mut message, &target.name);
        }
        let is_continued = message.params().get("cursor").is_some();
        let is_bridged = self.phase(server) != Phase::Ready(target.era);
        let kept = is_bridged.then(|| {
            Box::new(Subjected { message: message.clone(), subject: target.subject(), rounds: 0 })
        });
        let (kind, name) = (target.kind, target.name);
        let stage = Stage::Gated { ticket, kind, name, is_continued, kept };
        let open = Open {
            server,
            method: target.method,
            era: target.era,
            progress: token(&message),
            stage,
        };
        self.open.insert(id.clone(), open);
        let line = self.for_server(server, message, target.era);
        self.send_server(server, line);
    }

    /// Answers a call with the reason why it was not made: a tool's result that the model can read, or an error.
    pub(super) fn refuse(&mut self, id: &Id, target: &Target, reason: &str) {
        self.refuse_kind(id, target.kind, &target.method, target.era, reason);
    }

    pub(super) fn refuse_kind(
        &mut self,
        id: &Id,
        kind: Kind,
        method: &str,
        era: Era,
        reason: &str,
    ) {
        if kind == Kind::Tool || method == "tasks/result" {
            self.respond(id, reply::refusal(era, reason));
        } else if kind == Kind::Other {
            // What neither the protocol nor the gate knows is not offered here.
            self.fail(id, METHOD_NOT_FOUND, reason);
        } else {
            self.fail(id, DENIED, reason);
        }
    }

    fn refuse_unavailable(&mut self, id: &Id, target: &Target, reason: &str) {
        if target.kind == Kind::Tool {
            let name = self.links.get(target.server).map_or("", |link| link.name.as_str());
            let text = format!("The server `{name}` does not answer: {reason}.");
            return self.respond(id, reply::refusal(target.era, &text));
        }
        self.unavailable(id, target.server, reason);
    }

    pub(super) fn look_up(&mut self, target: &Target) -> Lookup {
        let Some(link) = self.links.get_mut(target.server) else { return Lookup::Unknown };
        link.catalogue.look_up(&target.name, &target.arguments)
    }

    fn target(&self, message: &Message, gated: Gated, era: Era) -> Result<Target, Unroutable> {
        let bad = |reason: &str| Unroutable { code: INVALID_PARAMS, reason: reason.to_owned() };
        let method = message.method().to_owned();
        let subject = method::subject(message, gated.subject)
            .ok_or_else(|| bad("the request does not say what it is about"))?;
        let mut arguments = method::arguments(message, gated.kind)
            .ok_or_else(|| bad("`arguments` must be an object"))?;
        let (server, name) = self.route(message, gated, subject)?;
        // An address decides where a read goes; the name of what the server itself offers does not.
        if gated.subject == Subject::Uri && self.routes.resource(subject) == Some(server) {
            arguments = json!({"resource": subject});
        }
        let name = match self.routes.task(&name) {
            Some((_, tool)) if gated.kind == Kind::Task => tool.to_owned(),
            Some(_) | None => name,
        };
        Ok(Target { server, kind: gated.kind, name, arguments, era, method })
    }

    /// Finds the server, and the name that it knows.
    fn route(
        &self,
        message: &Message,
        gated: Gated,
        subject: &str,
    ) -> Result<(usize, String), Unroutable> {
        if !self.prefixes {
            return Ok((0, subject.to_owned()));
        }
        let is_prompt = message.params().pointer("/ref/name").is_some();
        let found = match gated.subject {
            Subject::Name => self.split_name(subject),
            Subject::Reference if is_prompt => self.split_name(subject),
            Subject::Uri | Subject::Reference => {
                let server =
                    self.routes.resource(subject).or_else(|| self.only_server_of_resources());
                server.map(|server| (server, subject.to_owned()))
            }
            Subject::Task => {
                self.routes.task(subject).map(|(server, _)| (server, subject.to_owned()))
            }
            Subject::Method if gated.kind == Kind::Subscription => Some((0, subject.to_owned())),
            Subject::Method => {
                let reason = format!("no server takes `{}`", shown::log_value(subject));
                return Err(Unroutable { code: METHOD_NOT_FOUND, reason });
            }
        };
        found.ok_or_else(|| {
            let what = shown::log_value(subject);
            let reason =
                format!("no server has `{what}`; list what there is, names are `server__name`");
            Unroutable { code: INVALID_PARAMS, reason }
        })
    }

    fn split_name(&self, name: &str) -> Option<(usize, String)> {
        let (server, name) = names::split(name)?;
        let server = self.links.iter().position(|link| link.name == server)?;
        Some((server, name.to_owned()))
    }

    fn only_server_of_resources(&self) -> Option<usize> {
        let mut having = self.links.iter().enumerate().filter(|(_, link)| link.has("resources"));
        let (server, _) = having.next()?;
        having.next().is_none().then_some(server)
    }
}

/// Writes the name as the server knows it.
fn unprefix(message: &mut Message, name: &str) {
    for path in ["/params/name", "/params/ref/name"] {
        if let Some(place) = message.value.pointer_mut(path)
            && place.is_string()
        {
            *place = json!(name);
            message.changed = true;
        }
    }
}

/// Whether a result is one of a failed tool.
pub(super) fn is_tool_error(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool) == Some(true)
}
