//! From a record to its notification, if it has one. Pure: the same record gives the same notification, whoever looks.

use aegx::{Digest, Record, RecordType};
use serde_json::Value;

use super::{Level, Notice};

/// The longest message, in characters.
const MESSAGE_CHARS_MAX: usize = 400;

/// Returns the notification of a record; none for what happened as it should and concerns nobody.
#[must_use]
pub fn of(idx: u64, id: Digest, record: &Record, content: &Value) -> Option<Notice> {
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    let meta = |key: &str| record.meta.get(key).and_then(Value::as_str);
    let kind = meta("kind").unwrap_or_default();
    let (level, message) = said(record, kind, content)?;
    let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
    let source = match text("surface") {
        Some("ConversationIO") => "CIO",
        Some("SandboxCompliance") => "SYS",
        Some(_) | None => source(record.record_type, kind, text("effect").unwrap_or(kind)),
    };
    Some(Notice {
        idx,
        at: record.ts().unwrap_or_default().to_owned(),
        level,
        source,
        message,
        record: id,
        session: meta("session").map(str::to_owned),
        action: action(kind, content, id),
    })
}

/// How much it matters, and what to say.
fn said(record: &Record, kind: &str, content: &Value) -> Option<(Level, String)> {
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    if let Some(what) = text("incident").or_else(|| text("alert")) {
        let level = match text("severity") {
            Some("HIGH") => Level::Error,
            Some("MEDIUM") => Level::Warn,
            Some(_) | None => Level::Critical,
        };
        return Some((level, format!("{what}: {}", text("what").unwrap_or_default())));
    }
    if let Some(withheld) = first(content, "withheld") {
        let why = withheld.get("why").and_then(Value::as_str).unwrap_or_default();
        return Some((Level::Error, format!("the output of {kind} was withheld: {why}")));
    }
    let rule = text("rule").unwrap_or(kind);
    let why = first(content, "objections").and_then(|it| it.get("why")).and_then(Value::as_str);
    let why = why.or_else(|| text("error")).or_else(|| text("reason")).unwrap_or_default();
    let what = text("tool").or_else(|| text("effect")).unwrap_or(kind);
    match text("decision") {
        Some("deny") => {
            let is_attack = record.taint.iter().any(|it| it == "INJECTION_SUSPECT")
                || text("surface") == Some("ConversationIO");
            let level = if is_attack { Level::Critical } else { Level::Error };
            Some((level, format!("{what} was denied ({rule}): {why}")))
        }
        Some("step_up" | "defer") => {
            Some((Level::Warn, format!("{what} waits for a person ({rule}): {why}")))
        }
        Some(_) | None => of_kind(record, kind, content, (rule, why)),
    }
}

/// What is not told by its decision.
fn of_kind(
    record: &Record,
    kind: &str,
    content: &Value,
    (rule, why): (&str, &str),
) -> Option<(Level, String)> {
    let text = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
    match kind {
        "door_missed" => Some((Level::Error, format!("{}: {}", text("tool"), text("why")))),
        "hook_refused" => Some((Level::Error, format!("a hook was refused: {why}"))),
        "confused_deputy" => Some((Level::Error, format!("{}: {why}", text("server")))),
        "mcp_definition_changed" => {
            let (server, tool) = (text("server"), text("tool"));
            Some((Level::Warn, format!("the server {server} changed its tool {tool}: it is held")))
        }
        "system_prompt" => Some((Level::Info, format!("{rule}: {}", text("prompt_sha256")))),
        // What an agent may do to itself and to later sessions is told even where it is allowed.
        _ if text("decision") == "allow" => {
            let lasts = [RecordType::ControlPlaneChangeRequest, RecordType::MemoryCommitRequest];
            let told = lasts.contains(&record.record_type);
            told.then(|| (Level::Info, format!("{kind} was allowed ({rule})")))
        }
        // Doors that could not work say so in an error.
        _ if content.get("error").is_some() => {
            Some((Level::Warn, format!("{kind}: {}", text("error"))))
        }
        _ => None,
    }
}

/// What can be done about it: what the rule says, or where to look.
fn action(kind: &str, content: &Value, id: Digest) -> Option<String> {
    let approval = content.get("approval").and_then(|it| it.get("id")).and_then(Value::as_str);
    let decision = content.get("decision").and_then(Value::as_str);
    if let (Some(id), Some("step_up" | "defer")) = (approval, decision) {
        return Some(format!("lazaret approvals show {}", id.get(..8).unwrap_or(id)));
    }
    let remedy = first(content, "objections").and_then(|it| it.get("remedy"));
    if let Some(remedy) = remedy.and_then(Value::as_str) {
        return Some(remedy.to_owned());
    }
    match kind {
        "door_missed" => Some("lazaret verify".to_owned()),
        "mcp_definition_changed" => Some("lazaret mcp list".to_owned()),
        "alert" | "incident" => None,
        _ => Some(format!("lazaret evidence query --id {id}")),
    }
}

/// The first of a list of objects.
fn first<'a>(content: &'a Value, list: &str) -> Option<&'a Value> {
    content.get(list)?.as_array()?.first()
}

/// The part of the system that a record is about.
fn source(record_type: RecordType, kind: &str, effect: &str) -> &'static str {
    const OF_TYPE: &[(RecordType, &str)] = &[
        (RecordType::ControlPlaneChangeRequest, "CPI"),
        (RecordType::MemoryCommitRequest, "MI"),
        (RecordType::FileRead, "FS"),
        (RecordType::FileWrite, "FS"),
        (RecordType::SessionMessage, "CIO"),
    ];
    if let Some((_, source)) = OF_TYPE.iter().find(|it| it.0 == record_type) {
        return source;
    }
    let begins = |prefixes: &[&str]| prefixes.iter().any(|it| effect.starts_with(it));
    if ["door_missed", "hook_refused", "malformed_frame"].contains(&kind) {
        "DOOR"
    } else if begins(&["web_", "browser_", "egress"]) {
        "NET"
    } else if begins(&["tool_", "shell_", "mcp_"]) || kind == "confused_deputy" {
        "TOOL"
    } else {
        "SYS"
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            found.message,
            "message_out was denied (cio-deny-leak): it gives the prompt away"
        );
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
    fn alarms_are_told_and_ordinary_work_is_not() {
        let missed =
            json!({ "tool": "Bash", "why": "a result came of a call that no hook announced" });
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
}
