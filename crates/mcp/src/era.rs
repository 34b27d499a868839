//! Eras of the protocol: *modern* (2026-07-28 and later, no handshake) and *legacy* (2025-11-25 and earlier).

use crate::message::Message;
use serde_json::{Map, Value, json};

/// An era of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28 and later: `server/discover`, and `_meta` in every request.
    Modern,
    /// 2025-11-25 and earlier: `initialize`.
    Legacy,
}

/// The modern revision that is spoken here.
pub const MODERN_VERSION: &str = "2026-07-28";
/// The newest legacy revision.
pub const LEGACY_VERSION: &str = "2025-11-25";
/// Every legacy revision.
pub const LEGACY_VERSIONS: [&str; 4] = [LEGACY_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];
/// Key of the revision within a request's `_meta`.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Key of the client's capabilities within a request's `_meta`.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Key of the client's name and version within a request's `_meta`.
pub const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// Key of the server's name and version within a result's `_meta`.
pub const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// Key of the level of log messages within a request's `_meta`.
pub const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Key of the subscription within a notification's `_meta`.
pub const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Tells the era that a request is written in.
#[must_use]
pub fn of_request(message: &Message) -> Era {
    if has_revision(message) || message.method() == "server/discover" {
        Era::Modern
    } else {
        Era::Legacy
    }
}

/// Tells whether a request names its revision, as those of the modern era do.
#[must_use]
pub fn has_revision(message: &Message) -> bool {
    message.params().get("_meta").is_some_and(|it| it.get(META_VERSION).is_some())
}

/// Whether an error is one that only a modern server gives.
#[must_use]
pub fn is_modern_error(error: &Value) -> bool {
    error.get("code").and_then(Value::as_i64).is_some_and(|it| (-32099..=-32020).contains(&it))
}

/// Whether a client that declares these capabilities can show a form to a person.
#[must_use]
pub fn can_elicit_form(capabilities: &Value) -> bool {
    let Some(elicitation) = capabilities.get("elicitation").and_then(Value::as_object) else {
        return false;
    };
    elicitation.is_empty() || elicitation.contains_key("form")
}

/// Whether a client that declares these capabilities answers this request of a server.
#[must_use]
pub fn can_answer(capabilities: &Value, method: &str, params: &Value) -> bool {
    let has = |key: &str| capabilities.get(key).is_some_and(Value::is_object);
    match method {
        "elicitation/create" if params.get("mode").and_then(Value::as_str) == Some("url") => {
            capabilities.pointer("/elicitation/url").is_some_and(Value::is_object)
        }
        "elicitation/create" => can_elicit_form(capabilities),
        "sampling/createMessage" => has("sampling"),
        "roots/list" => has("roots"),
        _ => false,
    }
}

/// What of a client's capabilities a server of the other era is told: what it may ask.
#[must_use]
pub fn asked_of_client(capabilities: &Value) -> Value {
    const ASKED: [&str; 3] = ["elicitation", "roots", "sampling"];
    let all = capabilities.as_object().into_iter().flatten();
    let asked = all.filter(|(key, value)| ASKED.contains(&key.as_str()) && value.is_object());
    Value::Object(asked.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// Makes a legacy result one that a modern client expects.
pub fn complete(method: &str, result: &mut Value) {
    let Some(object) = result.as_object_mut() else { return };
    object.entry("resultType").or_insert_with(|| json!("complete"));
    if CACHED_METHODS.contains(&method) {
        object.entry("ttlMs").or_insert_with(|| json!(0));
        object.entry("cacheScope").or_insert_with(|| json!("private"));
    }
}

/// Writes into a request what a modern server expects of it.
pub fn modernize(
    request: &mut Value,
    capabilities: &Value,
    client: &Value,
    log_level: Option<&str>,
) {
    let Some(request) = request.as_object_mut() else { return };
    let params = request.entry("params").or_insert_with(|| Value::Object(Map::new()));
    let Some(params) = params.as_object_mut() else { return };
    let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    let Some(meta) = meta.as_object_mut() else { return };
    meta.insert(META_VERSION.to_owned(), json!(MODERN_VERSION));
    meta.insert(META_CAPABILITIES.to_owned(), capabilities.clone());
    meta.insert(META_CLIENT.to_owned(), client.clone());
    if let Some(level) = log_level {
        meta.insert(META_LOG_LEVEL.to_owned(), json!(level));
    }
}

/// Methods whose modern results say how long they may be kept.
const CACHED_METHODS: [&str; 6] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
];
