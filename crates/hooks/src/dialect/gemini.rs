//! Gemini CLI: `decision` at the top; `ask` would end the run, so it is a denial.

use super::claude::CONTEXT;
use super::row::{Kind, Row, Say};
use super::{CLAUDE_FIELDS, Dialect, McpNames};
use crate::host::Host;
use crate::instructions::{Instructions, SHARED};

const DENY: &str = r#"{"decision":"deny","reason":$text}"#;
/// Context before a tool is ignored; this is at least shown to the person.
const MESSAGE: &str = r#"{"systemMessage":$text}"#;

pub(super) static DIALECT: Dialect = Dialect {
    host: Host::Gemini,
    aliases: &[("search_file_content", "grep_search")],
    mcp: McpNames::Context,
    fields: &CLAUDE_FIELDS,
    events: &[
        Row::new("BeforeTool", Kind::Before).deny(Say::json(DENY)).context(Say::json(MESSAGE)),
        // A denial replaces the result by the reason.
        Row::new("AfterTool", Kind::After)
            .deny(Say::json(DENY))
            .context(Say::json(CONTEXT))
            .replace(Say::json(DENY)),
        Row::new("BeforeAgent", Kind::Prompt).deny(Say::json(DENY)).context(Say::json(CONTEXT)),
        Row::new("SessionStart", Kind::SessionStart)
            .deny(Say::json(CONTEXT))
            .context(Say::json(CONTEXT)),
        Row::new("SessionEnd", Kind::SessionEnd),
        Row::new("AfterAgent", Kind::Stop),
        // Fires before every call of the model, not only before a summary.
        Row::new("PreCompress", Kind::Compact),
        Row::new("BeforeModel", Kind::Other).deny(Say::json(DENY)),
        Row::new("BeforeToolSelection", Kind::Other),
        Row::new("AfterModel", Kind::Other),
        Row::new("Notification", Kind::Other),
    ],
    instructions: Instructions {
        files: &["GEMINI.md", ".gemini/GEMINI.md", SHARED],
        folders: &[(".gemini/agents", ".md"), (".gemini/skills", "SKILL.md")],
        commands: &[(".gemini/commands", ".toml")],
        below: &["GEMINI.md"],
    },
    hides_failed: false,
    unknown: Row::new("", Kind::Other).deny(Say::EXIT_2),
    tools: include_str!("../tools/gemini.json"),
};
