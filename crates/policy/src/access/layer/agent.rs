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
    sub_agent(manifest, request)
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
