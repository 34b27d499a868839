//! `lazaret preflight`: is everything there that an agent needs?

use std::path::Path;

use evidence::{Clock as _, SystemClock};
use host::doors::mcp::servers::Servers;
use host::models::status::ModelStatus;
use host::worker;
use model::AgentId;
use policy::access::{Global, KnownTools, Manifest};
use sandbox::cage::Hold;
use serde_json::json;
use vault::access::{Issued, Tokens};

use crate::credentials;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// Check everything that an agent needs before it is served.
///
/// One row for each: the agent and its manifest, who may use it and with which tokens, keys, what
/// confines the host, whether a worker can be had (one is started in its cage, and ended) and what
/// holds it, which hosts it may reach, its model, and its MCP servers; with what to do.
///
/// Exit codes: 0 all is there, 1 something is missing, 2 files that are not understood.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The agent.
    #[arg(long, value_parser = AgentId::parse)]
    agent: AgentId,
    /// Print one JSON object per row.
    #[arg(long)]
    json: bool,
}

/// What an agent asks for whose manifest names no model.
const DEFAULT_TASK: &str = "default";

/// What one check says.
struct Row {
    id: &'static str,
    good: bool,
    what: String,
    next: String,
}

fn row(id: &'static str, good: bool, what: impl Into<String>, next: impl Into<String>) -> Row {
    let next = if good { String::new() } else { next.into() };
    Row { id, good, what: what.into(), next }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    if !host::manifest_path(&home, &args.agent).exists() {
        let next = format!("`lazaret agents create {}` makes one", args.agent);
        return Ok(show(args, &[row("agent", false, "there is no such agent", next)]));
    }
    let (_, manifest) = host::manifest(&home, &args.agent).map_err(Failure::usage)?;
    let settings = host::settings(&home).map_err(Failure::usage)?.unwrap_or_default();
    let mut rows = vec![row("agent", true, format!("`{}`", manifest.display_name()), "")];
    rows.extend(who(&home, &manifest)?);
    let wrong = credentials::check::problems(&home, &args.agent)?;
    rows.push(row("keys", wrong.is_empty(), keys(&manifest), wrong.join("; ")));
    let lacking = host::lacking(&host::required(&home).map_err(Failure::usage)?);
    let lacks: Vec<String> = lacking.iter().map(|it| it.1.clone()).collect();
    rows.push(row("sandbox", lacks.is_empty(), "what the settings require", lacks.join("; ")));
    rows.push(cage(&home, &args.agent));
    rows.push(egress(&settings, &manifest));
    rows.push(model(&home, &manifest)?);
    rows.push(servers(&home, &manifest)?);
    Ok(show(args, &rows))
}

fn show(args: &Args, rows: &[Row]) -> Exit {
    let paint = Paint::for_stdout();
    for it in rows {
        let shown = if args.json {
            let word = if it.good { "pass" } else { "fail" };
            output::json(&json!({ "id": it.id, "status": word, "what": it.what, "next": it.next }))
        } else {
            let word = if it.good { paint.good("ok  ") } else { paint.bad("FAIL") };
            let next = if it.next.is_empty() { String::new() } else { format!(" → {}", it.next) };
            let line = aegx::verify::printable(&format!("{}{next}", it.what)).to_string();
            output::line(&format!("{word}  {:<8} {line}", it.id))
        };
        if !shown {
            break;
        }
    }
    if rows.iter().all(|it| it.good) { Exit::Done } else { Exit::Refused }
}

fn who(home: &Path, manifest: &Manifest) -> Result<[Row; 2], Failure> {
    let users = host::users(home, &KnownTools::default()).map_err(Failure::usage)?;
    let users = users.unwrap_or_default();
    let open: Vec<&str> =
        users.iter().filter(|it| it.may_use(manifest).is_ok()).map(|it| it.name.as_str()).collect();
    let next = "list somebody in users.yaml, and open the manifest to them";
    let who = row("users", !open.is_empty(), format!("open to {}", listed(&open)), next);
    let now = SystemClock.unix_seconds();
    let issued = Tokens::in_home(home).list().map_err(Failure::usage)?;
    let opens = |it: &&Issued| {
        let its =
            it.agents.as_ref().is_none_or(|it| it.iter().any(|it| it == manifest.agent.as_str()));
        its && it.is_in_force(now) && open.contains(&it.user.as_str())
    };
    let good = issued.iter().filter(opens);
    let good = good.count();
    let has_own =
        |it: &&policy::access::User| !it.token_hash.is_empty() && open.contains(&it.name.as_str());
    let own = users.iter().filter(has_own).count();
    let what = format!("{good} of access.json in force, {own} of users.yaml");
    Ok([who, row("tokens", good + own > 0, what, "make one: `lazaret access create`")])
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}

fn keys(manifest: &Manifest) -> String {
    let granted = manifest.grants.as_ref().map_or(0, std::collections::BTreeMap::len);
    format!("{granted} grants")
}

/// Can there be a worker? One is started in its cage, and ended.
fn cage(home: &Path, agent: &AgentId) -> Row {
    let held = match worker::trial(home, agent) {
        Ok(held) => held,
        Err(error) => {
            let next = "see `lazaret doctor`, and `host.required` in config.yaml";
            return row("cage", false, format!("no worker: {error}"), next);
        }
    };
    let named = |holds: bool| {
        let rungs = held.rungs().iter().filter(move |it| matches!(it.1, Hold::Held(_)) == holds);
        let names: Vec<&str> = rungs.map(|it| it.0.as_str()).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    let what =
        format!("a worker was started and ended; {} held, {} did not", named(true), named(false));
    row("cage", true, what, "")
}

/// Is the model there that the agent asks for, with its key?
fn model(home: &Path, manifest: &Manifest) -> Result<Row, Failure> {
    let next = "choose one: `providers: {llm: anthropic}` and `models: {default: anthropic/MODEL}`";
    let found = host::models::status::status(home).map_err(Failure::usage)?;
    let Some(models) = found else { return Ok(row("model", false, "no provider", next)) };
    let wanted = manifest.model.as_deref().unwrap_or(DEFAULT_TASK);
    let asked = models
        .iter()
        .filter(|it| it.model == wanted || it.tasks.iter().any(|(task, _)| *task == wanted));
    let asked: Vec<&ModelStatus> = asked.collect();
    let Some(first) = asked.first() else {
        let next = format!("name a model for `{wanted}` under `models` in config.yaml");
        return Ok(row("model", false, format!("no model for `{wanted}`"), next));
    };
    // One of a chain is enough.
    let missing: Vec<&str> = asked.iter().filter_map(|it| it.missing.as_deref()).collect();
    let key = first.key.as_ref().map_or("no key".to_owned(), |it| format!("key {it}"));
    let what = format!("{} for `{wanted}`, {key}", first.model);
    Ok(row("model", missing.len() < asked.len(), what, missing.join("; ")))
}

/// Which hosts it may reach.
fn egress(settings: &Global, manifest: &Manifest) -> Row {
    let own = manifest.sandbox.allowed_domains.as_deref();
    let all = settings.egress().allowed_domains.as_deref();
    let is_open = |host: &&String| all.is_none_or(|all| all.contains(host));
    let what = match (all, own) {
        (None, None) => {
            "every public host: neither config.yaml nor the manifest names some".to_owned()
        }
        (Some(hosts), None) | (None, Some(hosts)) => format!("{} hosts by name", hosts.len()),
        (Some(_), Some(own)) => {
            format!("{} hosts by name", own.iter().filter(is_open).count())
        }
    };
    // A list that leaves nothing over is a mistake more often than a wish.
    let closed: Vec<&str> =
        own.unwrap_or_default().iter().filter(|it| !is_open(it)).map(String::as_str).collect();
    let next = format!("`egress.allowedDomains` in config.yaml does not name {}", listed(&closed));
    row("egress", closed.is_empty(), what, next)
}

fn servers(home: &Path, manifest: &Manifest) -> Result<Row, Failure> {
    let known = Servers::of(home).map_err(Failure::usage)?;
    let held: Vec<&str> = manifest
        .mcp
        .iter()
        .flatten()
        .filter(|it| known.held.contains_key(&it.server))
        .map(|it| it.server.as_str())
        .collect();
    let named: Vec<&str> = manifest.mcp.iter().flatten().map(|it| it.server.as_str()).collect();
    let pinned = named.iter().filter(|it| known.pins.servers.contains_key(**it)).count();
    let is_no_name = |it: &&&str| ::mcp::names::check_server(it).is_err();
    let what = match named.iter().find(is_no_name) {
        Some(name) => {
            let next = "give it a name of at most 32 letters, digits and `-`";
            return Ok(row(
                "servers",
                false,
                format!("`{name}` cannot be started"),
                next.to_owned(),
            ));
        }
        None => format!(
            "{} MCP servers, {pinned} pinned; others are when they are seen first",
            named.len()
        ),
    };
    let next = format!("definitions of {} changed: see `lazaret mcp list`", listed(&held));
    Ok(row("servers", held.is_empty(), what, next))
}
