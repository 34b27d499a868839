//! Claude Code: nested `hookSpecificOutput`, with the event's exact name or it is ignored.

use super::row::{Kind, Row, Say};
use super::{CLAUDE_FIELDS, Dialect, McpNames};
use crate::host::Host;
use crate::instructions::{Instructions, SHARED};

/// Shared with hosts that copied the form.
pub(super) const DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":$event,"permissionDecision":"deny","permissionDecisionReason":$text}}"#;
const ASK: &str = r#"{"hookSpecificOutput":{"hookEventName":$event,"permissionDecision":"ask","permissionDecisionReason":$text}}"#;
pub(super) const CONTEXT: &str =
    r#"{"hookSpecificOutput":{"hookEventName":$event,"additionalContext":$text}}"#;
pub(super) const PERMISSION_DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":$event,"decision":{"behavior":"deny","message":$text}}}"#;
pub(super) const BLOCK: &str = r#"{"decision":"block","reason":$text}"#;
const DECLINE: &str =
    r#"{"systemMessage":$text,"hookSpecificOutput":{"hookEventName":$event,"action":"decline"}}"#;
const REPLACE: &str =
    r#"{"hookSpecificOutput":{"hookEventName":$event,"updatedToolOutput":$result}}"#;
/// A result in the wrong shape is shown as it was, and `block` does not remove it: where the shape is not
/// known the session stops before the model reads on, and the commonest shape is replaced as well.
const STOP: &str = r#"{"continue":false,"stopReason":$text,"hookSpecificOutput":{"hookEventName":$event,"updatedToolOutput":{"stdout":$text,"stderr":"","interrupted":false}}}"#;

pub(super) static DIALECT: Dialect = Dialect {
    host: Host::Claude,
    aliases: &[("Task", "Agent"), ("KillBash", "KillShell")],
    mcp: McpNames::DoubleUnderscore,
    fields: &CLAUDE_FIELDS,
    events: &[
        Row::new("PreToolUse", Kind::Before)
            .deny(Say::json(DENY))
            .ask(Say::json(ASK))
            .context(Say::json(CONTEXT)),
        // Fires only when a dialog would open: to ask is to let it open.
        Row::new("PermissionRequest", Kind::Permission)
            .deny(Say::json(PERMISSION_DENY))
            .ask(Say::json(r#"{"systemMessage":$text}"#)),
        Row::new("PostToolUse", Kind::After)
            .deny(Say::json(REPLACE))
            .deny_unseen(Say::json(STOP))
            .context(Say::json(CONTEXT))
            .replace(Say::json(REPLACE)),
        // `updatedToolOutput` is ignored here.
        Row::new("PostToolUseFailure", Kind::Failed)
            .deny(Say::json(CONTEXT))
            .context(Say::json(CONTEXT)),
        // Stops the session before the model reads any result of the batch.
        Row::new("PostToolBatch", Kind::Batch).deny(Say::json(BLOCK)).context(Say::json(CONTEXT)),
        Row::new("UserPromptSubmit", Kind::Prompt)
            .deny(Say::json(BLOCK))
            .context(Say::json(CONTEXT)),
        Row::new("UserPromptExpansion", Kind::Prompt).deny(Say::json(BLOCK)),
        Row::new("SessionStart", Kind::SessionStart)
            .deny(Say::json(CONTEXT))
            .context(Say::json(CONTEXT)),
        Row::new("SessionEnd", Kind::SessionEnd),
        Row::new("SubagentStart", Kind::SubagentStart),
        Row::new("SubagentStop", Kind::SubagentStop),
        Row::new("PreCompact", Kind::Compact),
        Row::new("PostCompact", Kind::Compact),
        Row::new("Stop", Kind::Stop),
        Row::new("StopFailure", Kind::Stop),
        Row::new("ConfigChange", Kind::Other).deny(Say::json(BLOCK)),
        Row::new("Elicitation", Kind::Other).deny(Say::json(DECLINE)),
        Row::new("ElicitationResult", Kind::Other).deny(Say::json(DECLINE)),
        Row::new("TaskCreated", Kind::Other).deny(Say::EXIT_2),
        Row::new("WorktreeCreate", Kind::Other).deny(Say::EXIT_2),
        Row::new("PreModelSwitch", Kind::Other).deny(Say::EXIT_2),
        Row::new("PermissionDenied", Kind::Other),
        Row::new("InstructionsLoaded", Kind::Instructions),
        Row::new("FileChanged", Kind::Other),
        Row::new("DirectoryAdded", Kind::Other),
        Row::new("CwdChanged", Kind::Other),
        Row::new("Notification", Kind::Other),
        Row::new("TaskCompleted", Kind::Other),
        Row::new("TeammateIdle", Kind::Other),
        Row::new("WorktreeRemove", Kind::Other),
        Row::new("PostModelSwitch", Kind::Other),
        Row::new("MessageDisplay", Kind::Other),
        Row::new("Setup", Kind::Other),
    ],
    instructions: Instructions {
        files: &["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", SHARED],
        folders: &[
            (".claude/rules", ".md"),
            (".claude/agents", ".md"),
            (".claude/output-styles", ".md"),
            (".claude/skills", "SKILL.md"),
        ],
        commands: &[(".claude/commands", ".md")],
        below: &[],
    },
    hides_failed: false,
    unknown: Row::new("", Kind::Other).deny(Say::EXIT_2),
    tools: include_str!("../tools/claude.json"),
};
