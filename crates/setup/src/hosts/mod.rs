//! What each host is told, as tables: its events, the form of an entry, what it does not show us.

pub(crate) mod codex;
pub(crate) mod requirements;

use serde_json::{Value, json};

use crate::command::HookCommand;
use crate::hookfile::{Shape, Wanted};
use crate::json::Comments;
use hooks::Host;

/// Seconds that Claude Code waits for a decision; then it blocks, as `onFailure` says.
const CLAUDE_TIMEOUT_S: u64 = 10;
/// Seconds that other hosts wait. Most of them let the call pass when the time is over: the hook must have answered
/// long before.
const TIMEOUT_S: u64 = 30;
/// Codex gives the end of a session at most this long, and hashes what it gives.
const CODEX_END_TIMEOUT_S: u64 = 3;
const MS_PER_S: u64 = 1000;

const PLUGIN: &str = include_str!("opencode.js");
/// Texts of the plugin that stand for the program and the state directory.
const PLUGIN_HOOK: &str = "\"@HOOK@\"";
const PLUGIN_HOME: &str = "\"@HOME@\"";
/// The first line of our plugin, by which it is known to be ours.
pub(crate) const PLUGIN_MARK: &str = "// Made by `lazaret init`; `lazaret uninstall` removes it.";

const CLAUDE: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];
/// Events of Claude Code that must not go on if the hook fails. After a tool, `onFailure` does nothing, and the output
/// of a failed one cannot be replaced: there the batch is what can still be stopped.
const CLAUDE_DECIDING: &[&str] =
    &["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolBatch"];
const CODEX: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];
const GEMINI: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "BeforeTool",
    "AfterTool",
    "AfterAgent",
    "PreCompress",
];
/// Events of Gemini CLI that need a matcher to fire for every tool.
const GEMINI_MATCHED: &[&str] = &["BeforeTool", "AfterTool"];
const CURSOR: &[&str] = &[
    "sessionStart",
    "sessionEnd",
    "beforeSubmitPrompt",
    "preToolUse",
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "subagentStart",
    "postToolUse",
    "postToolUseFailure",
    "preCompact",
    "subagentStop",
    "stop",
];
/// Events of Cursor whose answer decides: without one, the call does not happen.
const CURSOR_DECIDING: &[&str] = &[
    "beforeSubmitPrompt",
    "preToolUse",
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "subagentStart",
];
const COPILOT: &[&str] = &[
    "sessionStart",
    "sessionEnd",
    "userPromptSubmitted",
    "preToolUse",
    "permissionRequest",
    "postToolUse",
    "postToolUseFailure",
    "preCompact",
    "subagentStart",
    "subagentStop",
    "agentStop",
];

/// How a host lists hooks; `None` where it takes a plugin instead.
pub(crate) fn shape(host: Host) -> Option<Shape> {
    match host {
        Host::Claude | Host::Codex | Host::Gemini => Some(Shape::Grouped),
        Host::Cursor | Host::Copilot => Some(Shape::Flat),
        Host::OpenCode => None,
    }
}

/// Does the host read comments in its files?
pub(crate) fn comments(host: Host) -> Comments {
    match host {
        Host::Gemini | Host::OpenCode | Host::Copilot => Comments::Allowed,
        Host::Claude | Host::Codex | Host::Cursor => Comments::Refused,
    }
}

/// The hooks that a host should have.
pub(crate) fn wanted(host: Host, hook: &HookCommand<'_>) -> Vec<Wanted> {
    let matcher = |event: &str| GEMINI_MATCHED.contains(&event).then_some(".*");
    let all = events(host).iter();
    all.map(|it| Wanted { event: it, matcher: matcher(it), entry: entry(host, hook, it) }).collect()
}

/// The events of a host in whose settings we list hooks.
fn events(host: Host) -> &'static [&'static str] {
    match host {
        Host::Claude => CLAUDE,
        Host::Codex => CODEX,
        Host::Gemini => GEMINI,
        Host::Cursor => CURSOR,
        Host::Copilot => COPILOT,
        Host::OpenCode => &[],
    }
}

fn entry(host: Host, hook: &HookCommand<'_>, event: &str) -> Value {
    let line = hook.line(host, event);
    match host {
        Host::Claude => {
            let (program, args) = (hook.program, hook.args(host, event));
            let timeout = CLAUDE_TIMEOUT_S;
            let mut entry =
                json!({ "type": "command", "command": program, "args": args, "timeout": timeout });
            if CLAUDE_DECIDING.contains(&event)
                && let Some(entry) = entry.as_object_mut()
            {
                entry.insert("onFailure".to_owned(), Value::from("block"));
            }
            entry
        }
        Host::Codex => {
            let timeout = if event == "SessionEnd" { CODEX_END_TIMEOUT_S } else { TIMEOUT_S };
            json!({ "type": "command", "command": line, "timeout": timeout })
        }
        Host::Gemini => json!({
            "type": "command", "command": line, "name": gemini_name(event), "timeout": TIMEOUT_S * MS_PER_S,
        }),
        Host::Cursor => {
            let is_closed = CURSOR_DECIDING.contains(&event);
            json!({
                "type": "command", "command": line, "timeout": TIMEOUT_S, "failClosed": is_closed,
            })
        }
        Host::Copilot => json!({ "type": "command", "bash": line, "timeoutSec": TIMEOUT_S }),
        Host::OpenCode => Value::Null,
    }
}

/// The name by which Gemini CLI shows a hook, and by which a user can switch it off.
pub(crate) fn gemini_name(event: &str) -> String {
    format!("lazaret-{event}")
}

/// The names of all our hooks in Gemini CLI.
pub(crate) fn gemini_names() -> Vec<String> {
    GEMINI.iter().map(|it| gemini_name(it)).collect()
}

/// The plugin of OpenCode.
pub(crate) fn plugin(hook: &HookCommand<'_>) -> String {
    // Text of JSON is text of JavaScript.
    let home = Value::from(hook.home).to_string();
    PLUGIN.replace(PLUGIN_HOME, &home).replace(PLUGIN_HOOK, &Value::from(hook.program).to_string())
}

/// What a host does not show us.
pub(crate) fn limits(host: Host) -> &'static [&'static str] {
    match host {
        Host::Claude => &[
            "files that are named by @ in a prompt reach the model without a hook",
            "a failed tool's output cannot be replaced, only commented on",
        ],
        Host::Codex => &[
            "`write_stdin` into a running shell fires no hook: what is typed there is not judged",
            "when the hook cannot be started or takes too long, Codex lets the call pass",
        ],
        Host::Gemini => &[
            "when the hook takes too long, Gemini CLI lets the call pass",
            "`hooksConfig.disabled` can switch a hook off by its name; only the policy engine is firm",
            "calls of subagents do not say which agent they come from",
        ],
        Host::Cursor => &[
            "results of built-in tools cannot be replaced, only those of MCP servers",
            "Cursor can also load the hooks of Claude Code's settings: a call may then be judged twice",
            "not measured with the real program: look at its hooks page after the next start",
        ],
        Host::Copilot => &[
            "when the hook takes too long, Copilot CLI lets the call pass",
            "`disableAllHooks` in settings.json switches the hooks off",
        ],
        Host::OpenCode => &[
            "with any plugin OpenCode installs `@opencode-ai/plugin` by npm at its next start, and waits for it without a network",
            "a plugin that cannot be loaded is skipped without a word: run `lazaret verify`",
            "a failed call of an MCP server fires nothing after it",
        ],
    }
}

#[cfg(test)]
mod tests;
