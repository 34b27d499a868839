//! What is known of MCP servers: `lazaret mcp list`, `accept` and `trust`.

use std::collections::BTreeMap;

use ::mcp::pins;
use ::mcp::trust::Trust;
use aegx::verify::printable;
use host::doors::mcp::servers::{Servers, ServersError};
use serde_json::{Value, json};

use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// List the servers that are known, and what of them is held.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per server.
    #[arg(long)]
    json: bool,
}

/// Accept tools of a server that are new or have changed, and its instructions; what changed is shown first.
#[derive(clap::Args)]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    home: Home,
    /// The server, as the list names it.
    #[arg(value_name = "SERVER")]
    server: String,
    /// One tool of it; all that are held without it.
    #[arg(value_name = "TOOL")]
    tool: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

/// Say how far a server is trusted.
///
/// An `untrusted` server (the default) cannot ask your client's model or you for anything; a `trusted` one
/// can; a `sandboxed` one is not even told which folders are open.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    home: Home,
    /// The server, as the list names it.
    #[arg(value_name = "SERVER")]
    server: String,
    /// trusted, untrusted or sandboxed.
    #[arg(value_name = "LEVEL", value_parser = level)]
    level: Trust,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

fn level(text: &str) -> Result<Trust, String> {
    serde_json::from_value(Value::String(text.to_owned()))
        .map_err(|_| "one of trusted, untrusted, sandboxed".to_owned())
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let known = Servers::of(&args.home.dir()?).map_err(failure)?;
    let mut names: Vec<&String> =
        known.pins.servers.keys().chain(known.trust.keys()).chain(known.caged.keys()).collect();
    names.sort();
    names.dedup();
    for name in &names {
        let tools = known.pins.servers.get(*name).map_or(0, |it| it.len());
        let held: Vec<&String> =
            known.held.get(*name).into_iter().flat_map(|it| it.keys()).collect();
        let is_new = |it: &str| known.pins.servers.get(*name).is_none_or(|of| !of.contains_key(it));
        let instructions = known.instructions.get(*name).is_some_and(|it| it.held.is_some());
        let trust = serde_json::to_value(known.trust(name)).unwrap_or_default();
        if args.json {
            let caged = known.caged.get(*name);
            let added: Vec<&&String> = held.iter().filter(|it| is_new(it)).collect();
            output::json(&json!({
                "server": name, "tools": tools, "held": held, "new": added, "trust": trust, "caged": caged,
                "instructions_held": instructions,
            }));
            continue;
        }
        let trust = trust.as_str().unwrap_or_default().to_owned();
        let tools = output::count(u64::try_from(tools).unwrap_or(u64::MAX), "tool");
        let cage = match known.caged.get(*name) {
            Some(true) => ", in a cage",
            Some(false) => ", NOT in a cage",
            None => "",
        };
        output::line(&format!("{name}  {trust}, {tools}{cage}"));
        let next = format!("`lazaret mcp accept {name}`");
        let (added, changed): (Vec<&str>, Vec<&str>) =
            held.iter().map(|it| it.as_str()).partition(|it| is_new(it));
        for (why, held) in [("they changed", changed), ("they are new", added)] {
            if !held.is_empty() {
                output::line(&format!("  held, because {why}: {}; {next}", held.join(", ")));
            }
        }
        if instructions {
            output::line(&format!("  held, because they changed: its instructions; {next}"));
        }
    }
    if names.is_empty() && !args.json {
        output::hint("no server was seen yet: `lazaret mcp -- COMMAND…`");
    }
    Ok(Exit::Done)
}

pub(super) fn accept(args: &AcceptArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let known = Servers::of(&home).map_err(failure)?;
    let is_meant = |name: &str| args.tool.as_deref().is_none_or(|it| it == name);
    let held = known.held.get(&args.server).cloned().unwrap_or_default();
    let shown: BTreeMap<String, Value> = held.into_iter().filter(|it| is_meant(&it.0)).collect();
    let told = known.instructions.get(&args.server).and_then(|it| it.held.clone());
    let told = told.filter(|_| args.tool.is_none());
    if shown.is_empty() && told.is_none() {
        return Err(Failure::refused(format!("nothing of `{}` is held", args.server)));
    }
    let nothing = json!({});
    let pinned = known.pins.servers.get(&args.server);
    for (tool, definition) in shown.iter().filter(|_| !args.json) {
        let before = pinned.and_then(|it| it.get(tool));
        let word = if before.is_some() { "" } else { " (new)" };
        output::line(&format!("{tool}{word}:"));
        for line in pins::diff(before.map_or(&nothing, |it| &it.definition), definition) {
            output::line(&format!("  {line}"));
        }
    }
    if let Some(told) = told.as_ref().filter(|_| !args.json) {
        output::line("instructions:");
        for line in told.beginning.lines() {
            output::line(&format!("  {}", printable(line)));
        }
    }
    let names: Vec<&str> = shown.keys().map(String::as_str).collect();
    let instructions = told.as_ref().map(|it| it.sha256.as_str());
    let content = json!({ "server": args.server, "tools": names, "instructions": instructions });
    let kinds = ("mcp_accepted", "mcp_not_changed");
    Act::around(&args.home, &args.by, kinds, content, || {
        Servers::change(&home, |it| {
            it.accept(&args.server, &shown);
            if let Some(told) = &told {
                it.accept_instructions(&args.server, told);
            }
        })
        .map_err(failure)
    })?;
    if args.json {
        output::json(&json!({
            "server": args.server, "accepted": names, "instructions": instructions,
        }));
    }
    let mut accepted = names;
    accepted.extend(told.is_some().then_some("its instructions"));
    let said =
        format!("accepted: {}; the client sees them when it lists again", accepted.join(", "));
    output::told(args.json, &said);
    Ok(Exit::Done)
}

pub(super) fn trust(args: &TrustArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let level = serde_json::to_value(args.level).unwrap_or_default();
    let content = json!({ "server": args.server, "trust": level });
    let kinds = ("mcp_trust_set", "mcp_not_changed");
    Act::around(&args.home, &args.by, kinds, content, || {
        let set = |it: &mut Servers| it.trust.insert(args.server.clone(), args.level);
        Servers::change(&home, set).map_err(failure)
    })?;
    if args.json {
        output::json(&json!({ "server": args.server, "trust": level }));
    }
    output::told(args.json, &format!("{}: {}", args.server, level.as_str().unwrap_or_default()));
    Ok(Exit::Done)
}

fn failure(error: ServersError) -> Failure {
    match error {
        ServersError::Io { .. } => Failure::unable(error),
        ServersError::Unreadable { .. } => Failure::usage(error),
    }
}
