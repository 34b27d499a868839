//! Copilot CLI: two dialects, told apart by the case of the event's name.
//!
//! Events in camelCase are flat and in camelCase; events in PascalCase take Claude Code's form. Each
//! ignores the other's form, and the call runs.

use super::claude::{BLOCK, CONTEXT as NESTED_CONTEXT, DENY as NESTED_DENY};
use super::row::{Kind, Row, Say};
use super::{Dialect, Fields, McpNames};
use crate::host::Host;
use crate::instructions::{Instructions, SHARED};

const DENY: &str = r#"{"permissionDecision":"deny","permissionDecisionReason":$text}"#;
const ASK: &str = r#"{"permissionDecision":"ask","permissionDecisionReason":$text}"#;
const CONTEXT: &str = r#"{"additionalContext":$text}"#;
const PERMISSION_DENY: &str = r#"{"behavior":"deny","message":$text}"#;
/// The input of this event is in camelCase under either name: both forms are given.
const EITHER_PERMISSION_DENY: &str = r#"{"behavior":"deny","message":$text,"hookSpecificOutput":{"hookEventName":$event,"decision":{"behavior":"deny","message":$text}}}"#;
const REPLACE: &str = r#"{"modifiedResult":{"resultType":"success","textResultForLlm":$text}}"#;

const FIELDS: Fields = Fields {
    event: &["hook_event_name", "hookName"],
    session: &["sessionId", "session_id"],
    agent: &["agentId", "agent_id"],
    parent: &["parentAgentId", "parent_agent_id"],
    tool: &["toolName", "tool_name"],
    args: &["toolArgs", "toolInput", "tool_input"],
    call: &["toolCallId", "tool_use_id"],
    result: &["toolResult", "tool_result"],
    error: &["error"],
    prompt: &["prompt"],
};

pub(super) static DIALECT: Dialect = Dialect {
    host: Host::Copilot,
    aliases: &[
        ("Bash", "bash"),
        ("Read", "view"),
        ("Write", "create"),
        ("Edit", "edit"),
        ("Grep", "grep"),
        ("Glob", "glob"),
        ("Task", "task"),
        ("Agent", "task"),
        ("WebFetch", "web_fetch"),
    ],
    mcp: McpNames::Hyphen,
    fields: &FIELDS,
    events: &[
        Row::new("preToolUse", Kind::Before)
            .deny(Say::json(DENY))
            .ask(Say::json(ASK))
            .context(Say::json(CONTEXT)),
        // Fires under `--allow-all-tools` as well: undecided, the call would run.
        Row::new("permissionRequest", Kind::Permission).deny(Say::json(PERMISSION_DENY)),
        Row::new("postToolUse", Kind::After)
            .deny(Say::json(BLOCK))
            .context(Say::json(CONTEXT))
            .replace(Say::json(REPLACE)),
        Row::new("postToolUseFailure", Kind::Failed)
            .deny(Say::json(CONTEXT))
            .context(Say::json(CONTEXT)),
        Row::new("userPromptSubmitted", Kind::Prompt)
            .deny(Say::json(BLOCK))
            .context(Say::json(CONTEXT)),
        Row::new("sessionStart", Kind::SessionStart)
            .deny(Say::json(CONTEXT))
            .context(Say::json(CONTEXT)),
        Row::new("sessionEnd", Kind::SessionEnd),
        Row::new("agentStop", Kind::Stop),
        Row::new("subagentStart", Kind::SubagentStart),
        Row::new("subagentStop", Kind::SubagentStop),
        Row::new("preCompact", Kind::Compact),
        Row::new("notification", Kind::Other),
        Row::new("errorOccurred", Kind::Other),
        // In PascalCase `ask` was not measured.
        Row::new("PreToolUse", Kind::Before)
            .deny(Say::json(NESTED_DENY))
            .context(Say::json(NESTED_CONTEXT)),
        Row::new("PermissionRequest", Kind::Permission).deny(Say::json(EITHER_PERMISSION_DENY)),
        Row::new("PostToolUse", Kind::After)
            .deny(Say::json(BLOCK))
            .context(Say::json(NESTED_CONTEXT))
            .replace(Say::json(BLOCK)),
        Row::new("PostToolUseFailure", Kind::Failed)
            .deny(Say::json(NESTED_CONTEXT))
            .context(Say::json(NESTED_CONTEXT)),
        Row::new("UserPromptSubmit", Kind::Prompt)
            .deny(Say::json(BLOCK))
            .context(Say::json(NESTED_CONTEXT)),
        Row::new("SessionStart", Kind::SessionStart)
            .deny(Say::json(NESTED_CONTEXT))
            .context(Say::json(NESTED_CONTEXT)),
        Row::new("SessionEnd", Kind::SessionEnd),
        Row::new("Stop", Kind::Stop),
        Row::new("SubagentStart", Kind::SubagentStart),
        Row::new("SubagentStop", Kind::SubagentStop),
        Row::new("PreCompact", Kind::Compact),
        Row::new("Notification", Kind::Other),
        Row::new("ErrorOccurred", Kind::Other),
    ],
    instructions: Instructions {
        files: &[".github/copilot-instructions.md", SHARED, "CLAUDE.md", "GEMINI.md"],
        folders: &[
            (".github/instructions", ".md"),
            (".github/agents", ".md"),
            (".github/skills", "SKILL.md"),
            (".claude/skills", "SKILL.md"),
        ],
        commands: &[],
        below: &[],
    },
    hides_failed: false,
    unknown: Row::new("", Kind::Other).deny(Say::EXIT_2),
    tools: include_str!("../tools/copilot.json"),
};
