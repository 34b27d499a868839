//! Codex: Claude Code's form, strictly. A field too many, a reason too few, or `ask`, and the call runs.

use super::claude::{BLOCK, CONTEXT, DENY, PERMISSION_DENY};
use super::row::{Kind, Row, Say};
use super::{CLAUDE_FIELDS, Dialect, McpNames};
use crate::host::Host;
use crate::instructions::{Instructions, SHARED};

pub(super) static DIALECT: Dialect = Dialect {
    host: Host::Codex,
    aliases: &[
        ("Write", "apply_patch"),
        ("Edit", "apply_patch"),
        ("Agent", "spawn_agent"),
        // Other namespaces than those of MCP servers are written without a separator.
        ("multi_agent_v1spawn_agent", "spawn_agent"),
        ("multi_agent_v1wait_agent", "wait_agent"),
        ("multi_agent_v1send_input", "send_input"),
        ("multi_agent_v1resume_agent", "resume_agent"),
        ("multi_agent_v1close_agent", "close_agent"),
    ],
    mcp: McpNames::DoubleUnderscore,
    fields: &CLAUDE_FIELDS,
    events: &[
        // `updatedInput` is taken only beside `allow`.
        Row::new("PreToolUse", Kind::Before).deny(Say::json(DENY)).context(Say::json(CONTEXT)),
        // Undecided, it may be settled by a model that reviews: not by a person.
        Row::new("PermissionRequest", Kind::Permission).deny(Say::json(PERMISSION_DENY)),
        // `block` replaces the result by the reason, for built-in tools and MCP alike.
        Row::new("PostToolUse", Kind::After)
            .deny(Say::json(BLOCK))
            .context(Say::json(CONTEXT))
            .replace(Say::json(BLOCK)),
        Row::new("UserPromptSubmit", Kind::Prompt)
            .deny(Say::json(BLOCK))
            .context(Say::json(CONTEXT)),
        Row::new("SessionStart", Kind::SessionStart)
            .deny(Say::json(CONTEXT))
            .context(Say::json(CONTEXT)),
        Row::new("SessionEnd", Kind::SessionEnd),
        Row::new("SubagentStart", Kind::SubagentStart),
        Row::new("SubagentStop", Kind::SubagentStop),
        Row::new("PreCompact", Kind::Compact),
        Row::new("PostCompact", Kind::Compact),
        Row::new("Stop", Kind::Stop),
    ],
    instructions: Instructions {
        files: &["AGENTS.override.md", SHARED],
        folders: &[(".codex/skills", "SKILL.md"), (".agents/skills", "SKILL.md")],
        commands: &[],
        below: &[],
    },
    hides_failed: true,
    unknown: Row::new("", Kind::Other).deny(Say::EXIT_2),
    tools: include_str!("../tools/codex.json"),
};
