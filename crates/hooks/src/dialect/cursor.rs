//! Cursor: flat snake_case, and always a decision: with `failClosed` an empty answer blocks.
//!
//! By the documentation and others' observations, not by our own measurement. Generic and granular hooks
//! both fire for one call; the granular ones are read as calls of the same tools.

use super::row::{Given, Kind, Row, Say};
use super::{Dialect, Fields, McpNames};
use crate::host::Host;
use crate::instructions::{Instructions, SHARED};

const NOTHING: Say = Say::json("{}");
const ALLOW: Say = Say::json(r#"{"permission":"allow"}"#);
/// The model reads `user_message`; `agent_message` is what the documentation promises.
const DENY: Say = Say::json(r#"{"permission":"deny","user_message":$text,"agent_message":$text}"#);
const DENY_TO_USER: Say = Say::json(r#"{"permission":"deny","user_message":$text}"#);
const ALLOW_TOLD: Say = Say::json(r#"{"permission":"allow","agent_message":$text}"#);
const CONTEXT: Say = Say::json(r#"{"additional_context":$text}"#);
const REPLACE_MCP: Say =
    Say::json(r#"{"updated_mcp_tool_output":{"content":[{"type":"text","text":$text}]}}"#);
/// Only what an MCP server's tool gave can be replaced; beside the rest the model is told.
const REPLACE_OR_TELL: Say = Say::json(
    r#"{"additional_context":$text,"updated_mcp_tool_output":{"content":[{"type":"text","text":$text}]}}"#,
);

const FIELDS: Fields = Fields {
    event: &["hook_event_name"],
    session: &["conversation_id", "session_id"],
    agent: &["subagent_id"],
    parent: &["parent_conversation_id"],
    tool: &["tool_name"],
    args: &["tool_input"],
    call: &["tool_use_id", "tool_call_id"],
    result: &["tool_output", "output", "result_json"],
    error: &["error_message"],
    prompt: &["prompt"],
};

const SHELL: Given = Given::Fixed { name: "Shell", args: &["command", "cwd"] };
const READ: Given = Given::Fixed { name: "Read", args: &["file_path"] };
const WRITE: Given = Given::Fixed { name: "Write", args: &["file_path", "edits"] };

const fn watched(event: &'static str, kind: Kind) -> Row {
    Row::new(event, kind).pass(NOTHING).deny(NOTHING.noted())
}

const fn gated(event: &'static str, kind: Kind) -> Row {
    Row::new(event, kind).pass(ALLOW).deny(DENY).context(ALLOW_TOLD)
}

pub(super) static DIALECT: Dialect = Dialect {
    host: Host::Cursor,
    aliases: &[],
    mcp: McpNames::Colon,
    fields: &FIELDS,
    events: &[
        gated("preToolUse", Kind::Before),
        gated("beforeShellExecution", Kind::Before).given(SHELL),
        gated("beforeMCPExecution", Kind::Before).given(Given::Mcp),
        gated("beforeReadFile", Kind::Before).given(READ).deny(DENY_TO_USER),
        gated("beforeTabFileRead", Kind::Before).given(READ).deny(DENY_TO_USER),
        watched("postToolUse", Kind::After)
            .deny(REPLACE_OR_TELL)
            .context(CONTEXT)
            .replace(REPLACE_OR_TELL)
            .replace_mcp(REPLACE_MCP),
        watched("postToolUseFailure", Kind::Failed),
        watched("afterShellExecution", Kind::After).given(SHELL),
        watched("afterMCPExecution", Kind::After).given(Given::Mcp),
        watched("afterFileEdit", Kind::After).given(WRITE),
        watched("afterTabFileEdit", Kind::After).given(WRITE),
        Row::new("beforeSubmitPrompt", Kind::Prompt)
            .pass(Say::json(r#"{"continue":true}"#))
            .deny(Say::json(r#"{"continue":false,"user_message":$text}"#)),
        watched("sessionStart", Kind::SessionStart).deny(CONTEXT).context(CONTEXT),
        watched("sessionEnd", Kind::SessionEnd),
        gated("subagentStart", Kind::SubagentStart).deny(DENY_TO_USER),
        watched("subagentStop", Kind::SubagentStop),
        watched("preCompact", Kind::Compact),
        watched("stop", Kind::Stop),
        watched("afterAgentResponse", Kind::Other),
        watched("afterAgentThought", Kind::Other),
        watched("workspaceOpen", Kind::Other),
    ],
    instructions: Instructions {
        files: &[".cursorrules", SHARED, "CLAUDE.md"],
        folders: &[
            (".cursor/rules", ".mdc"),
            (".cursor/rules", ".md"),
            (".cursor/agents", ".md"),
            (".cursor/skills", "SKILL.md"),
        ],
        commands: &[(".cursor/commands", ".md")],
        below: &[],
    },
    hides_failed: false,
    unknown: Row::new("", Kind::Other).pass(NOTHING).deny(Say::EXIT_2),
    tools: include_str!("../tools/cursor.json"),
};
