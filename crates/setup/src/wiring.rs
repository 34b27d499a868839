//! Is a host still wired?

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::HookCommand;
use crate::find::{is_program, read};
use crate::hookfile::{self, Shape};
use crate::hosts::{self, codex};
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
    let managed = manifest.files.iter().filter(|it| it.host == host).map(|it| it.path.clone());
    let managed = managed.filter(|it| it.ends_with("managed-settings.json"));
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
    let is_recorded = manifest.entry(&own).is_some_and(|it| it.has_hooks);
    match found {
        Wiring::NotInstalled if is_recorded => {
            Wiring::Broken { why: format!("our hooks are gone from `{}`", own.display()) }
        }
        Wiring::Wired if !is_program(&around.hook) => {
            let hook = around.hook.display();
            Wiring::Broken { why: format!("`{hook}` is not there or cannot be run") }
        }
        state @ (Wiring::NotInstalled | Wiring::Wired | Wiring::Broken { .. }) => state,
    }
}

/// Are there hooks of ours in a file? One that was changed for the sake of MCP servers alone has none.
pub(crate) fn has_hooks(host: Host, path: &Path, bytes: &[u8], around: &Surroundings) -> bool {
    let text = str::from_utf8(bytes).unwrap_or_default();
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
    match switched_off(around, host, path, &value, roots)? {
        Some(why) if is_own => broken(why),
        _ => Ok(Wiring::Wired),
    }
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
        Host::Gemini => {
            let config = value.get("hooksConfig");
            let names = hosts::gemini_names();
            let disabled = config.and_then(|it| it.get("disabled")?.as_array());
            let disabled = disabled.into_iter().flatten().filter_map(Value::as_str);
            let named = disabled.into_iter().find(|it| names.iter().any(|name| name == it));
            if config.and_then(|it| it.get("enabled")) == Some(&Value::Bool(false)) {
                Some("`hooksConfig.enabled` is false".to_owned())
            } else {
                named.map(|it| format!("`hooksConfig.disabled` names `{it}`"))
            }
        }
        Host::Copilot => {
            let settings = around.folder(host).join("settings.json");
            let text = read(&settings, roots)?.unwrap_or_default();
            let doc = Document::parse(&text, hosts::comments(host));
            doc.ok().and_then(|it| all_off(&it.value(), &settings))
        }
        Host::Cursor | Host::OpenCode => None,
    })
}
