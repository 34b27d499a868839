//! Is a host still wired?

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::HookCommand;
use crate::find::{is_program, read};
use crate::hookfile::{self, Shape};
use crate::hosts::{self, codex, requirements};
use crate::json::Document;
use crate::manifest::Manifest;
use crate::surroundings::Surroundings;
use crate::toml;
use hooks::Host;

/// How a host stands to us.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Wiring {
    /// There is nothing of ours in it.
    NotInstalled,
    /// Every hook is there, and nothing is known that would keep it from running.
    Wired,
    /// It was wired, and does not work.
    Broken {
        /// What is wrong, in one sentence.
        why: String,
    },
}

/// Looks whether a host is wired. What only a run can show, this cannot.
#[must_use]
pub fn wiring(around: &Surroundings, host: Host) -> Wiring {
    let manifest = Manifest::load(&around.setup()).unwrap_or_default();
    let mut roots = around.roots();
    roots.extend(manifest.roots.iter().cloned());
    let own = around.hooks_file(host);
    let managed = manifest.files.iter().filter(|it| it.host == host && it.has_hooks);
    let managed = managed.map(|it| it.path.clone()).filter(|it| *it != own);
    let mut found = Wiring::NotInstalled;
    for path in managed.chain(std::iter::once(own.clone())) {
        let is_own = path == own;
        match state(around, host, &path, &roots, is_own) {
            Ok(Wiring::NotInstalled) => {}
            Ok(state) => {
                found = state;
                break;
            }
            Err(why) => return Wiring::Broken { why },
        }
    }
    let recorded = manifest.files.iter().find(|it| it.host == host && it.has_hooks);
    match (found, recorded) {
        (Wiring::NotInstalled, Some(entry)) => {
            Wiring::Broken { why: format!("our hooks are gone from `{}`", entry.path.display()) }
        }
        (Wiring::Wired, _) if !is_program(&around.hook) => {
            let hook = around.hook.display();
            Wiring::Broken { why: format!("`{hook}` is not there or cannot be run") }
        }
        (state @ (Wiring::NotInstalled | Wiring::Wired | Wiring::Broken { .. }), _) => state,
    }
}

/// When a file that a host's hooks stand in was changed last, in seconds since 1970.
#[must_use]
pub fn changed(around: &Surroundings, host: Host) -> Option<i64> {
    let manifest = Manifest::load(&around.setup()).unwrap_or_default();
    let managed = manifest.files.into_iter().filter(|it| it.host == host && it.has_hooks);
    let files = managed.map(|it| it.path).chain(std::iter::once(around.hooks_file(host)));
    files.filter_map(|it| Some(std::fs::metadata(it).ok()?.mtime())).max()
}

/// Are there hooks of ours in a file? One that was changed for the sake of MCP servers alone has none.
pub(crate) fn has_hooks(host: Host, path: &Path, bytes: &[u8], around: &Surroundings) -> bool {
    let text = str::from_utf8(bytes).unwrap_or_default();
    if requirements::is_it(path) {
        return requirements::has_hooks(text, &around.hook);
    }
    if hosts::shape(host).is_none() {
        return text.starts_with(hosts::PLUGIN_MARK);
    }
    let is_json = path.extension().is_some_and(|it| it == "json");
    let doc = is_json.then(|| Document::parse(text, hosts::comments(host)));
    let Some(Ok(doc)) = doc else { return false };
    hookfile::missing(&doc.value(), Shape::Flat, &[], &around.hook).is_some()
}

fn state(
    around: &Surroundings,
    host: Host,
    path: &Path,
    roots: &[PathBuf],
    is_own: bool,
) -> Result<Wiring, String> {
    let Some(text) = read(path, roots)? else { return Ok(Wiring::NotInstalled) };
    let hook = HookCommand::of(around).map_err(|it| it.to_string())?;
    let broken = |why: String| Ok(Wiring::Broken { why });
    if requirements::is_it(path) {
        let wrong = requirements::wrong(&text, &hosts::wanted(host, &hook), &hook);
        let file = path.display();
        return match wrong.map_err(|it| format!("`{file}`: {it}"))? {
            None => Ok(Wiring::NotInstalled),
            Some(wrong) if wrong.is_empty() => Ok(Wiring::Wired),
            Some(wrong) => broken(format!("`{file}`: {}", wrong.join(", "))),
        };
    }
    let Some(shape) = hosts::shape(host) else {
        return match () {
            () if text == hosts::plugin(&hook) => Ok(Wiring::Wired),
            () if text.starts_with(hosts::PLUGIN_MARK) => {
                broken(format!("the plugin `{}` is not the present one", path.display()))
            }
            () => Ok(Wiring::NotInstalled),
        };
    };
    let doc = Document::parse(&text, hosts::comments(host));
    let value = doc.map_err(|it| format!("`{}`: {it}", path.display()))?.value();
    let wanted = hosts::wanted(host, &hook);
    let Some(missing) = hookfile::missing(&value, shape, &wanted, Path::new(hook.program)) else {
        return Ok(Wiring::NotInstalled);
    };
    if !missing.is_empty() {
        let events = missing.join(", ");
        return broken(format!("`{}` lacks our hook for {events}", path.display()));
    }
    let off = if is_own {
        switched_off(around, host, path, &value, roots)?
    } else {
        switched_off_above(around, host, path, &value, roots)?
    };
    off.map_or(Ok(Wiring::Wired), broken)
}

/// What keeps hooks that are there from running.
fn switched_off(
    around: &Surroundings,
    host: Host,
    path: &Path,
    value: &Value,
    roots: &[PathBuf],
) -> Result<Option<String>, String> {
    let all_off = |value: &Value, file: &Path| {
        let is_off = value.get("disableAllHooks") == Some(&Value::Bool(true));
        is_off.then(|| format!("`disableAllHooks` is true in `{}`", file.display()))
    };
    Ok(match host {
        Host::Claude => all_off(value, path),
        Host::Codex => {
            let text = read(&path.with_file_name("config.toml"), roots)?.unwrap_or_default();
            let config = toml::parse(&text).map_err(|it| format!("config.toml: {it}"))?;
            let hook = Path::new(around.hook_text().unwrap_or_default());
            codex::untrusted(&config, &codex::sources(path), value, hook)
        }
        Host::Gemini if enabled(value) == Some(&Value::Bool(false)) => {
            Some("`hooksConfig.enabled` is false".to_owned())
        }
        Host::Gemini => disabled(value, path),
        Host::Copilot => {
            let settings = around.folder(host).join("settings.json");
            let text = read(&settings, roots)?.unwrap_or_default();
            let doc = Document::parse(&text, hosts::comments(host));
            doc.ok().and_then(|it| all_off(&it.value(), &settings))
        }
        Host::Cursor | Host::OpenCode => None,
    })
}

/// What keeps hooks in managed settings from running: little, and less than those of a user.
fn switched_off_above(
    around: &Surroundings,
    host: Host,
    path: &Path,
    value: &Value,
    roots: &[PathBuf],
) -> Result<Option<String>, String> {
    if host != Host::Gemini {
        return Ok(None);
    }
    if enabled(value) != Some(&Value::Bool(true)) {
        let why = format!("`hooksConfig.enabled` is not true in `{}`", path.display());
        return Ok(Some(why));
    }
    let own = around.hooks_file(host);
    let text = read(&own, roots)?.unwrap_or_default();
    let of_user = Document::parse(&text, hosts::comments(host));
    // What Gemini CLI cannot read it does not obey.
    let of_user = of_user.ok().and_then(|it| disabled(&it.value(), &own));
    Ok(disabled(value, path).or(of_user))
}

/// Whether hooks of Gemini CLI are on, as far as a file says.
fn enabled(value: &Value) -> Option<&Value> {
    value.get("hooksConfig")?.get("enabled")
}

/// A hook of ours in Gemini CLI that a file switches off by its name.
fn disabled(value: &Value, file: &Path) -> Option<String> {
    let names = hosts::gemini_names();
    let listed = value.get("hooksConfig")?.get("disabled")?.as_array()?;
    let mut listed = listed.iter().filter_map(Value::as_str);
    let named = listed.find(|it| names.iter().any(|name| name == it))?;
    Some(format!("`hooksConfig.disabled` in `{}` names `{named}`", file.display()))
}
