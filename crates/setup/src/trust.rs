//! Codex runs a hook only if its configuration file holds the hash of the hook: this is that hash.
//!
//! It is SHA-256 over compact JSON with sorted names, of the event, the matcher and the one handler with its
//! defaults filled in. It covers what is configured, not the bytes of the program.

use serde_json::{Map, Value};

use crate::disk::digest;

/// Seconds that Codex fills in for a hook without a limit.
const TIMEOUT_S_DEFAULT: u64 = 600;

/// The key of a handler in `[hooks.state]`.
pub(crate) fn key(hooks_file: &str, event: &str, (group, handler): (usize, usize)) -> String {
    format!("{hooks_file}:{}:{group}:{handler}", label(event))
}

/// The hash of a command handler, as Codex computes it.
#[must_use]
pub fn codex_trust_hash(event: &str, matcher: Option<&str>, handler: &Value) -> String {
    let member = |name: &str| handler.get(name).cloned();
    // `serde_json` keeps the order in which names were put in: sorted, by hand.
    let mut hashed = Map::new();
    hashed.insert("async".to_owned(), member("async").unwrap_or(Value::Bool(false)));
    hashed.insert("command".to_owned(), member("command").unwrap_or_default());
    if let Some(message) = member("statusMessage") {
        hashed.insert("statusMessage".to_owned(), message);
    }
    let timeout = member("timeout").unwrap_or(Value::from(TIMEOUT_S_DEFAULT));
    hashed.insert("timeout".to_owned(), timeout);
    hashed.insert("type".to_owned(), Value::from("command"));

    let mut identity = Map::new();
    identity.insert("event_name".to_owned(), Value::from(label(event)));
    identity.insert("hooks".to_owned(), Value::Array(vec![Value::Object(hashed)]));
    if let Some(matcher) = matcher {
        identity.insert("matcher".to_owned(), Value::from(matcher));
    }
    format!("sha256:{}", digest(Value::Object(identity).to_string().as_bytes()))
}

/// `PreToolUse` as Codex writes it in keys: `pre_tool_use`.
fn label(event: &str) -> String {
    let mut label = String::with_capacity(event.len() + 4);
    for (at, letter) in event.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            label.push('_');
        }
        label.push(letter.to_ascii_lowercase());
    }
    label
}
