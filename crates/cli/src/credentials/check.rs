//! `lazaret credentials check`.

use std::path::Path;

use host::tool_servers::Template;
use model::AgentId;
use policy::access::{
    Approval, Domain, Global, KeyGrant, KeyMode, Manifest, McpServer, Origin, Transport,
};
use scan::net::Target;
use serde_json::{Value, json};
use vault::{Contents, Name, environment};

use super::kept;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Check what each agent's grants come to.
///
/// Shown are an agent's grants and what is wrong with them: keys that are not kept, keys that are for no host, names that
/// no process may be given, services whose key is not granted, secrets of MCP servers that are not kept, and agents of
/// the old kind, which get everything.
///
/// Exit codes: 0 nothing is wrong, 1 something is, 2 broken files, 3 could not work.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: Home,
    /// Only this agent.
    #[arg(long, value_parser = AgentId::parse)]
    agent: Option<AgentId>,
    /// Print one JSON object per agent.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let agents = match &args.agent {
        Some(agent) => vec![agent.clone()],
        None => host::agents(&home).map_err(Failure::usage)?,
    };
    let settings = host::settings(&home).map_err(Failure::usage)?;
    let contents = kept(&home);
    if let Err(why) = &contents {
        output::note(&format!("keys are not looked up: {why}"));
    }
    let mut clean = true;
    for agent in agents {
        let found = one(&home, &agent, settings.as_ref(), contents.as_ref().ok())?;
        clean &= found.problems.is_empty();
        if !found.show(&agent, args.json) {
            break;
        }
    }
    Ok(if clean { Exit::Done } else { Exit::Refused })
}

/// What is wrong with the grants of one agent.
pub(crate) fn problems(home: &Path, agent: &AgentId) -> Result<Vec<String>, Failure> {
    let settings = host::settings(home).map_err(Failure::usage)?;
    let contents = kept(home);
    one(home, agent, settings.as_ref(), contents.as_ref().ok()).map(|it| it.problems)
}

/// What was found out about an agent.
struct Found {
    mode: KeyMode,
    manifest: Manifest,
    problems: Vec<String>,
}

fn one(
    home: &Path,
    agent: &AgentId,
    settings: Option<&Global>,
    contents: Option<&Contents>,
) -> Result<Found, Failure> {
    let (_, manifest) = host::manifest(home, agent).map_err(Failure::usage)?;
    let mode = manifest.key_mode(Origin::Local);
    let mut problems = Vec::new();
    if mode == KeyMode::Legacy {
        let how = format!("`lazaret credentials migrate {agent}` proposes grants");
        problems.push(format!("it says nothing of credentials, so its tools get every key; {how}"));
    }
    for (name, grant) in manifest.grants.iter().flatten() {
        for key in &grant.keys {
            problems.extend(of_key(key, contents).map(|it| format!("`{name}`: `{key}` {it}")));
        }
    }
    for (name, service) in settings.into_iter().flat_map(Global::services) {
        for key in service.secrets() {
            if manifest.key(key, Domain::Web, Origin::Local) == KeyGrant::NotGranted
                && service.secrets().any(|it| is_granted(&manifest, it))
            {
                problems
                    .push(format!("the service `{name}` also needs `{key}`, which is not granted"));
            }
        }
    }
    for server in manifest.mcp.iter().flatten() {
        problems.extend(of_server(server, settings, contents));
    }
    Ok(Found { mode, manifest, problems })
}

/// What is wrong with the secrets that a manifest names for a server.
fn of_server(
    server: &McpServer,
    settings: Option<&Global>,
    contents: Option<&Contents>,
) -> Vec<String> {
    let inner = settings.map(|it| it.egress().inner.clone()).unwrap_or_default();
    // What is sent to an address is for its host; what a program is given is for nobody else's.
    let (texts, address) = match &server.transport {
        Transport::Uri { uri, headers, .. } => (headers, Some(Target::within(uri, &inner))),
        Transport::Command { env, .. } => (env, None),
    };
    let mut problems = Vec::new();
    for (place, text) in texts {
        let about = format!("the server `{}`: `{place}`", server.server);
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(why) => {
                problems.push(format!("{about}: {why}"));
                continue;
            }
        };
        for name in template.secrets() {
            let Some(contents) = contents else { continue };
            let wrong = match (contents.get(name), &address) {
                (None, _) => "is not kept; set it with `lazaret vault set`".to_owned(),
                (Some(entry), Some(Ok(target))) if entry.bound().permits(target).is_err() => {
                    let host = target.host();
                    format!("is not for `{host}`: `lazaret vault set {name} --host {host}`")
                }
                // An address that is none is no question of keys.
                (Some(_), _) => continue,
            };
            problems.push(format!("{about} needs `{name}`, which {wrong}"));
        }
    }
    problems
}

fn is_granted(manifest: &Manifest, key: &str) -> bool {
    manifest.key(key, Domain::Web, Origin::Local) != KeyGrant::NotGranted
}

fn of_key(key: &str, contents: Option<&Contents>) -> Option<&'static str> {
    if !environment::may_be_set(key) {
        return Some("has a name by which programs can be misled; call it something else");
    }
    let name = Name::parse(key).ok()?;
    match contents?.get(&name) {
        None => Some("is not kept; set it with `lazaret vault set`"),
        Some(entry) if entry.hosts().is_empty() => Some("is for no host, so it is sent nowhere"),
        Some(_) => None,
    }
}

impl Found {
    fn show(&self, agent: &AgentId, json: bool) -> bool {
        let grants = self.manifest.grants.iter().flatten();
        if json {
            let grants: Vec<Value> = grants
                .map(|(name, it)| {
                    json!({
                        "approval": it.approval == Approval::Required,
                        "keys": it.keys,
                        "name": name,
                        "tools": it.tools.iter().map(|it| it.as_str()).collect::<Vec<_>>(),
                    })
                })
                .collect();
            return output::json(&json!({
                "agent": agent.as_str(),
                "grants": grants,
                "mode": self.mode.as_str(),
                "problems": self.problems,
            }));
        }
        output::line(&format!("{agent}: {}", self.mode.as_str()));
        for (name, it) in grants {
            let tools: Vec<&str> = it.tools.iter().map(|it| it.as_str()).collect();
            let asked = if it.approval == Approval::Required { ", a person is asked" } else { "" };
            output::line(&format!(
                "  {name}: {} for {}{asked}",
                it.keys.join(" "),
                tools.join(" ")
            ));
        }
        self.problems.iter().all(|it| output::line(&format!("  ! {it}")))
    }
}
