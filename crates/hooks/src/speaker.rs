//! Whose words a call gives back: of the agent's own tool, or of an MCP server.

use crate::dialect::{Dialect, McpNames, dialect};
use crate::event::ToolUse;
use crate::host::Host;
use serde_json::Value;

/// Tools of the hosts themselves that hand on what MCP servers say.
const HAND_ON: &[&str] = &[
    "ReadMcpResourceTool",
    "ListMcpResourcesTool",
    "read_mcp_resource",
    "list_mcp_resources",
    "list_mcp_resource_templates",
    "CallMcpTool",
    "FetchMcpResource",
];
/// Their arguments that name the server.
const SERVER: &[&str] = &["server", "serverName"];

/// Whose words a call gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker<'a> {
    /// The host's own tool, whatever that reads.
    Host,
    /// The MCP server that the host calls so.
    Server(&'a str),
    /// Some MCP server; the host does not say which, or names a command or an address.
    SomeServer,
}

impl ToolUse {
    /// Returns whose words the call gives back, as far as `host` says.
    #[must_use]
    pub fn speaker(&self, host: Host) -> Speaker<'_> {
        if let Some(mcp) = &self.mcp {
            let is_named = dialect(host).mcp != McpNames::Colon && !mcp.server.is_empty();
            return if is_named { Speaker::Server(&mcp.server) } else { Speaker::SomeServer };
        }
        if !HAND_ON.contains(&self.name.as_str()) {
            return Speaker::Host;
        }
        let named = SERVER.iter().find_map(|it| self.args.get(*it).and_then(Value::as_str));
        named.filter(|it| !it.is_empty()).map_or(Speaker::SomeServer, Speaker::Server)
    }

    /// Tells whether `server` may have said what the call gives back. Names of tools are put together of two that may both hold
    /// what stands between them: then either may be meant.
    #[must_use]
    pub fn may_be_of(&self, host: Host, server: &str) -> bool {
        match self.speaker(host) {
            Speaker::Host => false,
            Speaker::SomeServer => true,
            Speaker::Server(named) if named == server => true,
            Speaker::Server(named) => match self.mcp {
                Some(_) => begins_with(dialect(host), &self.name, server),
                None => written(named) == written(server),
            },
        }
    }
}

/// May the host's name of a tool begin with that of the server?
fn begins_with(dialect: &Dialect, name: &str, server: &str) -> bool {
    let server = written(server);
    let (before, between): (&str, &[&str]) = match dialect.mcp {
        McpNames::DoubleUnderscore => ("mcp__", &["__"]),
        McpNames::Context => ("mcp_", &["_"]),
        McpNames::Colon => return true,
        McpNames::Hyphen => ("", &["-", "/", "__"]),
        McpNames::Underscore => ("", &["_"]),
    };
    let rest = written(name.strip_prefix(before).unwrap_or(name));
    let rest = rest.strip_prefix(server.as_str());
    rest.is_some_and(|it| between.iter().any(|between| it.starts_with(written(between).as_str())))
}

/// A name as it is compared: hosts write one letter for each that a name of a tool cannot have.
fn written(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::McpTool;
    use serde_json::json;

    fn call(name: &str, args: &Value, mcp: Option<(&str, &str)>) -> ToolUse {
        let mcp = mcp.map(|(server, tool)| McpTool { server: server.into(), tool: tool.into() });
        let args = args.as_object().cloned().unwrap_or_default();
        ToolUse { id: None, name: name.into(), args, mcp }
    }

    #[test]
    fn the_server_is_named_by_the_tool_or_by_the_arguments_or_not_at_all() {
        let own = call("Read", &json!({ "server": "notes" }), None);
        assert_eq!(own.speaker(Host::Claude), Speaker::Host);
        assert!(!own.may_be_of(Host::Claude, "notes"));
        let tool = call("mcp__notes__look", &json!({}), Some(("notes", "look")));
        assert_eq!(tool.speaker(Host::Claude), Speaker::Server("notes"));
        let read = json!({ "server": "notes", "uri": "x:y" });
        let read = call("ReadMcpResourceTool", &read, None);
        assert_eq!(read.speaker(Host::Claude), Speaker::Server("notes"));
        assert!(!read.may_be_of(Host::Claude, "other"));
        let all = call("ListMcpResourcesTool", &json!({}), None);
        assert_eq!(all.speaker(Host::Claude), Speaker::SomeServer);
        assert!(all.may_be_of(Host::Claude, "notes"));
        for server in ["", "npx -y notes"] {
            let cursor = call("MCP:look", &json!({}), Some((server, "look")));
            assert_eq!(cursor.speaker(Host::Cursor), Speaker::SomeServer);
        }
    }

    #[test]
    fn a_name_that_can_be_taken_apart_in_two_ways_is_of_either() {
        let call = |host, name: &str, server: &str, asked: &str| {
            call(name, &json!({}), Some((server, "x"))).may_be_of(host, asked)
        };
        assert!(call(Host::OpenCode, "my_notes_look", "my", "my_notes"));
        assert!(call(Host::OpenCode, "my_notes_look", "my", "my-notes"));
        assert!(!call(Host::OpenCode, "my_notes_look", "my", "notes"));
        assert!(call(Host::Copilot, "my-notes-look", "my", "my-notes"));
        assert!(call(Host::Claude, "mcp__my_notes__look", "my_notes", "my notes"));
        assert!(!call(Host::Claude, "mcp__my_notes__look", "my_notes", "my"));
        assert!(call(Host::Gemini, "mcp_my_notes_look", "my", "my_notes"));
    }
}
