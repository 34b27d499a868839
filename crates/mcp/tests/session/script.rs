//! A gate that does what a script says, and keeps a record.

use mcp::{
    Answered, Begun, Call, Compared, Delivery, Gate, GateError, Listed, Listing, Offer, Pins,
    Ticket,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A gate that reads its answers from a script: `deny`, `ask`, `replace` and `withhold` map a name to a text, `hide`
/// and `hold` list names, `deny_kinds` lists kinds, `broken` lists methods of the gate that fail,
/// `tools_break_after` says after how many lists `tools` does.
pub(crate) struct Script {
    rules: Value,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    log: Vec<String>,
    tickets: BTreeSet<String>,
    begun: usize,
    lists: u64,
    approved: BTreeSet<String>,
    pins: Pins,
}

impl Script {
    pub(crate) fn new(rules: Value) -> Self {
        Self { rules, state: Mutex::default() }
    }

    /// What happened, without events in a server's life.
    pub(crate) fn log(&self) -> Vec<String> {
        self.state.lock().unwrap().log.clone()
    }

    /// Tickets that did not come back.
    pub(crate) fn outstanding(&self) -> usize {
        self.state.lock().unwrap().tickets.len()
    }

    pub(crate) fn begun(&self) -> usize {
        self.state.lock().unwrap().begun
    }

    fn write(&self, line: String) {
        self.state.lock().unwrap().log.push(line);
    }

    fn text(&self, rule: &str, name: &str) -> Option<String> {
        Some(self.rules.get(rule)?.get(name)?.as_str()?.to_owned())
    }

    fn names(&self, rule: &str) -> Vec<String> {
        let names = self.rules.get(rule).and_then(Value::as_array);
        names.into_iter().flatten().map(|it| it.as_str().unwrap().to_owned()).collect()
    }

    fn fails(&self, method: &str) -> Result<(), GateError> {
        let is_broken = self.names("broken").iter().any(|it| it == method);
        if is_broken { Err(GateError("scripted".to_owned())) } else { Ok(()) }
    }

    fn take(&self, ticket: &Ticket) -> String {
        let reference = ticket.reference().to_owned();
        assert!(
            self.state.lock().unwrap().tickets.remove(&reference),
            "{reference} came back twice"
        );
        reference.split(' ').skip(1).collect::<Vec<_>>().join(" ")
    }
}

impl Gate for Script {
    fn tools(&self, server: &str, page: Listing<'_>) -> Result<Listed, GateError> {
        let tools = page.items;
        self.fails("tools")?;
        let mut state = self.state.lock().unwrap();
        state.lists += 1;
        let lists_max = self.rules.get("tools_break_after").and_then(Value::as_u64);
        if lists_max.is_some_and(|max| state.lists > max) {
            return Err(GateError("scripted".to_owned()));
        }
        let mut held = self.names("hold");
        if self.rules.get("pin") == Some(&json!(true)) {
            for change in state.pins.changes(server, tools) {
                state.log.push(format!("changed {} {}", change.tool, change.diff.join(" | ")));
                held.push(change.tool);
            }
            for tool in tools {
                let name = tool["name"].as_str().unwrap();
                if !held.iter().any(|it| it == name) {
                    state.pins.accept(server, name, tool);
                }
            }
        }
        let cleaned = self.rules.get("clean").cloned().unwrap_or(json!({}));
        let cleaned = serde_json::from_value(cleaned).unwrap();
        Ok(Listed { hidden: self.names("hide"), held, cleaned })
    }

    fn offers(
        &self,
        server: &str,
        list: Offer,
        items: mcp::Listing<'_>,
    ) -> Result<Vec<String>, GateError> {
        self.fails("offers")?;
        let mut held = self.names("hold");
        if self.rules.get("pin") == Some(&json!(true)) {
            let mut state = self.state.lock().unwrap();
            let server = format!("{server} {}", list.key());
            for item in items.items {
                let name = item[list.name_key()].as_str().unwrap();
                match state.pins.compare(&server, name, item) {
                    Compared::Same => {}
                    Compared::New => state.pins.accept(&server, name, item),
                    Compared::Changed(change) => {
                        state.log.push(format!("changed {name} {}", change.diff.join(" | ")));
                        held.push(name.to_owned());
                    }
                }
            }
        }
        Ok(held)
    }

    fn begin(&self, call: &Call<'_>) -> Result<Begun, GateError> {
        self.fails("begin")?;
        let Call { server, kind, name, arguments } = call;
        let kind = kind.as_str();
        self.write(format!("begin {server} {kind} {name} {arguments}"));
        if self.names("deny_kinds").iter().any(|it| it == kind) {
            return Ok(Begun::Denied { reason: format!("no {kind} here") });
        }
        if let Some(reason) = self.text("deny", name) {
            return Ok(Begun::Denied { reason });
        }
        let question = format!("ask {name} {arguments}");
        if let Some(message) = self.text("ask", name)
            && !self.state.lock().unwrap().approved.contains(&question)
        {
            return Ok(Begun::Asked { question, message });
        }
        let mut state = self.state.lock().unwrap();
        state.begun += 1;
        let reference = format!("t{} {name}", state.begun);
        state.tickets.insert(reference.clone());
        Ok(Begun::Allowed(Ticket::new(reference)))
    }

    fn finish(&self, ticket: Ticket, result: &Value, failed: bool) -> Result<Delivery, GateError> {
        let name = self.take(&ticket);
        self.write(format!("finish {name} {failed} {result}"));
        self.fails("finish")?;
        if let Some(text) = self.text("replace", &name) {
            return Ok(Delivery::Replaced(text));
        }
        match self.text("withhold", &name) {
            Some(reason) => Ok(Delivery::Withheld { reason }),
            None => Ok(Delivery::AsItCame),
        }
    }

    fn lost(&self, ticket: Ticket) {
        let name = self.take(&ticket);
        self.write(format!("lost {name}"));
    }

    fn unsent(&self, ticket: Ticket) {
        let name = self.take(&ticket);
        self.write(format!("unsent {name}"));
    }

    fn answer(&self, question: &str, answered: Answered) -> Result<(), GateError> {
        self.fails("answer")?;
        self.write(format!("answer {answered:?}"));
        if answered != Answered::Deny {
            self.state.lock().unwrap().approved.insert(question.to_owned());
        }
        Ok(())
    }

    fn lifecycle(&self, server: &str, event: &str, _detail: &Value) {
        if self.rules.get("lifecycle") == Some(&json!(true)) {
            self.write(format!("life {server} {event}"));
        }
    }
}
