//! Which records are told, how loudly, and what can be done.

use serde_json::json;

use super::*;

fn notice(record_type: &str, kind: &str, taint: &[&str], content: &Value) -> Option<Notice> {
    let record: Record = serde_json::from_value(json!({
        "recordId": "00", "type": record_type, "principal": "SYS", "taint": taint, "parents": [],
        "meta": { "ts": "2026-01-01T00:00:00Z", "kind": kind, "session": "s" },
        "payload": { "inline": content },
    }))
    .unwrap();
    of(7, Digest::of(b"x"), &record, content)
}

#[test]
fn what_was_stopped_says_what_can_be_done() {
    let denied = json!({
        "decision": "deny", "rule": "cio-deny-leak", "effect": "message_out", "tool": "message_out",
        "surface": "ConversationIO",
        "objections": [{ "why": "it gives the prompt away", "remedy": "answer without it" }],
    });
    let found = notice("SessionMessage", "message_out", &[], &denied).unwrap();
    assert_eq!((found.level, found.source, found.idx), (Level::Critical, "CIO", 7));
    assert_eq!(found.message, "message_out was denied (cio-deny-leak): it gives the prompt away");
    assert_eq!(found.action.as_deref(), Some("answer without it"));
    let asked = json!({
        "decision": "step_up", "rule": "taint-budget", "effect": "web_fetch", "tool": "web_fetch",
        "approval": { "id": "123e4567-e89b", "state": "pending" },
    });
    let found = notice("ToolCall", "web_fetch", &["UNTRUSTED"], &asked).unwrap();
    assert_eq!((found.level, found.source), (Level::Warn, "NET"));
    assert_eq!(found.action.as_deref(), Some("lazaret approvals show 123e4567"));
}

#[test]
fn the_canary_of_verify_is_no_alarm_and_nothing_else_of_its_session_is_silent() {
    let of_session = |session: &str, rule: &str| {
        let content = json!({ "decision": "deny", "rule": rule, "tool": "Bash" });
        let record: Record = serde_json::from_value(json!({
            "recordId": "00", "type": "ToolCall", "principal": "SYS", "taint": [], "parents": [],
            "meta": { "ts": "2026-01-01T00:00:00Z", "kind": "shell_exec", "session": session },
            "payload": { "inline": content },
        }))
        .unwrap();
        of(7, Digest::of(b"x"), &record, &content)
    };
    assert_eq!(of_session("claude:lazaret-verify", CANARY_RULE), None);
    assert!(of_session("claude:lazaret-verify", "act-not-asked-for").is_some());
    assert!(of_session("claude:not-lazaret-verify", CANARY_RULE).is_some());
}

#[test]
fn alarms_are_told_and_ordinary_work_is_not() {
    let missed = json!({ "tool": "Bash", "why": "a result came of a call that no hook announced" });
    let found = notice("GuardDecision", "door_missed", &[], &missed).unwrap();
    assert_eq!((found.level, found.source), (Level::Error, "DOOR"));
    let withheld = json!({ "status": "done", "withheld": [{ "why": "too long" }] });
    assert_eq!(notice("ToolResult", "tool_read", &[], &withheld).unwrap().level, Level::Error);
    let alert = json!({ "alert": "sandbox", "severity": "HIGH", "what": "no walls" });
    assert_eq!(notice("GuardDecision", "alert", &[], &alert).unwrap().level, Level::Error);
    let allowed =
        json!({ "decision": "allow", "rule": "x", "effect": "tool_read", "withheld": [] });
    assert_eq!(notice("ToolCall", "tool_read", &[], &allowed), None);
    assert!(notice("MemoryCommitRequest", "memory_write", &[], &allowed).is_some());
    assert_eq!(notice("SessionStart", "session_start", &[], &json!({})), None);
}

#[test]
fn what_servers_do_is_told() {
    let flagged = |verdict: &str, in_names: bool| {
        json!({
            "server": "notes", "tool": "look", "verdict": verdict, "in_names": in_names,
            "findings": [{ "path": "description", "rule": "tool_quiet" }],
        })
    };
    let lived = |event: &str| json!({ "server": "notes", "event": event, "detail": { "reason": "it ended" } });
    let alike = json!({
        "rule": "tool_name_near", "server": "mail", "tool": "send", "other_server": "evil", "other_tool": "sned",
    });
    let file = json!({ "file": "/w/a.rs", "why": "it changed" });
    let cases = [
        (
            "mcp_definition_flagged",
            flagged("injection", false),
            Level::Critical,
            "TOOL",
            "taken out (tool_quiet in description)",
        ),
        ("mcp_definition_flagged", flagged("suspicious", true), Level::Warn, "TOOL", "it is held"),
        (
            "mcp_instructions_flagged",
            flagged("suspicious", false),
            Level::Warn,
            "TOOL",
            "are not shown",
        ),
        (
            "mcp_look_alike",
            alike,
            Level::Warn,
            "TOOL",
            "sned of the server evil looks like send of mail",
        ),
        ("mcp_lifecycle", lived("crash"), Level::Warn, "TOOL", "notes does not answer: it ended"),
        ("mcp_lifecycle", lived("flood"), Level::Warn, "TOOL", "more messages"),
        ("fetched", json!({ "places": ["/w/dep"] }), Level::Info, "FS", "/w/dep"),
        ("door_missed", file, Level::Error, "DOOR", "/w/a.rs: it changed"),
        (
            "skill_verification",
            json!({ "decision": "require_approval", "skill": "pdf", "verification": { "findings": [{ "why": "it sends" }] } }),
            Level::Warn,
            "TOOL",
            "pdf is for a person to look at: it sends",
        ),
    ];
    for (kind, content, level, source, said) in cases {
        let found = notice("GuardDecision", kind, &[], &content).unwrap();
        assert_eq!((found.level, found.source), (level, source), "{kind}");
        assert!(found.message.contains(said), "{kind}: {}", found.message);
        assert!(found.action.is_some(), "{kind}");
    }
    for ordinary in ["startup", "shutdown", "negotiation", "cage"] {
        assert_eq!(notice("GuardDecision", "mcp_lifecycle", &[], &lived(ordinary)), None);
    }
}
