//! Layer 2: the agent's manifest allows or denies domains, and names the servers it may use.

use model::Objection;

use super::{deny, shown};
use crate::access::{Domain, Layer, Manifest, Request, ToolFilter};

pub(in crate::access) fn check(
    manifest: &Manifest,
    request: &Request<'_>,
) -> Result<(), Objection> {
    let tool = request.tool;
    let passes = match &manifest.tools {
        ToolFilter::All => true,
        ToolFilter::Allow(allowed) => tool.domains().iter().all(|it| allowed.contains(it)),
        ToolFilter::Deny(denied) => !denied.iter().any(|it| tool.resembles(*it)),
    };
    let listed = match tool.server() {
        None => passes && has_home(manifest, request),
        Some(server) => passes && serves(manifest, server),
    };
    if !listed {
        let why = format!("the agent's manifest does not let it use `{}`", shown(tool.name()));
        return Err(deny(Layer::Agent, "not_in_manifest", why, "have the agent's author allow it"));
    }
    sub_agent(manifest, request)?;
    handed_on(manifest, request)?;
    other_model(manifest, request)
}

/// Work is handed to a sub-agent that the manifest names.
fn handed_on(manifest: &Manifest, request: &Request<'_>) -> Result<(), Objection> {
    if !request.tool.hands_on() {
        return Ok(());
    }
    let word = |key: &str| request.args.get(key).map(|it| it.as_str().unwrap_or_default());
    if manifest.sub_agent(word("agent")).is_none() {
        let names: Vec<String> = manifest.agents.keys().map(|it| shown(it)).collect();
        let why = match word("agent") {
            Some(name) => format!("the manifest names no sub-agent `{}`", shown(name)),
            None if names.is_empty() => "the manifest names no sub-agents".to_owned(),
            None => "there are several sub-agents, and none is named".to_owned(),
        };
        let next = match names.as_slice() {
            [] => "have the agent's author name some under `agents`".to_owned(),
            names => format!("name one of them: {}", names.join(", ")),
        };
        return Err(deny(Layer::Agent, "no_sub_agent", why, &next));
    }
    Ok(())
}

/// Whoever else is asked, a sub-agent or a model, it is with a model that the manifest names.
fn other_model(manifest: &Manifest, request: &Request<'_>) -> Result<(), Objection> {
    if !request.tool.hands_on() && !request.tool.asks_model() {
        return Ok(());
    }
    match request.args.get("model").map(|it| it.as_str().unwrap_or_default()) {
        Some(model) if !manifest.has_model(model) => {
            let why = format!("the manifest gives no leave for the model `{}`", shown(model));
            Err(deny(Layer::Agent, "not_its_model", why, "leave the model out"))
        }
        Some(_) | None => Ok(()),
    }
}

/// A tool that belongs to no domain passes an allow list only by its server.
fn has_home(manifest: &Manifest, request: &Request<'_>) -> bool {
    match &manifest.tools {
        ToolFilter::All | ToolFilter::Deny(_) => true,
        ToolFilter::Allow(_) => !request.tool.domains().is_empty(),
    }
}

/// Somebody else's server must be named, if the manifest names any or allows only some domains.
fn serves(manifest: &Manifest, server: &str) -> bool {
    match (&manifest.mcp, &manifest.tools) {
        (Some(servers), _) => servers.iter().any(|it| it.server.eq_ignore_ascii_case(server)),
        (None, ToolFilter::All | ToolFilter::Deny(_)) => true,
        (None, ToolFilter::Allow(_)) => false,
    }
}

/// A sub-agent has at most the domains that its entry lists.
fn sub_agent(manifest: &Manifest, request: &Request<'_>) -> Result<(), Objection> {
    let Some(name) = request.sub_agent else { return Ok(()) };
    let listed = manifest.agents.get(name).and_then(|it| it.tools.as_ref());
    let may = |tools: &Vec<Domain>| {
        let domains = request.tool.domains();
        !domains.is_empty() && domains.iter().all(|it| tools.contains(it))
    };
    if listed.is_none_or(may) {
        return Ok(());
    }
    let tool = shown(request.tool.name());
    let why = format!("the manifest does not let the sub-agent `{}` use `{tool}`", shown(name));
    Err(deny(Layer::Agent, "not_for_sub_agent", why, "have the agent's author allow it"))
}
