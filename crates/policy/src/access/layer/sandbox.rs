//! Layer 3: what a session from the network may not do on this machine, whatever else is allowed.

use model::Objection;

use super::{deny, shown};
use crate::access::{Domain, Layer, Manifest, Origin, Request, ToolFilter, Transport};

pub(in crate::access) fn check(
    manifest: &Manifest,
    request: &Request<'_>,
) -> Result<(), Objection> {
    if request.origin == Origin::Local {
        return Ok(());
    }
    let tool = shown(request.tool.name());
    if request.tool.resembles(Domain::Shell) && !opens_shell(manifest) {
        let why = format!("`{tool}` runs commands, which sessions from the network may not do");
        let remedy =
            "the manifest must say `sandbox: {enforce: true}` and list shell in `tools.allow`";
        return Err(deny(Layer::Sandbox, "remote_shell", why, remedy));
    }
    if request.tool.server().is_some_and(|it| is_command(manifest, it)) {
        let why = format!("`{tool}` is of a server that is a command on this machine");
        let remedy = "use the agent locally, or a server with an address";
        return Err(deny(Layer::Sandbox, "remote_command_server", why, remedy));
    }
    Ok(())
}

/// Said in so many words: a deny list that leaves the shell out is not enough.
fn opens_shell(manifest: &Manifest) -> bool {
    let allowed = match &manifest.tools {
        ToolFilter::Allow(allowed) => allowed.contains(&Domain::Shell),
        ToolFilter::All | ToolFilter::Deny(_) => false,
    };
    allowed && manifest.sandbox.enforce == Some(true) && manifest.sandbox.shell != Some(false)
}

fn is_command(manifest: &Manifest, server: &str) -> bool {
    let mut servers = manifest.mcp.iter().flatten();
    servers.any(|it| {
        it.server.eq_ignore_ascii_case(server) && matches!(it.transport, Transport::Command { .. })
    })
}
