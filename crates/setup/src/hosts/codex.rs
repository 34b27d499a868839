//! `config.toml` of Codex: the trust in our hooks, and MCP servers.

use std::path::Path;

use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value, value};

use super::wanted;
use crate::command::{GatewayCommand, HookCommand};
use crate::hookfile::numbers;
use crate::mcp::{self, Fate, Wrapped};
use crate::trust::{codex_trust_hash, key};
use hooks::Host;

const SERVERS: &str = "mcp_servers";
const HASH: &str = "trusted_hash";

/// Something in the file is not what Codex takes there.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no table")]
pub(crate) struct NoTable(String);

/// Names under which Codex may look for our hooks: by the path it is given, and by where that leads.
pub(crate) fn sources(hooks_file: &Path) -> Vec<String> {
    let mut names = vec![hooks_file.display().to_string()];
    if let Some(folder) = hooks_file.parent().and_then(|it| files::resolved(it).ok()) {
        let real = folder.join("hooks.json").display().to_string();
        if !names.contains(&real) {
            names.push(real);
        }
    }
    names
}

/// The state of each of our handlers in `hooks.json`: key and hash.
fn states(hooks: &Json, sources: &[String], hook: &Path) -> Vec<(String, String)> {
    let mut states = Vec::new();
    let events = hooks.get("hooks").and_then(Json::as_object);
    for event in events.into_iter().flat_map(Map::keys) {
        for at in numbers(hooks, event, hook, true) {
            let group = hooks.get("hooks").and_then(|it| it.get(event)?.get(at.0));
            let handler = group.and_then(|it| it.get("hooks")?.get(at.1));
            let Some((group, handler)) = group.zip(handler) else { continue };
            let matcher = group.get("matcher").and_then(Json::as_str);
            let hash = codex_trust_hash(event, matcher, handler);
            states.extend(sources.iter().map(|it| (key(it, event, at), hash.clone())));
        }
    }
    states
}

/// Trusts our hooks as they stand in `after`; the user's keep their trust where their numbers changed.
pub(crate) fn trust(
    config: &mut DocumentMut,
    sources: &[String],
    before: &Json,
    after: &Json,
    hook: &Path,
) -> Result<(), NoTable> {
    renumber(config, sources, before, after, hook)?;
    let features = config.get("features").and_then(Item::as_table_like);
    if features.and_then(|it| it.get("hooks")?.as_bool()) == Some(false) {
        put(table(config.as_table_mut(), "features", false)?, "hooks", Value::from(true));
    }
    let root = config.as_table_mut();
    let state = table(table(root, "hooks", true)?, "state", true)?;
    for (key, hash) in states(after, sources, hook) {
        let entry = table(state, &key, false)?;
        if entry.get(HASH).and_then(Item::as_str) != Some(&hash) {
            put(entry, HASH, Value::from(hash));
        }
        if entry.get("enabled").and_then(Item::as_bool) == Some(false) {
            entry.remove("enabled");
        }
    }
    Ok(())
}

/// Why Codex would skip our hooks.
pub(crate) fn untrusted(
    config: &DocumentMut,
    sources: &[String],
    hooks: &Json,
    hook: &Path,
) -> Option<String> {
    let features = config.get("features").and_then(Item::as_table_like);
    if features.and_then(|it| it.get("hooks")?.as_bool()) == Some(false) {
        return Some("`features.hooks` is false in config.toml".to_owned());
    }
    let state = config.get("hooks").and_then(|it| it.get("state"));
    let given = sources.iter().take(1).cloned().collect::<Vec<_>>();
    for (key, hash) in states(hooks, &given, hook) {
        let entry = state.and_then(|it| it.get(key.as_str()));
        let trusted = entry.and_then(|it| it.get(HASH)?.as_str());
        if trusted.is_none() {
            return Some(format!("Codex does not trust `{key}` and skips it"));
        }
        if trusted != Some(hash.as_str()) {
            return Some(format!("`{key}` was changed since it was trusted, and Codex skips it"));
        }
        if entry.and_then(|it| it.get("enabled")?.as_bool()) == Some(false) {
            return Some(format!("`{key}` is switched off"));
        }
    }
    None
}

/// Takes back the trust in our hooks, wherever they stood.
pub(crate) fn untrust(config: &mut DocumentMut, hooks_file: &Path, hooks: &[HookCommand<'_>]) {
    let sources = sources(hooks_file);
    let all = hooks.iter().flat_map(|it| wanted(Host::Codex, it));
    let hashes: Vec<_> = all.map(|it| codex_trust_hash(it.event, it.matcher, &it.entry)).collect();
    let is_ours = |key: &str, item: &Item| {
        let is_here = sources.iter().any(|it| key.starts_with(&format!("{it}:")));
        let hash = item.get(HASH).and_then(Item::as_str);
        is_here && hash.is_some_and(|it| hashes.iter().any(|our| our == it))
    };
    let Some(hooks) = config.get_mut("hooks").and_then(Item::as_table_like_mut) else { return };
    if let Some(state) = hooks.get_mut("state").and_then(Item::as_table_like_mut) {
        let keys: Vec<String> = state
            .iter()
            .filter(|(key, item)| is_ours(key, item))
            .map(|it| it.0.to_owned())
            .collect();
        for key in keys {
            state.remove(&key);
        }
        if state.is_empty() {
            hooks.remove("state");
        }
    }
    if hooks.is_empty() {
        config.remove("hooks");
    }
}

/// Moves the trust in the user's hooks to the numbers that they have now.
pub(crate) fn renumber(
    config: &mut DocumentMut,
    sources: &[String],
    before: &Json,
    after: &Json,
    hook: &Path,
) -> Result<(), NoTable> {
    let mut moves = Vec::new();
    let events = before.get("hooks").and_then(Json::as_object);
    for event in events.into_iter().flat_map(Map::keys) {
        let olds = numbers(before, event, hook, false);
        let news = numbers(after, event, hook, false);
        for (old, new) in olds.into_iter().zip(news).filter(|it| it.0 != it.1) {
            moves.extend(sources.iter().map(|it| (key(it, event, old), key(it, event, new))));
        }
    }
    if moves.is_empty() || config.get("hooks").and_then(|it| it.get("state")).is_none() {
        return Ok(());
    }
    let state = table(table(config.as_table_mut(), "hooks", true)?, "state", true)?;
    let taken: Vec<_> = moves.into_iter().map(|(old, new)| (new, state.remove(&old))).collect();
    for (new, item) in taken {
        if let Some(item) = item {
            state.insert(&new, item);
        }
    }
    Ok(())
}

/// Sends every server through the gateway; returns the names of those that stay, and why.
pub(crate) fn wrap_all(config: &mut DocumentMut, gateway: &GatewayCommand<'_>) -> Wrapped {
    let mut all = Wrapped::default();
    for (name, server) in servers(config) {
        let fate = mcp::fate(&name, &server, Host::Codex, gateway);
        all.note(&name, &fate, &server);
        if let Fate::Wrap(new, _) = fate {
            change(config, &name, &new);
        }
    }
    all
}

/// Takes the gateway out again.
pub(crate) fn unwrap_all(config: &mut DocumentMut, was: Option<&DocumentMut>, lazaret: &Path) {
    let before: Map<_, _> = was.map(servers).unwrap_or_default().into_iter().map(json).collect();
    for (name, server) in servers(config) {
        let was = before.get(&name).and_then(Json::as_object);
        if let Some(old) = mcp::unwrapped(&server, was, lazaret) {
            change(config, &name, &old);
        }
    }
}

fn json((name, server): (String, Map<String, Json>)) -> (String, Json) {
    (name, Json::Object(server))
}

/// The servers of a configuration, as far as they say how they are reached.
pub(crate) fn servers(config: &DocumentMut) -> Vec<(String, Map<String, Json>)> {
    let all = config.get(SERVERS).and_then(Item::as_table_like);
    let all = all.into_iter().flat_map(TableLike::iter);
    all.filter_map(|(name, server)| {
        let server = server.as_table_like()?;
        let members = server.iter().map(|(key, item)| (key.to_owned(), plain(item)));
        Some((name.to_owned(), members.collect()))
    })
    .collect()
}

/// What matters of an item: texts and lists of them; that something else is there.
fn plain(item: &Item) -> Json {
    if let Some(text) = item.as_str() {
        return Json::from(text);
    }
    if let Some(list) = item.as_array() {
        let texts = list.iter().map(|it| it.as_str().map_or(Json::Null, Json::from));
        return Json::Array(texts.collect());
    }
    match item.as_table_like() {
        Some(table) => {
            let members = table.iter().map(|(key, item)| (key.to_owned(), plain(item)));
            Json::Object(members.collect())
        }
        None => Json::Bool(true),
    }
}

fn change(config: &mut DocumentMut, name: &str, new: &Map<String, Json>) {
    let server = config.get_mut(SERVERS).and_then(|it| it.get_mut(name));
    let Some(server) = server.and_then(Item::as_table_like_mut) else { return };
    for key in ["command", "args", "url"] {
        match new.get(key) {
            None => drop(server.remove(key)),
            Some(Json::String(text)) => put(server, key, Value::from(text.as_str())),
            Some(Json::Array(all)) => {
                let texts: Array = all.iter().filter_map(Json::as_str).collect();
                put(server, key, Value::Array(texts));
            }
            Some(_) => {}
        }
    }
}

/// Sets a value; what the user wrote around the old one stays.
fn put(table: &mut dyn TableLike, key: &str, mut new: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => drop(table.insert(key, value(new))),
    }
}

/// The table of this name, made if it is not there.
fn table<'a>(
    parent: &'a mut dyn TableLike,
    key: &str,
    is_implicit: bool,
) -> Result<&'a mut dyn TableLike, NoTable> {
    if parent.get(key).is_none_or(Item::is_none) {
        let mut new = Table::new();
        new.set_implicit(is_implicit);
        parent.insert(key, Item::Table(new));
    }
    parent.get_mut(key).and_then(Item::as_table_like_mut).ok_or_else(|| NoTable(key.to_owned()))
}
