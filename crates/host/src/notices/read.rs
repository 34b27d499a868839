//! From a record to its notification, if it has one. Pure: the same record gives the same notification, whoever looks.

use aegx::{Digest, Record, RecordType};
use serde_json::Value;

use super::{Level, Notice};
use crate::doors::hook::CANARY_SESSION;

/// The rule that denies what `lazaret verify` has a hook deny.
const CANARY_RULE: &str = "shell-erase-root";
/// The longest message, in characters.
const MESSAGE_CHARS_MAX: usize = 400;

/// Returns the notification of a record; none for what happened as it should and concerns nobody.
#[must_use]
pub fn of(idx: u64, id: Digest, record: &Record, content: &Value) -> Option<Notice> {
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    let meta = |key: &str| record.meta.get(key).and_then(Value::as_str);
    let kind = meta("kind").unwrap_or_default();
    let is_told = !is_canary(meta("session").unwrap_or_default(), content);
    let (level, message) = said(record, kind, content).filter(|_| is_told)?;
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

/// Is it the call that `lazaret verify` has a hook deny? Any other call of that session is told.
fn is_canary(session: &str, content: &Value) -> bool {
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    let in_session = session.rsplit(':').next() == Some(CANARY_SESSION);
    in_session && (text("decision"), text("rule")) == (Some("deny"), Some(CANARY_RULE))
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
        "door_missed" => {
            // A call or its result, a file, or a program at a door.
            let about = ["tool", "file", "door"].map(text).into_iter().find(|it| !it.is_empty());
            Some((Level::Error, format!("{}: {}", about.unwrap_or(kind), text("why"))))
        }
        "hook_refused" => Some((Level::Error, format!("a hook was refused: {why}"))),
        "confused_deputy" => Some((Level::Error, format!("{}: {why}", text("server")))),
        "mcp_definition_changed" => {
            let server = text("server");
            let words = ["tool", "prompt", "resource", "template"];
            let word = words.into_iter().find(|it| !text(it).is_empty()).unwrap_or("tool");
            let name = text(word);
            Some((
                Level::Warn,
                format!("the server {server} changed its {word} {name}: it is held"),
            ))
        }
        "mcp_definition_flagged" | "mcp_instructions_flagged" => Some(flagged(kind, content)),
        "mcp_look_alike" => {
            let known = (text("server"), text("tool"));
            let message = format!(
                "the tool {} of the server {} looks like {} of {} ({rule})",
                text("other_tool"),
                text("other_server"),
                known.1,
                known.0
            );
            Some((Level::Warn, message))
        }
        "mcp_lifecycle" => lived(content),
        "fetched" => {
            let places =
                content.get("places").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let named = places.first().and_then(Value::as_str).unwrap_or_default();
            let count = places.len();
            let message = format!(
                "a command brought something from outside into a trusted folder, which does not count as trusted: {named} (1 of {count})"
            );
            Some((Level::Info, message))
        }
        // Records of earlier versions say `review`.
        "skill_verification" if ["require_approval", "review"].contains(&text("decision")) => {
            let findings = content.get("verification").and_then(|it| first(it, "findings"));
            let why = findings.and_then(|it| it.get("why")).and_then(Value::as_str);
            let (skill, why) = (text("skill"), why.unwrap_or_default());
            Some((Level::Warn, format!("the skill {skill} is for a person to look at: {why}")))
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

/// What a server says of itself that gives orders.
fn flagged(kind: &str, content: &Value) -> (Level, String) {
    let text = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
    let (server, tool) = (text("server"), text("tool"));
    let sign = first(content, "findings");
    let sign =
        |key: &str| sign.and_then(|it| it.get(key)).and_then(Value::as_str).unwrap_or_default();
    let level = if text("verdict") == "injection" { Level::Critical } else { Level::Warn };
    let is_held = content.get("in_names") == Some(&Value::Bool(true));
    let what = match kind {
        "mcp_instructions_flagged" => {
            format!("the instructions of the server {server} give orders, and are not shown")
        }
        _ if is_held => {
            format!("the tool {tool} of the server {server} gives orders in names: it is held")
        }
        _ => format!("the tool {tool} of the server {server} gives orders: they are taken out"),
    };
    (level, format!("{what} ({} in {})", sign("rule"), sign("path")))
}

/// What happens in a server's life that is not ordinary.
fn lived(content: &Value) -> Option<(Level, String)> {
    let text = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
    let detail = |key: &str| content.get("detail")?.get(key)?.as_str();
    let server = text("server");
    let (level, what) = match text("event") {
        "crash" => {
            (Level::Warn, format!("does not answer: {}", detail("reason").unwrap_or_default()))
        }
        "flood" => {
            (Level::Warn, "sends more messages than are read: the rest is dropped".to_owned())
        }
        "malformed" => (
            Level::Info,
            format!("sends what is no message: {}", detail("reason").unwrap_or_default()),
        ),
        "tools_dropped" => {
            (Level::Info, "lists tools that break the protocol: they are left out".to_owned())
        }
        "name_dropped" => {
            (Level::Info, "lists something without a usable name: it is left out".to_owned())
        }
        "http_refused" => {
            return Some((Level::Warn, "clients were refused at the door for MCP".to_owned()));
        }
        _ => return None,
    };
    Some((level, format!("the server {server} {what}")))
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
        "mcp_definition_changed"
        | "mcp_definition_flagged"
        | "mcp_instructions_flagged"
        | "mcp_look_alike" => Some("lazaret mcp list".to_owned()),
        "fetched" => Some("lazaret trust --list".to_owned()),
        "skill_verification" => Some("lazaret check skill".to_owned()),
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
    } else if effect == "fetched" {
        "FS"
    } else if begins(&["tool_", "shell_", "mcp_", "skill_"]) || kind == "confused_deputy" {
        "TOOL"
    } else {
        "SYS"
    }
}

#[cfg(test)]
mod tests;
