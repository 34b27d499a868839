//! Files of settings: what is run by itself, and permissions that are asked for.

use model::skill::{Severity, SkillCheck};
use serde_json::Value;

use crate::documents::by_lines;
use crate::finding::Findings;
use crate::stance::Stance;
use crate::verify::{Budget, block};

/// Texts of one file that are looked at.
const TEXTS_MAX: usize = 5_000;
/// Values in values, in levels.
const LEVELS_MAX: usize = 32;

/// Keys whose value is run when a package is installed or a session begins.
const RUN_BY_ITSELF: &[&str] = &[
    "preinstall",
    "install",
    "postinstall",
    "prepare",
    "prepublish",
    "preuninstall",
    "postuninstall",
    "hooks",
    "hook",
    "onload",
    "onstart",
    "oninstall",
    "setup",
    "bootstrap",
    "sessionstart",
    "pretooluse",
    "posttooluse",
];

/// Reads settings of any form, line by line.
pub(crate) fn lines(
    text: &str,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    by_lines(text, 0, Stance::Program, has_file, budget, found);
}

/// Reads JSON.
pub(crate) fn json(
    path: &str,
    text: &str,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        found.add(SkillCheck::Form, Severity::Low, (0, 0), "it is no JSON");
        return lines(text, has_file, budget, found);
    };
    let is_package = path.rsplit('/').next() == Some("package.json");
    let mut all = Vec::new();
    walk(&value, &mut Vec::new(), &mut all);
    for (keys, inner) in &all {
        let place = || text.find(&json_text(inner)).map_or((0, 0), |at| (at, at + inner.len()));
        let last = keys.last().map(|it| it.to_ascii_lowercase()).unwrap_or_default();
        let by_itself =
            keys.iter().any(|it| RUN_BY_ITSELF.contains(&it.to_ascii_lowercase().as_str()));
        if by_itself && inner.contains(' ') {
            let (start, _) = place();
            let mut inner_found = Findings::new("", inner);
            block(inner, 0, Stance::Program, has_file, budget, &mut inner_found);
            for it in inner_found.into_vec() {
                found.add(it.check, it.severity, (start, start + inner.len()), it.why);
            }
            if is_package && keys.iter().any(|it| it == "scripts") {
                let why = format!("`{last}` is run when the package is installed");
                found.add(SkillCheck::Install, Severity::Medium, place(), why);
            }
        } else {
            let (start, _) = place();
            let mut inner_found = Findings::new("", inner);
            by_lines(inner, 0, Stance::Program, has_file, budget, &mut inner_found);
            for it in inner_found.into_vec() {
                found.add(it.check, it.severity, (start, start + inner.len()), it.why);
            }
        }
        if let Some((severity, why)) = permission(keys, inner) {
            found.add(SkillCheck::Permissions, severity, place(), why);
        }
    }
    if all.len() >= TEXTS_MAX {
        found.add(
            SkillCheck::Unread,
            Severity::Medium,
            (0, 0),
            "it has too many texts to be read to its end",
        );
    }
}

/// A text as it stands in JSON, without its quotes.
fn json_text(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Every text with the keys that lead to it.
pub(crate) fn walk(value: &Value, keys: &mut Vec<String>, all: &mut Vec<(Vec<String>, String)>) {
    if all.len() >= TEXTS_MAX || keys.len() > LEVELS_MAX {
        return;
    }
    match value {
        Value::String(text) => all.push((keys.clone(), text.clone())),
        Value::Array(items) => items.iter().for_each(|it| walk(it, keys, all)),
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.push(key.clone());
                walk(value, keys, all);
                keys.pop();
            }
        }
        Value::Bool(true) => all.push((keys.clone(), "true".to_owned())),
        Value::Null | Value::Bool(false) | Value::Number(_) => {}
    }
}

/// What a value asks for, if its key is one of permissions.
pub(crate) fn permission(keys: &[String], value: &str) -> Option<(Severity, String)> {
    const KEYS: &[&str] = &[
        "permissions",
        "permission",
        "allowed-tools",
        "allowed_tools",
        "allowedtools",
        "allow",
        "tools",
        "scopes",
        "capabilities",
    ];
    const MODES: &[&str] = &["permissionmode", "permission-mode", "permission_mode", "defaultmode"];
    let lower: Vec<String> = keys.iter().map(|it| it.to_ascii_lowercase()).collect();
    let under = |list: &[&str]| lower.iter().any(|it| list.contains(&it.as_str()));
    let words: Vec<&str> =
        value.split([',', ' ']).map(str::trim).filter(|it| !it.is_empty()).collect();
    let is_all = |it: &&str| {
        matches!(*it, "*" | "all" | "Bash(*)" | "Bash(*:*)" | "shell:*" | "filesystem:*")
    };
    match () {
        () if under(MODES)
            && matches!(value, "bypassPermissions" | "acceptEdits" | "dontAsk" | "yolo") =>
        {
            Some((Severity::High, format!("it sets how permissions are asked for to `{value}`")))
        }
        () if lower.iter().any(|it| it.contains("dangerously")) => {
            Some((Severity::High, "it switches questions about permissions off".to_owned()))
        }
        () if lower.iter().any(|it| switches_off(it)) && is_yes(value) => {
            Some((Severity::Medium, "it has permissions given without a question".to_owned()))
        }
        () if under(KEYS) && words.iter().any(is_all) => {
            Some((Severity::Medium, format!("it asks for every tool, or every command: `{value}`")))
        }
        () if under(KEYS)
            && words
                .iter()
                .any(|it| matches!(*it, "Bash" | "shell" | "exec" | "admin" | "root")) =>
        {
            Some((Severity::Low, format!("it asks for any command: `{value}`")))
        }
        () => None,
    }
}

/// Is a setting of this name one by which nobody is asked any more: `skipPermissions`, `auto-approve-all`?
fn switches_off(key: &str) -> bool {
    const WITHOUT: &[&str] = &["disable", "skip", "bypass", "ignore", "no"];
    const QUESTION: &[&str] = &["sandbox", "permission", "approval", "confirmation", "guardrail"];
    const BY_ITSELF: &[&str] = &["auto", "always"];
    const YES: &[&str] = &["approve", "accept", "confirm", "allow"];
    let plain: String = key.chars().filter(|it| it.is_ascii_alphabetic()).collect();
    let plain = plain.to_ascii_lowercase();
    let follows = |first: &[&str], second: &[&str]| {
        first.iter().any(|it| {
            plain
                .find(it)
                .and_then(|at| plain.get(at + it.len()..))
                .is_some_and(|rest| second.iter().any(|it| rest.starts_with(it)))
        })
    };
    follows(WITHOUT, QUESTION) || follows(BY_ITSELF, YES)
}

fn is_yes(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "all" | "*")
}
