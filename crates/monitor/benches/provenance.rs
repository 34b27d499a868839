//! How long a decision takes, and how long it takes to read what is seen.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use model::{Call, RawCall, Source, ToolDef, Trust};
use monitor::provenance::{Act, Body, Catalogue, Ledger, orders_to_assistant};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

/// How long a decision takes in an empty session and in one that has seen 10 MB.
fn main() -> Result<(), Failure> {
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
            black_box(ledger.trace(&call, &flow, &act, model::Intent::Unread));
        }
        writeln!(out, "seen {seen_mb} MB in {took:?}: {:?} a decision", before.elapsed() / rounds)?;
    }
    for lines in [15_usize, 1500] {
        let took = taken_in(lines)?;
        writeln!(out, "a page of {} KB: taken in within {took:?}", lines * 67 / 1000)?;
    }
    Ok(())
}

/// How long it takes to draw out of a fetched page what the session must know of it.
fn taken_in(lines: usize) -> Result<Duration, Failure> {
    let tool = ToolDef::from_value(&json!({"name": "web_fetch", "inputSchema": {"properties": {
        "url": {"type": "string"}}}}))?;
    let flow = Catalogue::default().flow(&tool);
    let act = Act::of(&tool, &flow);
    let args = json!({"url": "https://a.example/"}).to_string();
    let call = Call::parse(&RawCall { tool: "web_fetch", args: args.as_bytes() })?;
    let text = "The tide turns at noon, and the boats go out with it again.\n\n".repeat(lines);
    let body =
        json!({"bytes": text.len(), "content": text, "status": 200, "url": "https://a.example/"});
    let body = body.to_string();
    let rounds = u32::try_from(30_000 / lines)?;
    let mut took = Duration::ZERO;
    for _ in 0..rounds {
        let mut ledger = Ledger::new();
        ledger.said(Source::User, "", "Please read https://a.example/", &orders_to_assistant);
        let (body, none) = (Body::Text(&body), BTreeMap::new());
        let before = Instant::now();
        let scan = &orders_to_assistant;
        black_box(ledger.returned(&call, Trust::Untrusted, &act, body, scan, &none));
        took += before.elapsed();
    }
    Ok(took / rounds)
}
