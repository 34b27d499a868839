//! Names of MCP servers' tools in hooks, taken apart.

use crate::dialect::{Dialect, McpNames};
use crate::event::McpTool;
use crate::fields::Input;
use crate::tools;

/// Servers that a host brings along and whose names hold the separator.
const SERVERS_WITH_HYPHEN: &[&str] = &["github-mcp-server"];

/// Takes the host's name of a tool apart; `None` for a tool of the host itself.
pub(crate) fn split(dialect: &Dialect, name: &str, input: &Input<'_>) -> Option<McpTool> {
    match dialect.mcp {
        McpNames::DoubleUnderscore => double_underscore(name, input.within("mcp_server", "name")),
        McpNames::Context => {
            let server = input.within("mcp_context", "server_name");
            let tool = input.within("mcp_context", "tool_name");
            match (server, tool) {
                (Some(server), Some(tool)) => Some(made(server, tool)),
                (None | Some(_), None | Some(_)) => at(name.strip_prefix("mcp_")?, "_"),
            }
        }
        McpNames::Colon => name.strip_prefix("MCP:").map(|tool| made("", tool)),
        McpNames::Hyphen => double_underscore(name, None)
            .or_else(|| at(name, "/"))
            .or_else(|| if is_built_in(dialect, name) { None } else { hyphen(name) }),
        McpNames::Underscore => {
            if is_built_in(dialect, name) {
                None
            } else {
                at(name, "_")
            }
        }
    }
}

/// Names a tool of an MCP server as Cursor's generic hooks do.
pub(crate) fn by_cursor(tool: &str, server: &str) -> (String, McpTool) {
    let tool = tool.strip_prefix("MCP:").unwrap_or(tool);
    (format!("MCP:{tool}"), made(server, tool))
}

/// `mcp__server__tool`. The server's name may hold the separator: what the host calls it decides.
fn double_underscore(name: &str, server: Option<&str>) -> Option<McpTool> {
    let rest = name.strip_prefix("mcp__")?;
    if let Some(server) = server {
        let written: String = server.chars().map(as_in_names).collect();
        if let Some(tool) = rest.strip_prefix(&written).and_then(|it| it.strip_prefix("__")) {
            return Some(made(server, tool));
        }
    }
    at(rest, "__")
}

fn hyphen(name: &str) -> Option<McpTool> {
    let known = SERVERS_WITH_HYPHEN.iter().find_map(|server| {
        let tool = name.strip_prefix(server)?.strip_prefix('-')?;
        Some(made(server, tool))
    });
    known.or_else(|| at(name, "-"))
}

fn at(name: &str, separator: &str) -> Option<McpTool> {
    let (server, tool) = name.split_once(separator)?;
    (!server.is_empty() && !tool.is_empty()).then(|| made(server, tool))
}

fn as_in_names(it: char) -> char {
    if it.is_ascii_alphanumeric() || it == '-' || it == '_' { it } else { '_' }
}

fn is_built_in(dialect: &Dialect, name: &str) -> bool {
    tools::definition(dialect.host, name).is_some()
}

fn made(server: &str, tool: &str) -> McpTool {
    McpTool { server: server.to_owned(), tool: tool.to_owned() }
}
