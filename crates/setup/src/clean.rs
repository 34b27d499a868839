//! A file without what is ours in it, however it was changed since.

use std::path::Path;

use serde_json::{Value, json};
use toml_edit::Item;

use crate::command::HookCommand;
use crate::hookfile;
use crate::hosts::{PLUGIN_MARK, codex, requirements};
use crate::json::{Comments, Document, keys};
use crate::mcp;
use crate::toml;

/// What is known of our own when a file is cleaned.
pub(crate) struct Ours<'a> {
    /// Paths that our hook program has or had.
    pub(crate) hooks: &'a [&'a str],
    /// The state directory that our commands name.
    pub(crate) home: Option<&'a str>,
    /// The path of our program.
    pub(crate) lazaret: &'a Path,
}

/// What is left of a file when ours is taken out; `None` if nothing is.
///
/// # Errors
/// If the file cannot be read as what its name says.
pub(crate) fn cleaned(
    path: &Path,
    text: &str,
    was: Option<&str>,
    ours: &Ours<'_>,
) -> Result<Option<String>, String> {
    match path.extension().and_then(|it| it.to_str()) {
        Some("toml") if requirements::is_it(path) => requirements::cleaned(text, was, ours.hooks),
        Some("toml") => codex_config(path, text, was, ours),
        Some("js") => Ok((!text.starts_with(PLUGIN_MARK)).then(|| text.to_owned())),
        _ => json(text, was, ours),
    }
}

fn json(text: &str, was: Option<&str>, ours: &Ours<'_>) -> Result<Option<String>, String> {
    let said = |error: crate::json::JsonError| error.to_string();
    let mut doc = Document::parse(text, Comments::Allowed).map_err(said)?;
    let was = was.and_then(|it| Document::parse(it, Comments::Allowed).ok());
    let was = was.map(|it| it.value());
    for hook in ours.hooks {
        hookfile::unwire(&mut doc, was.as_ref(), Path::new(hook)).map_err(said)?;
    }
    mcp::unwrap_all(&mut doc, was.as_ref(), ours.lazaret).map_err(said)?;
    let path = keys(&["hooksConfig", "enabled"]);
    let switched = was.as_ref().and_then(|it| it.get("hooksConfig")?.get("enabled"));
    if switched == Some(&Value::Bool(false)) && doc.value_at(&path) == Some(Value::Bool(true)) {
        doc.set(&path, &Value::Bool(false)).map_err(said)?;
    }
    let left = doc.text();
    if left == text {
        // Nothing of ours was in it: it is somebody else's, however little it says.
        return Ok(Some(left.to_owned()));
    }
    // What was not there before us, and says nothing without our hooks. None of it has a slash: where there is one, somebody wrote a comment.
    let ours = [json!({}), json!({ "version": 1 }), json!({ "hooksConfig": { "enabled": true } })];
    let is_empty = ours.contains(&doc.value()) && !left.contains('/');
    Ok((was.is_some() || !is_empty).then(|| left.to_owned()))
}

fn codex_config(
    path: &Path,
    text: &str,
    was: Option<&str>,
    ours: &Ours<'_>,
) -> Result<Option<String>, String> {
    let mut config = toml::parse(text)?;
    let unchanged = config.to_string();
    let was = was.and_then(|it| toml::parse(it).ok());
    // Those that were installed earlier name no state directory.
    let homes = [None, ours.home];
    let hooks =
        ours.hooks.iter().flat_map(|program| homes.map(|home| HookCommand { program, home }));
    let hooks: Vec<HookCommand<'_>> = hooks.collect();
    codex::untrust(&mut config, &path.with_file_name("hooks.json"), &hooks);
    codex::unwrap_all(&mut config, was.as_ref(), ours.lazaret);
    let was_off = was.as_ref().and_then(|it| it.get("features")?.get("hooks")?.as_bool());
    if was_off == Some(false)
        && let Some(item) = config.get_mut("features").and_then(|it| it.get_mut("hooks"))
        && item.as_bool() == Some(true)
    {
        *item = Item::Value(toml_edit::Value::from(false));
    }
    if config.to_string() == unchanged {
        // Not what the library makes of it: a line end at the end is enough to differ.
        return Ok(Some(text.to_owned()));
    }
    let left = toml::rendered(&config, text);
    let is_empty = left.trim().is_empty();
    Ok((was.is_some() || !is_empty).then_some(left))
}
