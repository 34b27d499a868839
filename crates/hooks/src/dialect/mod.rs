//! The dialect table: per host its events, and per event the form of every answer.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod row;

pub use row::Kind;
pub(crate) use row::{Given, Row, Say};

use crate::host::Host;
use crate::instructions::Instructions;

/// How one host speaks.
#[derive(Debug)]
pub struct Dialect {
    /// The host.
    pub host: Host,
    /// Other names of tools in hooks, and the name under which the tool is defined.
    pub aliases: &'static [(&'static str, &'static str)],
    pub(crate) mcp: McpNames,
    pub(crate) fields: &'static Fields,
    pub(crate) events: &'static [Row],
    /// What it reads to its model as instructions.
    pub instructions: Instructions,
    /// Does it call no hook after an MCP server's tool that failed, although its model reads what that gave?
    pub hides_failed: bool,
    /// What is said to an event that is not in the table.
    pub(crate) unknown: Row,
    /// The definitions of the built-in tools, as JSON.
    pub(crate) tools: &'static str,
}

/// How an MCP server's tool is named in hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum McpNames {
    /// `mcp__server__tool`.
    DoubleUnderscore,
    /// `mcp_server_tool`, with the parts in `mcp_context`.
    Context,
    /// `MCP:tool`.
    Colon,
    /// `server-tool`, or `server/tool` when permission is asked.
    Hyphen,
    /// `server_tool`.
    Underscore,
}

/// The names of the fields of a host's input, each with its alternatives.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) event: &'static [&'static str],
    pub(crate) session: &'static [&'static str],
    pub(crate) agent: &'static [&'static str],
    pub(crate) parent: &'static [&'static str],
    pub(crate) tool: &'static [&'static str],
    pub(crate) args: &'static [&'static str],
    pub(crate) call: &'static [&'static str],
    pub(crate) result: &'static [&'static str],
    pub(crate) error: &'static [&'static str],
    pub(crate) prompt: &'static [&'static str],
}

/// The fields that Claude Code named first and others took over.
pub(crate) const CLAUDE_FIELDS: Fields = Fields {
    event: &["hook_event_name"],
    session: &["session_id"],
    agent: &["agent_id"],
    parent: &[],
    tool: &["tool_name"],
    args: &["tool_input"],
    call: &["tool_use_id"],
    result: &["tool_response"],
    error: &["error"],
    prompt: &["prompt"],
};

/// Returns how a host speaks.
#[must_use]
pub fn dialect(host: Host) -> &'static Dialect {
    match host {
        Host::Claude => &claude::DIALECT,
        Host::Codex => &codex::DIALECT,
        Host::Cursor => &cursor::DIALECT,
        Host::Gemini => &gemini::DIALECT,
        Host::Copilot => &copilot::DIALECT,
        Host::OpenCode => &opencode::DIALECT,
    }
}

impl Dialect {
    /// Returns the names of the host's events, in the order of the table.
    pub fn events(&self) -> impl Iterator<Item = &'static str> {
        self.events.iter().map(|it| it.event)
    }

    /// Returns the kind of an event, by the host's name of it.
    #[must_use]
    pub fn kind(&self, event: &str) -> Option<Kind> {
        self.row(event).map(|it| it.kind)
    }

    /// Tells whether a model hears of what is said to events of this kind.
    #[must_use]
    pub fn tells(&self, kind: Kind) -> bool {
        self.events.iter().any(|it| it.kind == kind && it.context.is_some())
    }

    /// Tells whether the host asks its user before a tool runs, where a hook says so.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.events.iter().any(|it| it.kind == Kind::Before && it.ask.is_some())
    }

    pub(crate) fn row(&self, event: &str) -> Option<&'static Row> {
        self.events.iter().find(|it| it.event == event)
    }
}
