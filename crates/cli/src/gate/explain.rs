//! `lazaret gate explain`: what decided about a call, and what would change it.

use aegx::verify::printable;
use aegx::{Payload, Record, RecordType};
use evidence::Filter;
use serde_json::{Value, json};

use crate::evidence::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// How many of the newest calls are looked through.
const CALLS_MAX: u64 = 100_000;

/// Say what decided about a call, and what would change it.
///
/// CALL is the beginning of the id of its record, as `lazaret evidence query --type ToolCall` shows it. Without
/// it, the last call that was not let through.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The beginning of the id of the call's record.
    call: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let reader = open::reader(&args.home.journal()?)?;
    let filter = Filter {
        record_type: Some(RecordType::ToolCall),
        limit: Some(CALLS_MAX),
        ..Filter::default()
    };
    let mut found: Vec<(String, Value)> = Vec::new();
    let mut see = |row: evidence::Row| {
        let Ok(record) = serde_json::from_slice::<Record>(&row.line) else { return true };
        let Payload::Inline { inline } = record.payload else { return true };
        let decision = inline.get("decision").and_then(Value::as_str).unwrap_or_default();
        let is_meant = match &args.call {
            Some(start) => record.record_id.starts_with(start.as_str()),
            None => !matches!(decision, "" | "allow"),
        };
        if is_meant {
            if args.call.is_none() {
                found.clear();
            }
            found.push((record.record_id, inline));
        }
        true
    };
    evidence::query(&reader, &filter, &mut see).map_err(open::failure)?;
    match found.as_slice() {
        [(id, call)] if args.json => {
            output::json(&json!({ "id": id, "call": call, "changes": changes(call) }));
        }
        [(id, call)] => explain(id, call),
        [] => {
            let which = args.call.as_deref().map_or_else(
                || "no call was stopped".to_owned(),
                |it| format!("there is no call whose record begins with `{it}`"),
            );
            return Err(Failure::usage(format!(
                "{which}; `lazaret evidence query --type ToolCall` shows them"
            )));
        }
        [_, ..] => {
            return Err(Failure::usage(format!(
                "{} calls begin so: give more of the id",
                found.len()
            )));
        }
    }
    Ok(Exit::Done)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn explain(id: &str, call: &Value) {
    let paint = Paint::for_stdout();
    let decision = text(call, "decision");
    let shown = if decision == "allow" { paint.good(decision) } else { paint.bad(decision) };
    let start: String = id.chars().take(12).collect();
    let tool = printable(text(call, "tool"));
    output::line(&format!("{shown}  {tool}  {}", paint.faint(&start)));
    output::line(&format!("  decided by {}", printable(text(call, "rule"))));
    output::line(&format!("  with {}", printable(text(call, "args"))));
    for objection in items(call, "objections") {
        let (rule, why) = (text(objection, "rule"), text(objection, "why"));
        output::line(&format!("  {:<28} {}", printable(rule), printable(why)));
    }
    for sink in items(call, "sinks") {
        let (param, atom, label) = (text(sink, "param"), text(sink, "atom"), text(sink, "label"));
        let line = format!("  {}: `{}` is {}", printable(param), printable(atom), printable(label));
        output::line(&paint.faint(&line));
    }
    let facts = call.get("facts").unwrap_or(&Value::Null);
    let taint: Vec<&str> = items(facts, "taint").iter().filter_map(Value::as_str).collect();
    let budget = facts.get("taint_permille").and_then(Value::as_u64).unwrap_or_default();
    output::line(&format!(
        "  the session is {}; {}.{} % of what it holds came from outside; it is {}",
        if taint.is_empty() { "clean".to_owned() } else { printable(&taint.join(", ")) },
        budget / 10,
        budget % 10,
        printable(text(facts, "profile")),
    ));
    for change in changes(call) {
        output::line(&format!("  -> {change}"));
    }
}

/// What would change the decision, by the rules that objected.
fn changes(call: &Value) -> Vec<&'static str> {
    let mut found = Vec::new();
    let decision = text(call, "decision");
    for objection in items(call, "objections") {
        found.push(match text(objection, "rule") {
            rule if rule.starts_with("sink-") => {
                "name the value in your own words, or say where it is to be found; a catalogue can say what the parameter decides"
            }
            "act-not-asked-for" => {
                "ask for it in your own words; if the tool only looks, say so in a catalogue (`lazaret catalogue propose`)"
            }
            "sandboxed-server" => {
                "name what is to be done in your own words, or work in a session without this server"
            }
            "obeyed-file" => "ask for the change of this file by its name",
            rule if rule.starts_with("taint-") || rule.starts_with("cpi-") => {
                "go on in a new session that has read less from outside"
            }
            rule if rule.starts_with("risk-") => "let the person approve it; calm calls lower the risk",
            rule if rule.starts_with("shell-") => {
                "`lazaret check shell` says what of the command is meant, and what would do instead"
            }
            _ => "`lazaret policy explain` shows the rule; a rule of your own can decide otherwise",
        });
    }
    if decision != "allow" && decision != "deny" {
        found.push("approve it: `lazaret approvals list`, where the door asks a person");
    }
    found.sort_unstable();
    found.dedup();
    found
}
