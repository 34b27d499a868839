//! `lazaret catalogue`: flow types of tools, proposed for a person to look over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Flow, ToolDef};
use monitor::provenance::{CATALOGUE_BYTES_MAX, Catalogue};
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Failure};
use crate::gate::setup;
use crate::output;

/// What tools do: propose a catalogue for a person to look over.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Propose(Propose),
}

/// Write a catalogue of tools, as the gate would take them without one.
///
/// FILE is a list of tools as MCP servers give it (`[…]`, `{"tools":[…]}` or the whole answer to
/// `tools/list`), or a trace for `lazaret replay`. The catalogue goes to stdout; a table of what each
/// tool is taken for goes to stderr. Look it over, correct it, and give it to `--catalog`:
///
/// effect: `read` looks, `write` changes something of the user's own, `send` gives something to
/// somebody else. output: `untrusted` if others may have written what comes back. args: what a
/// parameter decides: `destination`, `target`, `content`, `control` or `secret`.
#[derive(clap::Args)]
struct Propose {
    /// The tools.
    file: PathBuf,
    /// A catalogue whose word comes first.
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Propose(args) => propose(args),
    }
}

fn propose(args: &Propose) -> Result<Exit, Failure> {
    let known = setup::catalogue(args.catalog.as_deref())?;
    let defs = listed(&read(&args.file)?).map_err(Failure::usage)?;
    let defs = defs.iter().map(|it| ToolDef::from_value(it).map_err(Failure::usage));
    let tools = flows(&known, defs.collect::<Result<Vec<_>, _>>()?);
    if tools.is_empty() {
        let why = format!(
            "`{}` has no tools: a list of MCP tools or a trace is wanted",
            args.file.display()
        );
        return Err(Failure::usage(why));
    }
    let width = tools.keys().map(|it| it.chars().count()).max().unwrap_or_default();
    for (name, flow) in &tools {
        output::note(&format!("{name:<width$}  {}", told(flow)));
    }
    output::json(&text(&tools));
    Ok(Exit::Done)
}

/// What tools are taken for, by their names.
pub(crate) fn flows(
    known: &Catalogue,
    defs: impl IntoIterator<Item = ToolDef>,
) -> BTreeMap<String, Flow> {
    defs.into_iter().map(|it| (it.name.as_str().to_owned(), known.flow(&it))).collect()
}

/// A catalogue, as the gate reads it.
pub(crate) fn text(tools: &BTreeMap<String, Flow>) -> Value {
    let written: Map<String, Value> =
        tools.iter().map(|(name, flow)| (name.clone(), written(flow))).collect();
    json!({ "tools": written })
}

fn read(path: &Path) -> Result<String, Failure> {
    let wrong =
        |why: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {why}", path.display()));
    let most = u64::try_from(CATALOGUE_BYTES_MAX).unwrap_or(u64::MAX);
    let bytes = files::private::read(path, most).map_err(|error| wrong(&error))?;
    String::from_utf8(bytes).map_err(|error| wrong(&error))
}

/// The tools of a list, of an answer, or of all sessions of a trace.
fn listed(text: &str) -> Result<Vec<Value>, String> {
    let of = |value: &Value| -> Option<Vec<Value>> {
        let inner = value.get("result").unwrap_or(value);
        inner.get("tools").unwrap_or(inner).as_array().cloned()
    };
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return of(&value).ok_or_else(|| "there is no list of tools in it".to_owned());
    }
    let mut all = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|it| !it.1.trim().is_empty()) {
        let value: Value = serde_json::from_str(line)
            .map_err(|error| format!("line {}: {error}", at.saturating_add(1)))?;
        all.extend(value.get("tools").and_then(Value::as_array).into_iter().flatten().cloned());
    }
    Ok(all)
}

fn written(flow: &Flow) -> Value {
    let args: Map<String, Value> =
        flow.roles.iter().map(|(name, role)| (name.clone(), role.as_str().into())).collect();
    json!({
        "effect": flow.reach.as_str(),
        "output": flow.output.as_str(),
        "egress": flow.egress,
        "destructive": flow.destructive,
        "args": args,
    })
}

/// For people, in a few words.
fn told(flow: &Flow) -> String {
    let mut text = format!("{:<5} gives {}", flow.reach.as_str(), flow.output.as_str());
    if flow.destructive {
        text.push_str(", destroys");
    }
    if flow.egress {
        text.push_str(", goes out");
    }
    for (name, role) in &flow.roles {
        text.push_str(&format!("; {name}: {}", role.as_str()));
    }
    text
}
