//! `requirements.toml` of Codex: hooks that the machine's operator demands. They need no trust, and with `[features]
//! hooks = true` beside them nobody switches them off.

use std::path::Path;

use serde_json::{Map, Value as Json};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value, value};

use crate::command::HookCommand;
use crate::hookfile::{self, Shape, Wanted};
use crate::toml;

/// The name of the file.
pub(crate) const FILE: &str = "requirements.toml";

const HOOKS: &str = "hooks";
const FEATURES: &str = "features";
/// The folder that the programs of managed hooks lie in.
const FOLDER: &str = "managed_dir";

/// Something in the file is not as it can be changed safely.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unchangeable {
    /// Something else where a table belongs.
    #[error("`{0}` is no table")]
    NoTable(&'static str),
    /// An event whose hooks are written as a value.
    #[error("the hooks of `{0}` are no tables; write them as `[[hooks.{0}]]`")]
    Inline(String),
}

/// Is this such a file?
pub(crate) fn is_it(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it == FILE)
}

/// Puts every wanted hook into the file, once, and pins that hooks are on.
pub(crate) fn wire(
    doc: &mut DocumentMut,
    wanted: &[Wanted],
    hook: &HookCommand<'_>,
) -> Result<(), Unchangeable> {
    let program = Path::new(hook.program);
    table(doc, FEATURES)?;
    if !pins_hooks(doc) {
        put(table(doc, FEATURES)?, HOOKS, Value::from(true));
    }
    let hooks = table(doc, HOOKS)?;
    if hooks.get(FOLDER).is_none()
        && let Some(folder) = program.parent().and_then(Path::to_str)
    {
        put(hooks, FOLDER, Value::from(folder));
    }
    let stands = hookfile::missing(&read(doc), Shape::Grouped, wanted, program);
    if stands.is_some_and(|missing| missing.is_empty()) {
        return Ok(());
    }
    take_out(doc, program);
    for it in wanted {
        let listed =
            table(doc, HOOKS)?.entry(it.event).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let listed = listed.as_array_of_tables_mut();
        let listed = listed.ok_or_else(|| Unchangeable::Inline(it.event.to_owned()))?;
        listed.push(group(it));
    }
    Ok(())
}

/// Why Codex would run not all of our hooks, or let a user switch them off; `None` if none of ours is there.
pub(crate) fn wrong(
    text: &str,
    wanted: &[Wanted],
    hook: &HookCommand<'_>,
) -> Result<Option<Vec<String>>, String> {
    let doc = toml::parse(text)?;
    let program = Path::new(hook.program);
    let Some(missing) = hookfile::missing(&read(&doc), Shape::Grouped, wanted, program) else {
        return Ok(None);
    };
    let mut wrong: Vec<String> =
        missing.iter().map(|it| format!("our hook for {it} is not there")).collect();
    if !pins_hooks(&doc) {
        wrong.push("`[features] hooks = true` is not there".to_owned());
    }
    let folder = doc.get(HOOKS).and_then(|it| it.get(FOLDER)?.as_str());
    if !folder.is_some_and(|it| Path::new(it).is_dir()) {
        wrong.push(format!("`{FOLDER}` names no folder"));
    }
    Ok(Some(wrong))
}

/// What is left of the file when ours is taken out; `None` if nothing is.
pub(crate) fn cleaned(
    text: &str,
    was: Option<&str>,
    hooks: &[&str],
) -> Result<Option<String>, String> {
    let mut doc = toml::parse(text)?;
    let unchanged = doc.to_string();
    let was = was.and_then(|it| toml::parse(it).ok());
    let had = |table: &str, key: &str| {
        was.as_ref().is_some_and(|it| it.get(table).is_some_and(|it| it.get(key).is_some()))
    };
    let has_ours = |doc: &DocumentMut, hook: &str| {
        hookfile::missing(&read(doc), Shape::Grouped, &[], Path::new(hook)).is_some()
    };
    if !hooks.iter().any(|it| has_ours(&doc, it)) {
        return Ok(Some(text.to_owned()));
    }
    for hook in hooks {
        take_out(&mut doc, Path::new(hook));
    }
    let folders: Vec<&Path> = hooks.iter().filter_map(|it| Path::new(it).parent()).collect();
    let folder = doc.get(HOOKS).and_then(|it| it.get(FOLDER)?.as_str()).map(Path::new);
    if !had(HOOKS, FOLDER) && folder.is_some_and(|it| folders.contains(&it)) {
        remove(&mut doc, HOOKS, FOLDER);
    }
    if !had(FEATURES, HOOKS) && pins_hooks(&doc) {
        remove(&mut doc, FEATURES, HOOKS);
    }
    let was_off = was.as_ref().and_then(|it| it.get(FEATURES)?.get(HOOKS)?.as_bool());
    if was_off == Some(false)
        && let Ok(features) = table(&mut doc, FEATURES)
    {
        put(features, HOOKS, Value::from(false));
    }
    for name in [HOOKS, FEATURES] {
        let is_empty = doc.get(name).and_then(Item::as_table_like).is_some_and(TableLike::is_empty);
        if is_empty && was.as_ref().is_none_or(|it| it.get(name).is_none()) {
            doc.remove(name);
        }
    }
    if doc.to_string() == unchanged {
        return Ok(Some(text.to_owned()));
    }
    let left = toml::rendered(&doc, text);
    let is_empty = left.trim().is_empty();
    Ok((was.is_some() || !is_empty).then_some(left))
}

/// Are there hooks of ours in a file?
pub(crate) fn has_hooks(text: &str, hook: &Path) -> bool {
    let doc = toml::parse(text).ok();
    doc.is_some_and(|it| hookfile::missing(&read(&it), Shape::Grouped, &[], hook).is_some())
}

/// Takes every hook of ours out, and what is empty then.
fn take_out(doc: &mut DocumentMut, hook: &Path) {
    let Some(hooks) = doc.get_mut(HOOKS).and_then(Item::as_table_like_mut) else { return };
    let events: Vec<String> = hooks.iter().map(|it| it.0.to_owned()).collect();
    for event in events {
        let Some(groups) = hooks.get_mut(&event).and_then(Item::as_array_of_tables_mut) else {
            continue;
        };
        let before = groups.len();
        for group in groups.iter_mut() {
            let handlers = group.get_mut(HOOKS).and_then(Item::as_array_of_tables_mut);
            if let Some(handlers) = handlers {
                handlers.retain(|it| !hookfile::is_ours(&json_table(it), hook));
            }
        }
        let is_left = |it: &Table| {
            let handlers = it.get(HOOKS).and_then(Item::as_array_of_tables);
            handlers.is_none_or(|it| !it.is_empty())
        };
        groups.retain(is_left);
        if before > 0 && groups.is_empty() {
            hooks.remove(&event);
        }
    }
}

/// A hook as a table of its event.
fn group(wanted: &Wanted) -> Table {
    let mut handler = Table::new();
    for (name, it) in wanted.entry.as_object().into_iter().flatten() {
        match it {
            Json::String(text) => drop(handler.insert(name, value(text.as_str()))),
            Json::Number(number) => {
                let number = number.as_i64().map_or(Item::None, value);
                handler.insert(name, number);
            }
            Json::Bool(flag) => drop(handler.insert(name, value(*flag))),
            Json::Null | Json::Array(_) | Json::Object(_) => {}
        }
    }
    let mut handlers = ArrayOfTables::new();
    handlers.push(handler);
    let mut group = Table::new();
    if let Some(matcher) = wanted.matcher {
        group.insert("matcher", value(matcher));
    }
    group.insert(HOOKS, Item::ArrayOfTables(handlers));
    group
}

fn pins_hooks(doc: &DocumentMut) -> bool {
    doc.get(FEATURES).and_then(|it| it.get(HOOKS)?.as_bool()) == Some(true)
}

/// The hooks of the file in the shape of a file of JSON.
fn read(doc: &DocumentMut) -> Json {
    let mut all = Map::new();
    all.insert(HOOKS.to_owned(), doc.get(HOOKS).map_or(Json::Null, json));
    Json::Object(all)
}

fn json(item: &Item) -> Json {
    match item {
        Item::None => Json::Null,
        Item::Table(table) => json_table(table),
        Item::ArrayOfTables(all) => all.iter().map(|it| json_table(it)).collect(),
        Item::Value(value) => json_value(value),
    }
}

fn json_table(table: &dyn TableLike) -> Json {
    Json::Object(table.iter().map(|(name, item)| (name.to_owned(), json(item))).collect())
}

fn json_value(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::from(text.value().as_str()),
        Value::Integer(number) => Json::from(*number.value()),
        Value::Float(number) => Json::from(*number.value()),
        Value::Boolean(flag) => Json::from(*flag.value()),
        Value::Datetime(time) => Json::from(time.value().to_string()),
        Value::Array(all) => all.iter().map(json_value).collect(),
        Value::InlineTable(table) => json_table(table),
    }
}

/// The table of this name, made if it is not there.
fn table<'a>(
    doc: &'a mut DocumentMut,
    name: &'static str,
) -> Result<&'a mut dyn TableLike, Unchangeable> {
    let item = doc.entry(name).or_insert_with(|| Item::Table(Table::new()));
    item.as_table_like_mut().ok_or(Unchangeable::NoTable(name))
}

/// Sets a value; what was written around the old one stays.
fn put(table: &mut dyn TableLike, key: &str, mut new: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => drop(table.insert(key, value(new))),
    }
}

fn remove(doc: &mut DocumentMut, name: &str, key: &str) {
    if let Some(table) = doc.get_mut(name).and_then(Item::as_table_like_mut) {
        table.remove(key);
    }
}
