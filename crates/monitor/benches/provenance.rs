//! Replays traces through the ledger alone and prints verdict lines, so that they can be scored.
//!
//! usage: provenance [replay] [--json] [--why] [--catalog FILE] TRACE
//! Without a trace it measures how long a decision takes.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::time::Instant;

use model::{Call, Decision, RawCall, Source, ToolDef};
use monitor::provenance::{Act, Body, Catalogue, Ledger, orders_to_assistant};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut trace = None;
    let mut catalogue = Catalogue::default();
    let mut why = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "replay" | "--json" | "--bench" => {}
            "--why" => why = true,
            "--catalog" => {
                let path = args.next().ok_or("--catalog needs a file")?;
                catalogue = Catalogue::parse(&std::fs::read_to_string(path)?)?;
            }
            path => trace = Some(path.to_owned()),
        }
    }
    match trace {
        Some(path) => replay(&std::fs::read_to_string(path)?, &catalogue, why),
        None => measure(),
    }
}

/// One session of a trace.
#[derive(Default)]
struct Session {
    ledger: Ledger,
    tools: HashMap<String, ToolDef>,
    open: HashMap<String, Call>,
}

fn replay(text: &str, catalogue: &Catalogue, why: bool) -> Result<(), Failure> {
    let mut sessions = HashMap::<String, Session>::new();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in text.lines() {
        let event: Value = serde_json::from_str(line)?;
        let word = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
        let session = sessions.entry(word("session").to_owned()).or_default();
        match word("event") {
            "session" => {
                session.ledger.trust(catalogue.trusted());
                for tool in event.get("tools").and_then(Value::as_array).into_iter().flatten() {
                    let tool = ToolDef::from_value(tool)?;
                    session.tools.insert(tool.name.as_str().to_owned(), tool);
                }
            }
            "content" => {
                let source = Source::parse(word("source"))?;
                session.ledger.said(source, word("origin"), word("text"), &orders_to_assistant);
            }
            "turn" => {
                session.ledger.begin_turn();
            }
            "call" => {
                let line = session.judge(&event, catalogue, why)?;
                writeln!(out, "{line}")?;
            }
            "result" => session.take(&event, catalogue)?,
            _ => {}
        }
    }
    Ok(())
}

impl Session {
    fn judge(&mut self, event: &Value, catalogue: &Catalogue, why: bool) -> Result<Value, Failure> {
        let word = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
        let args = event.get("args").cloned().unwrap_or_default().to_string();
        let call = Call::parse(&RawCall { tool: word("tool"), args: args.as_bytes() })?;
        let tool = self.tool(word("tool"))?;
        let flow = catalogue.flow(&tool);
        let act = Act::of(&tool, &flow);
        let traced = self.ledger.trace(&call, &flow, &act);
        let decision =
            traced.objections.iter().map(|it| it.decision).max().unwrap_or(Decision::Allow);
        if decision.happens() {
            self.open.insert(word("call").to_owned(), call);
        }
        let sinks: Vec<Value> = traced
            .sinks
            .iter()
            .map(|it| json!({"param": it.param, "atom": it.atom, "label": it.label.word()}))
            .collect();
        let first = traced.objections.first();
        let mut line = json!({
            "event": "verdict", "session": word("session"), "call": word("call"), "tool": word("tool"),
            "decision": decision.as_str(), "rule": first.map(|it| it.rule.to_string()),
            "reason": first.map(|it| it.for_person.clone()), "sinks": sinks,
        });
        if why && let Some(fields) = line.as_object_mut() {
            let all = traced.objections.iter().map(|it| it.for_person.clone()).collect::<Vec<_>>();
            fields.insert("why".to_owned(), json!(all));
            fields.insert("args".to_owned(), event.get("args").cloned().unwrap_or_default());
        }
        Ok(line)
    }

    fn take(&mut self, event: &Value, catalogue: &Catalogue) -> Result<(), Failure> {
        let id = event.get("call").and_then(Value::as_str).unwrap_or_default();
        // A call that was stopped did not happen.
        let Some(call) = self.open.remove(id) else { return Ok(()) };
        let tool = self.tool(call.tool().as_str())?;
        let flow = catalogue.flow(&tool);
        let act = Act::of(&tool, &flow);
        let body = match (event.get("text").and_then(Value::as_str), event.get("json")) {
            (Some(text), _) => Body::Text(text),
            (None, Some(value)) => Body::Json(value),
            (None, None) => return Ok(()),
        };
        let mut fields = BTreeMap::new();
        for (pointer, source) in
            event.get("fields_from").and_then(Value::as_object).into_iter().flatten()
        {
            fields.insert(pointer.clone(), Source::parse(source.as_str().unwrap_or_default())?);
        }
        self.ledger.returned(&call, flow.output, &act, body, &orders_to_assistant, &fields);
        Ok(())
    }

    fn tool(&self, name: &str) -> Result<ToolDef, Failure> {
        match self.tools.get(name) {
            Some(tool) => Ok(tool.clone()),
            None => Ok(ToolDef::from_value(&json!({"name": name}))?),
        }
    }
}

/// How long a decision takes in an empty session and in one that has seen 10 MB.
fn measure() -> Result<(), Failure> {
    let tool = ToolDef::from_value(&json!({"name": "send_email", "inputSchema": {"properties": {
        "recipients": {"type": "array"}, "subject": {"type": "string"}, "body": {"type": "string"}}}}))?;
    let flow = Catalogue::default().flow(&tool);
    let act = Act::of(&tool, &flow);
    let body = "The minutes of the meeting are attached, as agreed with the team. ".repeat(15);
    let args = json!({"recipients": ["ada@example.com"], "subject": "Minutes", "body": body});
    let call = Call::parse(&RawCall { tool: "send_email", args: args.to_string().as_bytes() })?;
    let mut out = io::stdout().lock();
    for seen_mb in [0_usize, 10] {
        let mut ledger = Ledger::new();
        ledger.said(
            Source::User,
            "",
            "Please send the minutes to ada@example.com",
            &orders_to_assistant,
        );
        let page: String = (0..15_000)
            .map(|n| format!("Row {n} of person{n}@host{}.com says hello to all. ", n % 97))
            .collect();
        let before = Instant::now();
        for n in 0..seen_mb {
            ledger.said(Source::Web, &format!("page{n}"), &page, &orders_to_assistant);
        }
        let took = before.elapsed();
        let before = Instant::now();
        let rounds = 2000_u32;
        for _ in 0..rounds {
            std::hint::black_box(ledger.trace(&call, &flow, &act));
        }
        writeln!(out, "seen {seen_mb} MB in {took:?}: {:?} a decision", before.elapsed() / rounds)?;
    }
    Ok(())
}
