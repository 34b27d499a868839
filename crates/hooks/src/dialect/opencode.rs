//! OpenCode: a form of our own between its plugin and `lazaret-hook`.
//!
//! OpenCode has no hooks of commands; our plugin (JavaScript) starts `lazaret-hook opencode EVENT`, writes
//! one JSON object to it and obeys one JSON object, exit status 0. Every input has `session`, and may have `cwd`
//! and `parent`: the session that started this one, where it is a subagent's. Unknown fields are ignored on
//! both sides. Any other exit status, no answer, or an answer that is no JSON: the plugin denies.
//!
//! | event | input besides | answer |
//! |---|---|---|
//! | `tool.execute.before` | `tool`, `callID`, `args` | `{"decision":"allow"\|"deny", "reason"?, "args"?, "context"?}`: on `deny` throw `reason`; `args` replaces all arguments, in place |
//! | `tool.execute.after` | `tool`, `callID`, `args`, `output`, `failed`? | `{"output"?, "context"?}`: the result becomes `output` (for MCP tools `content`); `context` is added to it |
//! | `chat.message` | `text` | `{"decision":"allow"\|"deny", "reason"?, "context"?}`: on `deny` throw `reason` |
//! | `session.created`, `session.idle`, `session.deleted`, `session.compacted` | `summary`? for the last | `{}` |
//!
//! `output` is a text, or what the tool gave as it stands (an MCP result with `content`).

use super::row::{Kind, Row, Say};
use super::{Dialect, Fields, McpNames};
use crate::host::Host;
use crate::instructions::{Instructions, SHARED};

const NOTHING: Say = Say::json("{}");
const ALLOW: Say = Say::json(r#"{"decision":"allow"}"#);
const ALLOW_TOLD: Say = Say::json(r#"{"decision":"allow","context":$text}"#);
const DENY: Say = Say::json(r#"{"decision":"deny","reason":$text}"#);
const REPLACE: Say = Say::json(r#"{"output":$text}"#);
const CONTEXT: Say = Say::json(r#"{"context":$text}"#);

const FIELDS: Fields = Fields {
    event: &["event"],
    session: &["session"],
    agent: &[],
    parent: &["parent"],
    tool: &["tool"],
    args: &["args"],
    call: &["callID"],
    result: &["output"],
    error: &[],
    prompt: &["text"],
};

const fn watched(event: &'static str, kind: Kind) -> Row {
    Row::new(event, kind).pass(NOTHING).deny(NOTHING.noted())
}

pub(super) static DIALECT: Dialect = Dialect {
    host: Host::OpenCode,
    aliases: &[("apply_patch", "patch")],
    mcp: McpNames::Underscore,
    fields: &FIELDS,
    events: &[
        Row::new("tool.execute.before", Kind::Before).pass(ALLOW).deny(DENY).context(ALLOW_TOLD),
        Row::new("tool.execute.after", Kind::After)
            .pass(NOTHING)
            .deny(REPLACE)
            .replace(REPLACE)
            .context(CONTEXT),
        Row::new("chat.message", Kind::Prompt).pass(ALLOW).deny(DENY).context(ALLOW_TOLD),
        watched("session.created", Kind::SessionStart),
        watched("session.deleted", Kind::SessionEnd),
        watched("session.compacted", Kind::Compact),
        watched("session.idle", Kind::Stop),
    ],
    instructions: Instructions {
        files: &[SHARED, "CLAUDE.md", "CONTEXT.md"],
        folders: &[
            (".opencode/agent", ".md"),
            (".opencode/agents", ".md"),
            (".opencode/skill", "SKILL.md"),
            (".opencode/skills", "SKILL.md"),
            (".claude/skills", "SKILL.md"),
        ],
        commands: &[(".opencode/command", ".md"), (".opencode/commands", ".md")],
        below: &[],
    },
    hides_failed: true,
    unknown: Row::new("", Kind::Other).pass(NOTHING).deny(Say::EXIT_2),
    tools: include_str!("../tools/opencode.json"),
};
