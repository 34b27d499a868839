//! From an effect to its classes: by its kind, its flow type and its arguments.

use model::ipc::Action;
use model::{Effect, EffectKind, Reach, Risk, Role, ToolCall};
use serde_json::Value;

use super::{Classes, command, paths};
use crate::lines::{self, Lines};

/// Values of arguments that are looked at; a call with more is not an ordinary one, and the rest
/// holds nothing that these classes could tell.
const VALUES_MAX: usize = 10_000;

/// The classes of an effect.
pub(super) fn classes(effect: &Effect) -> Classes {
    match effect {
        Effect::Action(action) => of_action(action),
        Effect::Tool(tool) => of_tool(tool),
        Effect::Host(deed) if deed.kind.is_read_of_server() => of_tool(&deed.call),
        Effect::Message(_) | Effect::Host(_) => of_kind(effect.kind()),
    }
}

fn of_action(action: &Action) -> Classes {
    if let Action::ShellExec(it) = action {
        return command::classes(it.command.as_str());
    }
    of_kind(action.name().kind())
}

fn of_kind(kind: EffectKind) -> Classes {
    match kind.risk() {
        Risk::None => Classes::NONE,
        Risk::Egress => Classes::EGRESS,
        Risk::ScopeChange => Classes::SCOPE_CHANGE,
    }
}

fn of_tool(tool: &ToolCall) -> Classes {
    let (commands, is_runner) = of_commands(tool);
    if is_runner {
        return commands;
    }
    let flow = &tool.flow;
    let mut found = commands.union(by_name(tool.call.tool().as_str()));
    if flow.egress || flow.reach == Reach::Send {
        found |= Classes::EGRESS;
    }
    let mut left = VALUES_MAX;
    for (key, value) in tool.call.args() {
        let role = flow.roles.get(key).copied();
        if !may_hold_a_path(key, role) || flow.reach == Reach::Write && !flow.egress {
            continue;
        }
        let mut read = Classes::NONE;
        strings(value, &mut left, &mut |text| read |= paths::reading(text));
        // Of a tool of which nothing is known, it is not known either that it sends the file.
        if role.is_some() && flow.reach == Reach::Send && read.intersects(Classes::READS) {
            read |= Classes::SENDS_ITS_READ;
        }
        found |= read;
    }
    found
}

/// What its commands do; and whether it is there for running them: then its flow type can only say
/// "anything", and it is what its commands are.
fn of_commands(tool: &ToolCall) -> (Classes, bool) {
    let mut found = Classes::NONE;
    let Lines { lines, too_many } = lines::of(tool);
    lines.iter().for_each(|it| found |= command::classes(&it.text));
    if too_many {
        found |= Classes::EGRESS;
    }
    (found, lines.iter().any(|it| it.is_known))
}

fn may_hold_a_path(key: &str, role: Option<Role>) -> bool {
    match role {
        Some(Role::Content | Role::Control | Role::Secret) => {
            key.contains("file") || key.contains("path") || key.contains("attachment")
        }
        Some(Role::Destination | Role::Target) | None => true,
    }
}

/// Tools that are named for handling credentials or rights.
fn by_name(name: &str) -> Classes {
    const READ: &[&str] =
        &["get", "read", "fetch", "list", "show", "export", "dump", "retrieve", "reveal"];
    const CREDENTIALS: &[&str] = &[
        "password",
        "passwords",
        "secret",
        "secrets",
        "credential",
        "credentials",
        "apikey",
        "apikeys",
        "keychain",
        "vault",
    ];
    const GAIN: &[&str] =
        &["grant", "elevate", "escalate", "impersonate", "sudo", "chmod", "chown", "setuid"];
    const CHANGE: &[&str] = &[
        "add", "set", "assign", "update", "change", "modify", "create", "enable", "attach", "put",
    ];
    const RIGHTS: &[&str] = &[
        "permission",
        "permissions",
        "role",
        "roles",
        "acl",
        "privilege",
        "privileges",
        "admin",
        "admins",
        "sudoers",
        "allowlist",
        "whitelist",
    ];
    let words = words(name);
    let any = |list: &[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    let mut found = Classes::NONE;
    if any(READ) && any(CREDENTIALS) {
        found |= Classes::CREDENTIAL_READ;
    }
    if any(GAIN) || any(CHANGE) && any(RIGHTS) {
        found |= Classes::SCOPE_CHANGE;
    }
    found
}

/// `getApiKey`, `get_api_key` and `get-api-key` alike.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for next in name.chars() {
        if !next.is_alphanumeric() || next.is_uppercase() && lower {
            words.push(String::new());
        }
        lower = next.is_lowercase();
        if let Some(word) = words.last_mut()
            && next.is_alphanumeric()
        {
            word.push(next.to_ascii_lowercase());
        }
    }
    words
}

/// Gives every string in `value` to `see`, in order, without recursion.
fn strings(value: &Value, left: &mut usize, see: &mut impl FnMut(&str)) {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        match next {
            Value::String(text) => see(text),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(fields) => open.extend(fields.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
