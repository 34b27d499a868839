//! What is known of MCP servers: `lazaret mcp list`, `accept`, `trust` and `forget`.

use std::collections::BTreeMap;

use ::mcp::Offer;
use ::mcp::pins;
use ::mcp::trust::Trust;
use aegx::verify::printable;
use host::doors::mcp::servers::{Servers, ServersError};
use serde_json::{Value, json};

use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// How many digits of the digest of a command or address people are shown.
const DIGEST_SHOWN: usize = 12;

/// List the servers that are known, and what of them is held.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per server.
    #[arg(long)]
    json: bool,
}

/// Accept tools, prompts and resources of a server that are new or have changed, and its instructions; what changed is shown first.
#[derive(clap::Args)]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    home: Home,
    /// The server, as the list names it.
    #[arg(value_name = "SERVER")]
    server: String,
    /// One tool or prompt of it by its name, or a resource by its address; all that are held without it.
    #[arg(value_name = "TOOL")]
    tool: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

/// Forget a server: its tools, its command or address, and how far it was trusted. Started again, it is a new one.
#[derive(clap::Args)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    home: Home,
    /// The server, as the list names it.
    #[arg(value_name = "SERVER")]
    server: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

/// Say how far a server is trusted.
///
/// What is trusted is the command or address that has the name, and not the name: `lazaret mcp list` shows it.
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
    let names = names(&known);
    for name in &names {
        let tools = known.pins.servers.get(*name).map_or(0, |it| it.len());
        let held: Vec<&String> =
            known.held.get(*name).into_iter().flat_map(|it| it.keys()).collect();
        let is_new = |it: &str| known.pins.servers.get(*name).is_none_or(|of| !of.contains_key(it));
        let instructions = known.instructions.get(*name).is_some_and(|it| it.held.is_some());
        let trust = serde_json::to_value(known.trust(name)).unwrap_or_default();
        let offers = known.offers_held(name);
        let line = known.lines.get(*name);
        let runs = line.map(|it| it.runs.as_str()).filter(|it| !it.is_empty());
        let other = line.filter(|it| it.other.is_some()).map(|it| it.other_runs.as_str());
        let is_crowded = known.crowded.contains(*name);
        if args.json {
            let caged = known.caged.get(*name);
            let added: Vec<&&String> = held.iter().filter(|it| is_new(it)).collect();
            output::json(&json!({
                "server": name, "tools": tools, "held": held, "new": added, "trust": trust, "caged": caged,
                "instructions_held": instructions, "line_changed": other.is_some(), "runs": runs, "other_runs": other, "more_held": is_crowded, "offers_held": told_of(&offers),
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
        output::line(&format!("{}  {trust}, {tools}{cage}", printable(name)));
        if let Some(runs) = runs {
            output::line(&format!("  {}", printable(runs)));
        }
        let next = format!("`lazaret mcp accept {}`", printable(name));
        let (added, changed): (Vec<&str>, Vec<&str>) =
            held.iter().map(|it| it.as_str()).partition(|it| is_new(it));
        for (why, held) in [("they changed", changed), ("they are new", added)] {
            if !held.is_empty() {
                let held = printable(&held.join(", ")).to_string();
                output::line(&format!("  held, because {why}: {held}; {next}"));
            }
        }
        for (offer, name, _) in &offers {
            let (word, name) = (offer.word(), printable(name));
            output::line(&format!(
                "  held, because it is new or changed: the {word} {name}; {next}"
            ));
        }
        if let Some(other) = other {
            let why = "not trusted now, because another command or address has its name";
            let digest = line.and_then(|it| it.other.as_deref()).map(beginning).unwrap_or_default();
            output::line(&format!("  {why}: {} [{digest}]; {next}", printable(other)));
        }
        if is_crowded {
            let why = "more is held than is kept of one server: accept this, list again, and see the rest";
            output::line(&format!("  {why}; {next}"));
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

/// Every server of which anything is known, by name.
fn names(known: &Servers) -> Vec<&String> {
    let offered = known.offered.values().flat_map(|it| it.pins.servers.keys());
    let mut names: Vec<&String> = known.pins.servers.keys().chain(known.trust.keys()).collect();
    names.extend(known.caged.keys().chain(offered));
    names.sort();
    names.dedup();
    names
}

pub(super) fn accept(args: &AcceptArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let known = Servers::of(&home).map_err(failure)?;
    let is_meant = |name: &str| args.tool.as_deref().is_none_or(|it| it == name);
    let held = known.held.get(&args.server).cloned().unwrap_or_default();
    let shown: BTreeMap<String, Value> = held.into_iter().filter(|it| is_meant(&it.0)).collect();
    let told = known.instructions.get(&args.server).and_then(|it| it.held.clone());
    let told = told.filter(|_| args.tool.is_none());
    let mut offers = known.offers_held(&args.server);
    offers.retain(|it| is_meant(&it.1));
    let by = known.lines.get(&args.server).filter(|_| args.tool.is_none());
    let line = by.and_then(|it| it.other.clone());
    if shown.is_empty() && told.is_none() && offers.is_empty() && line.is_none() {
        return Err(Failure::refused(format!("nothing of `{}` is held", args.server)));
    }
    if !args.json {
        show(&known, &args.server, &shown, &offers);
    }
    if let Some(by) = by.filter(|it| it.other.is_some() && !args.json) {
        output::line("command or address:");
        // Two that look alike to people are two, and have two digests.
        let other = by.other.as_deref().unwrap_or_default();
        let row = |sign, runs: &str, sha256| {
            output::line(&format!("  {sign} {} [{}]", printable(runs), beginning(sha256)));
        };
        row('-', &by.runs, &by.sha256);
        row('+', &by.other_runs, other);
    }
    if let Some(told) = told.as_ref().filter(|_| !args.json) {
        output::line("instructions:");
        for line in told.beginning.lines() {
            output::line(&format!("  {}", printable(line)));
        }
    }
    let names: Vec<&str> = shown.keys().map(String::as_str).collect();
    let instructions = told.as_ref().map(|it| it.sha256.as_str());
    let content = json!({
        "server": args.server, "line": line, "tools": names, "instructions": instructions, "offers": told_of(&offers),
    });
    let kinds = ("mcp_accepted", "mcp_not_changed");
    Act::around(&args.home, &args.by, kinds, content, || {
        Servers::change(&home, |it| {
            it.accept(&args.server, &shown);
            it.accept_offers(&args.server, &offers);
            if let Some(line) = &line {
                it.accept_line(&args.server, line);
            }
            if let Some(told) = &told {
                it.accept_instructions(&args.server, told);
            }
        })
        .map_err(failure)
    })?;
    if args.json {
        output::json(&json!({
            "server": args.server, "accepted": names, "instructions": instructions, "offers": told_of(&offers),
            "line": line,
        }));
    }
    let mut accepted = names;
    accepted.extend(offers.iter().map(|it| it.1.as_str()));
    accepted.extend(told.is_some().then_some("its instructions"));
    accepted.extend(line.is_some().then_some("its command or address"));
    let said =
        format!("accepted: {}; the client sees them when it lists again", accepted.join(", "));
    output::told(args.json, &said);
    Ok(Exit::Done)
}

/// Shows what of definitions changed.
fn show(
    known: &Servers,
    server: &str,
    tools: &BTreeMap<String, Value>,
    offers: &[(Offer, String, Value)],
) {
    let nothing = json!({});
    let differs = |title: &str, before: Option<&Value>, now: &Value| {
        let word = if before.is_some() { "" } else { " (new)" };
        output::line(&format!("{title}{word}:"));
        if before.is_some_and(Value::is_null) {
            output::line("  of what it was before, only the digest is kept; this is all of it now");
        }
        for line in pins::diff(before.unwrap_or(&nothing), now) {
            output::line(&format!("  {line}"));
        }
    };
    let pinned = known.pins.servers.get(server);
    for (tool, definition) in tools {
        let before = pinned.and_then(|it| it.get(tool)).map(|it| &it.definition);
        differs(tool, before, definition);
    }
    for (offer, name, definition) in offers {
        let title = format!("{} {}", offer.word(), printable(name));
        differs(&title, known.offer_accepted(server, *offer, name), definition);
    }
}

/// What is held or accepted of prompts and resources, for programs.
fn told_of(offers: &[(Offer, String, Value)]) -> Value {
    offers.iter().map(|(offer, name, _)| json!({ "list": offer.key(), "name": name })).collect()
}

pub(super) fn trust(args: &TrustArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let level = serde_json::to_value(args.level).unwrap_or_default();
    let known = Servers::of(&home).map_err(failure)?;
    let by = known.lines.get(&args.server);
    let content = json!({ "server": args.server, "trust": level, "line": by.map(|it| &it.sha256) });
    let kinds = ("mcp_trust_set", "mcp_not_changed");
    Act::around(&args.home, &args.by, kinds, content, || {
        let set = |it: &mut Servers| {
            // Another may have taken the name since it was looked at.
            let is_same = it.lines.get(&args.server) == by;
            if is_same {
                it.trust.insert(args.server.clone(), args.level);
            }
            is_same
        };
        match Servers::change(&home, set).map_err(failure)? {
            true => Ok(()),
            false => {
                Err(Failure::refused("another command or address has the name now; say it again"))
            }
        }
    })?;
    let runs = by.map(|it| it.runs.as_str()).filter(|it| !it.is_empty());
    if args.json {
        let mut told = json!({ "server": args.server, "trust": level });
        if let (Some(runs), Some(told)) = (runs, told.as_object_mut()) {
            told.insert("runs".to_owned(), runs.into());
        }
        output::json(&told);
    }
    let whose = match runs {
        Some(runs) => format!("it is {}", printable(runs)),
        None => "nothing of this name was started yet: whatever has it first is meant".to_owned(),
    };
    let level = level.as_str().unwrap_or_default();
    output::told(args.json, &format!("{}: {level}; {whose}", args.server));
    Ok(Exit::Done)
}

pub(super) fn forget(args: &ForgetArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let content = json!({ "server": args.server });
    let kinds = ("mcp_forgotten", "mcp_not_changed");
    if !Servers::of(&home).map_err(failure)?.forget(&args.server) {
        return Err(Failure::refused(format!("nothing is known of `{}`", args.server)));
    }
    Act::around(&args.home, &args.by, kinds, content, || {
        Servers::change(&home, |it| it.forget(&args.server)).map_err(failure)
    })?;
    if args.json {
        output::json(&json!({ "server": args.server, "forgotten": true }));
    }
    let said = format!("{}: forgotten; started again, it is a new one", args.server);
    output::told(args.json, &said);
    Ok(Exit::Done)
}

/// As much of a digest as people compare.
fn beginning(sha256: &str) -> &str {
    sha256.get(..DIGEST_SHOWN).unwrap_or(sha256)
}

fn failure(error: ServersError) -> Failure {
    match error {
        ServersError::Io { .. } | ServersError::Full { .. } => Failure::unable(error),
        ServersError::Unreadable { .. } => Failure::usage(error),
    }
}
