//! Whole sessions of honest work and of attacks, judged by provenance alone and held against a file that
//! is reviewed: `corpus/traces/golden.txt`. `LAZARET_BLESS=1` writes it anew.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic and write")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model::{Call, Decision, RawCall, Source, ToolDef};
use monitor::provenance::{Act, Body, Catalogue, Ledger, Traced, orders_to_assistant};
use serde_json::Value;

#[test]
fn traces_are_judged_as_the_golden_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/traces");
    let mut found = String::new();
    for suite in ["chat", "dev", "home", "office", "shop", "travel"] {
        replay(&folder.join(format!("{suite}.jsonl")), &mut found);
    }
    let golden = folder.join("golden.txt");
    if std::env::var_os("LAZARET_BLESS").is_some() {
        std::fs::write(&golden, &found).unwrap();
    }
    let wanted = std::fs::read_to_string(&golden).unwrap();
    let differ: Vec<String> = wanted
        .lines()
        .zip(found.lines())
        .filter(|(wanted, found)| wanted != found)
        .map(|(wanted, found)| format!("- {wanted}\n+ {found}"))
        .take(20)
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert_eq!(wanted.lines().count(), found.lines().count());
}

#[derive(Default)]
struct Session {
    ledger: Ledger,
    open: HashMap<String, Call>,
}

fn replay(path: &PathBuf, out: &mut String) {
    let mut sessions = HashMap::<String, Session>::new();
    let mut tools = HashMap::<String, ToolDef>::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let word = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
        let session = sessions.entry(word("session").to_owned()).or_default();
        match word("event") {
            // The tools are those of the session before if none are named.
            "session" => {
                for tool in event.get("tools").and_then(Value::as_array).into_iter().flatten() {
                    let tool = ToolDef::from_value(tool).unwrap();
                    tools.insert(tool.name.as_str().to_owned(), tool);
                }
            }
            "content" => {
                let source = Source::parse(word("source")).unwrap();
                let text = word("text");
                session.ledger.said(source, word("origin"), text, &orders_to_assistant);
            }
            "turn" => drop(session.ledger.begin_turn()),
            "call" => {
                let traced = session.judge(&event, &tools);
                write_line(out, word("session"), word("call"), word("tool"), &traced);
            }
            "result" => session.take(&event, &tools),
            _ => {}
        }
    }
}

impl Session {
    fn judge(&mut self, event: &Value, tools: &HashMap<String, ToolDef>) -> Traced {
        let word = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
        let args = event.get("args").unwrap().to_string();
        let call = Call::parse(&RawCall { tool: word("tool"), args: args.as_bytes() }).unwrap();
        let tool = tools.get(word("tool")).unwrap();
        let flow = Catalogue::default().flow(tool);
        let traced = self.ledger.trace(&call, &flow, &Act::of(tool, &flow), model::Intent::Unread);
        if decision(&traced).happens() {
            self.open.insert(word("call").to_owned(), call);
        }
        traced
    }

    fn take(&mut self, event: &Value, tools: &HashMap<String, ToolDef>) {
        let id = event.get("call").and_then(Value::as_str).unwrap_or_default();
        // A call that was stopped did not happen.
        let Some(call) = self.open.remove(id) else { return };
        let tool = tools.get(call.tool().as_str()).unwrap();
        let flow = Catalogue::default().flow(tool);
        let act = Act::of(tool, &flow);
        let body = match (event.get("text").and_then(Value::as_str), event.get("json")) {
            (Some(text), _) => Body::Text(text),
            (None, Some(value)) => Body::Json(value),
            (None, None) => return,
        };
        let none = BTreeMap::new();
        self.ledger.returned(&call, flow.output, &act, body, &orders_to_assistant, &none);
    }
}

fn decision(traced: &Traced) -> Decision {
    traced.objections.iter().map(|it| it.decision).max().unwrap_or(Decision::Allow)
}

/// The session, the call, what was decided and why, and where each value came from.
fn write_line(out: &mut String, session: &str, call: &str, tool: &str, traced: &Traced) {
    let rules: Vec<&str> = traced.objections.iter().map(|it| it.rule.as_ref()).collect();
    let sinks: Vec<String> =
        traced.sinks.iter().map(|it| format!("{}={}", it.param, it.label.word())).collect();
    let just_so = if traced.asked_for { " just-so" } else { "" };
    writeln!(
        out,
        "{session} {call} {tool}: {}{just_so} [{}] {}",
        decision(traced).as_str(),
        rules.join(" "),
        sinks.join(" ")
    )
    .unwrap();
}
