//! Answers word for word: those that were measured, and a golden table of all.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use crate::world::{assert_golden, canonical_text, made, replies, seen, tool};
use hooks::{Event, Host, Kind, Reply, Seen, answer, dialect};
use serde_json::{Value, json};

fn said(host: Host, event: &str, seen: Option<&Seen>, reply: &Reply) -> Value {
    let answer = answer(host, event, seen, reply);
    assert_eq!((answer.exit, answer.stderr.as_slice()), (0, &b""[..]));
    serde_json::from_slice(&answer.stdout).unwrap()
}

fn deny() -> Reply {
    Reply::Deny { reason: "REASON-X".into() }
}

#[test]
fn denials_as_they_were_measured() {
    let nested = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "REASON-X",
    }});
    for (host, event, expected) in [
        (Host::Claude, "PreToolUse", nested.clone()),
        (Host::Codex, "PreToolUse", nested.clone()),
        (Host::Copilot, "PreToolUse", nested),
        (
            Host::Copilot,
            "preToolUse",
            json!({"permissionDecision": "deny", "permissionDecisionReason": "REASON-X"}),
        ),
        (Host::Copilot, "permissionRequest", json!({"behavior": "deny", "message": "REASON-X"})),
        (Host::Copilot, "userPromptSubmitted", json!({"decision": "block", "reason": "REASON-X"})),
        (Host::Gemini, "BeforeTool", json!({"decision": "deny", "reason": "REASON-X"})),
        (Host::Gemini, "BeforeAgent", json!({"decision": "deny", "reason": "REASON-X"})),
        (Host::Gemini, "AfterTool", json!({"decision": "deny", "reason": "REASON-X"})),
        (Host::Codex, "PostToolUse", json!({"decision": "block", "reason": "REASON-X"})),
        (Host::Codex, "UserPromptSubmit", json!({"decision": "block", "reason": "REASON-X"})),
        (Host::Claude, "UserPromptSubmit", json!({"decision": "block", "reason": "REASON-X"})),
        (Host::Claude, "PostToolBatch", json!({"decision": "block", "reason": "REASON-X"})),
        (Host::Cursor, "beforeReadFile", json!({"permission": "deny", "user_message": "REASON-X"})),
        (Host::OpenCode, "tool.execute.before", json!({"decision": "deny", "reason": "REASON-X"})),
    ] {
        assert_eq!(said(host, event, None, &deny()), expected, "{host} {event}");
    }
    let permission = json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": "REASON-X"},
    }});
    for host in [Host::Claude, Host::Codex] {
        assert_eq!(said(host, "PermissionRequest", None, &deny()), permission);
    }
}

#[test]
fn results_of_failed_tools_can_only_be_commented() {
    let failed = seen(Host::Claude, "PostToolUseFailure@bash-fail.003-Bash.json");
    let Event::After { failed: true, output, .. } = &failed.event else { panic!("not failed") };
    assert_eq!(output, "Exit code 3\nSECRET");
    let expected = json!({"hookSpecificOutput": {
        "hookEventName": "PostToolUseFailure",
        "additionalContext": "Clean.",
    }});
    let reply = Reply::Replace { text: "Clean.".into() };
    assert_eq!(said(Host::Claude, "PostToolUseFailure", Some(&failed), &reply), expected);
}

#[test]
fn codex_is_told_nothing_where_there_is_nothing_to_say() {
    for event in dialect(Host::Codex).events() {
        let answer = answer(Host::Codex, event, None, &Reply::Pass);
        assert_eq!((answer.exit, answer.stdout.len(), answer.stderr.len()), (0, 0, 0), "{event}");
    }
    for event in dialect(Host::Cursor).events() {
        let answer = answer(Host::Cursor, event, None, &Reply::Pass);
        assert!(answer.stdout.starts_with(b"{"), "{event}: always a decision");
    }
}

#[test]
fn every_answer_to_every_event_as_written_down() {
    let mut lines = Vec::new();
    for host in Host::ALL {
        for event in dialect(host).events().chain(["NoSuchEvent"]) {
            let seen = typical(dialect(host).kind(event));
            for (name, reply) in replies() {
                let answer = answer(host, event, seen.as_ref(), &reply);
                let stdout = canonical_text(&String::from_utf8(answer.stdout).unwrap());
                let stderr = String::from_utf8(answer.stderr).unwrap();
                lines.push(format!("{host} {event} {name} {} {stdout} {stderr:?}", answer.exit));
            }
        }
    }
    assert_golden("answers.txt", &lines);
}

/// A call of a shell, for events that are about a tool.
fn typical(kind: Option<Kind>) -> Option<Seen> {
    let bash = || tool("Bash", json!({"command": "x"}), None);
    match kind? {
        Kind::Before => Some(made(Event::Before(bash()))),
        Kind::Permission => Some(made(Event::Permission(bash()))),
        kind @ (Kind::After | Kind::Failed) => Some(made(Event::After {
            tool: bash(),
            output: "out".into(),
            failed: kind == Kind::Failed,
            shape: json!({"stdout": "out", "stderr": "", "interrupted": false}),
        })),
        Kind::SessionStart
        | Kind::SessionEnd
        | Kind::Prompt
        | Kind::SubagentStart
        | Kind::SubagentStop
        | Kind::Batch
        | Kind::Compact
        | Kind::Stop
        | Kind::Instructions
        | Kind::Other => None,
    }
}
