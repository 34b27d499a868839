//! The daemon as the gate of a gateway: each question is one frame, and one answer.

use std::io;
use std::path::PathBuf;

use ::mcp::{
    Answered, Begun, Call, Delivery, Gate, GateError, Listed, Listing, Offer, Then, Ticket,
};
use host::doors::mcp::{CAGE, LINE, REACHED, Request, Said, Tools};
use serde_json::Value;
use zeroize::Zeroizing;

use super::exchange::Exchange;
use super::texts::texts;

/// The gate of the daemon, by a connection of one's own. If the daemon goes, the next question starts it again; calls
/// that were under way are denied.
pub(super) struct DaemonGate {
    exchange: Exchange,
}

impl DaemonGate {
    pub(super) fn new(home: PathBuf) -> io::Result<Self> {
        Ok(Self { exchange: Exchange::start(home)? })
    }

    /// Returns a secret that a configuration names: for the address that it is sent to or, without one, for the
    /// environment of a server.
    pub(super) fn secret(
        &self,
        server: &str,
        name: &str,
        url: Option<&str>,
    ) -> Result<Zeroizing<String>, GateError> {
        let (server, url) = (server.to_owned(), url.map(str::to_owned));
        let mut answer = self.ask(&Request::Secret { server, name: name.to_owned(), url })?;
        match answer.get_mut("value").map(Value::take) {
            Some(Value::String(value)) => Ok(Zeroizing::new(value)),
            Some(_) | None => Err(refused(&answer)),
        }
    }

    /// Keeps new values of the tokens of a login.
    pub(super) fn renewed(
        &self,
        server: &str,
        tokens: Vec<(String, String)>,
    ) -> Result<(), GateError> {
        let answer = self.ask(&Request::Renewed { server: server.to_owned(), tokens })?;
        if answer.get("error").is_some() { Err(refused(&answer)) } else { Ok(()) }
    }

    fn ask(&self, request: &Request) -> Result<Value, GateError> {
        self.exchange.ask(request)
    }

    /// Asks about a list; about one that was judged before, whether all that was said then still holds.
    fn ask_tools(&self, server: &str, page: Listing<'_>) -> Result<Value, GateError> {
        let Listing { items: tools, is_continued: continued } = page;
        let digest = host::doors::mcp::listed(tools);
        if self.exchange.is_last(server, digest) {
            let (server, digest) = (server.to_owned(), digest.to_string());
            let answer = self.ask(&Request::Relisted { server, digest })?;
            if ["unknown", "error"].iter().all(|it| answer.get(it).is_none()) {
                return Ok(answer);
            }
        }
        let list = Tools { server, tools, continued };
        let answer = self.exchange.ask(&list)?;
        if answer.get("error").is_none() {
            self.exchange.remember(&list, digest);
        }
        Ok(answer)
    }
}

fn refused(answer: &Value) -> GateError {
    GateError(text(answer, "error").unwrap_or("the daemon's answer is not understood").to_owned())
}

fn text<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    answer.get(name).and_then(Value::as_str)
}

fn beginning(call: &Call<'_>) -> Request {
    Request::Begin {
        server: call.server.to_owned(),
        kind: call.kind.as_str().to_owned(),
        name: call.name.to_owned(),
        arguments: call.arguments.clone(),
    }
}

fn finishing(ticket: &Ticket, result: &Value, failed: bool) -> Request {
    Request::Finish { ticket: ticket.reference().to_owned(), text: texts(result), failed }
}

fn begun(answer: &Value) -> Result<Begun, GateError> {
    if let Some(ticket) = text(answer, "allowed") {
        return Ok(Begun::Allowed(Ticket::new(ticket)));
    }
    if let Some(question) = text(answer, "asked") {
        let message = text(answer, "message").unwrap_or_default().to_owned();
        return Ok(Begun::Asked { question: question.to_owned(), message });
    }
    match text(answer, "denied").or_else(|| text(answer, "error")) {
        Some(reason) => Ok(Begun::Denied { reason: reason.to_owned() }),
        None => Err(GateError("the daemon's answer is not understood".to_owned())),
    }
}

fn delivery(answer: &Value) -> Result<Delivery, GateError> {
    if answer.get("as_it_came") == Some(&Value::Bool(true)) {
        return Ok(Delivery::AsItCame);
    }
    if let Some(said) = text(answer, "replaced") {
        return Ok(Delivery::Replaced(said.to_owned()));
    }
    match text(answer, "withheld").or_else(|| text(answer, "error")) {
        Some(reason) => Ok(Delivery::Withheld { reason: reason.to_owned() }),
        None => Err(GateError("the daemon's answer is not understood".to_owned())),
    }
}

impl Gate for DaemonGate {
    fn tools(&self, server: &str, page: Listing<'_>) -> Result<Listed, GateError> {
        let answer = self.ask_tools(server, page)?;
        let names = |field: &str| -> Vec<String> {
            let list = answer.get(field).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
        };
        if let Some(why) = text(&answer, "error") {
            return Err(GateError(why.to_owned()));
        }
        let cleaned = answer.get("cleaned").and_then(Value::as_object).into_iter().flatten();
        let cleaned = cleaned.map(|(name, it)| (name.clone(), it.clone())).collect();
        Ok(Listed { hidden: names("hidden"), held: names("held"), cleaned })
    }

    fn offers(
        &self,
        server: &str,
        list: Offer,
        page: Listing<'_>,
    ) -> Result<Vec<String>, GateError> {
        let request = Request::Offers {
            server: server.to_owned(),
            list: list.key().to_owned(),
            items: page.items.to_vec(),
            continued: page.is_continued,
        };
        let answer = self.ask(&request)?;
        let held = answer.get("held").and_then(Value::as_array).ok_or_else(|| refused(&answer))?;
        Ok(held.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect())
    }

    fn begin(&self, call: &Call<'_>) -> Result<Begun, GateError> {
        begun(&self.ask(&beginning(call))?)
    }

    fn begin_then(&self, call: &Call<'_>, then: Then<Begun>) {
        let then = |answer: Result<Value, GateError>| then(answer.and_then(|it| begun(&it)));
        self.exchange.put(&beginning(call), Box::new(then));
    }

    fn finish(&self, ticket: Ticket, result: &Value, failed: bool) -> Result<Delivery, GateError> {
        delivery(&self.ask(&finishing(&ticket, result, failed))?)
    }

    fn finish_then(&self, ticket: Ticket, result: &Value, failed: bool, then: Then<Delivery>) {
        let then = |answer: Result<Value, GateError>| then(answer.and_then(|it| delivery(&it)));
        self.exchange.put(&finishing(&ticket, result, failed), Box::new(then));
    }

    fn lost(&self, ticket: Ticket) {
        // Where nobody is left to be told, the call is lost there too.
        self.exchange.tell(&Request::Lost { ticket: ticket.reference().to_owned() });
    }

    fn unsent(&self, ticket: Ticket) {
        // Where nobody is left to be told, it counts as lost: that is the worse of the two.
        self.exchange.tell(&Request::Unsent { ticket: ticket.reference().to_owned() });
    }

    fn answer(&self, question: &str, answered: Answered) -> Result<(), GateError> {
        let said = match answered {
            Answered::Once => Said::Once,
            Answered::Session => Said::Session,
            Answered::Kind => Said::Kind,
            Answered::Deny => Said::Deny,
        };
        let answer = self.ask(&Request::Answer { question: question.to_owned(), answer: said })?;
        text(&answer, "error").map_or(Ok(()), |why| Err(GateError(why.to_owned())))
    }

    fn lifecycle(&self, server: &str, event: &str, detail: &Value) {
        let request = Request::Lifecycle {
            server: server.to_owned(),
            event: event.to_owned(),
            detail: detail.clone(),
        };
        if let Some(line) = text(detail, LINE).filter(|_| [CAGE, REACHED].contains(&event)) {
            self.exchange.started(server, line);
        }
        // It is for the record; what depends on the gate asks it.
        self.exchange.tell(&request);
    }
}
