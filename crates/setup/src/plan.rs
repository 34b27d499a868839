//! What `init` would change, before anything is changed.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::command::{Cages, CanCage, GatewayCommand, HookCommand};
use crate::draft::{Draft, PlanError};
use crate::hookfile;
use crate::hosts::{self, codex, requirements};
use crate::json::{Document, JsonError, keys};
use crate::managed;
use crate::mcp;
use crate::surroundings::Surroundings;
use crate::wiring::has_hooks;
use hooks::Host;

/// What is wired.
#[derive(Clone, Debug)]
pub struct Options {
    /// Put our hooks into the host's configuration.
    pub hooks: bool,
    /// Send the host's MCP servers through the gateway.
    pub mcp: bool,
    /// Run all of those servers in a cage, without a network. What a server needs stands in no configuration, so it is asked for.
    pub cage: bool,
    /// Says which of them can run in a cage as they are; others run without one.
    pub can_cage: Option<CanCage>,
    /// The root of the file system, if hooks go into managed settings of the machine where a host has them
    /// (`etc/claude-code` and others beneath it). Firmer, for a user cannot switch them off, or not as easily.
    pub managed: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { hooks: true, mcp: true, cage: false, can_cage: None, managed: None }
    }
}

/// A file that would change.
#[derive(Clone, Eq, PartialEq)]
pub struct Change {
    /// Whose file it is.
    pub host: Host,
    /// The file, as its program names it.
    pub path: PathBuf,
    /// Where it really lies.
    pub real: PathBuf,
    /// What is in it; `None` if it is not there.
    pub before: Option<Vec<u8>>,
    /// What would be in it.
    pub after: Vec<u8>,
    /// Its mode.
    pub mode: u32,
}

/// What is in settings may be secret: it does not print.
impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, path, mode, .. } = self;
        let mut shown = f.debug_struct("Change");
        shown.field("host", host).field("path", path).field("mode", mode).finish_non_exhaustive()
    }
}

/// Something that a person should know about a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Note {
    /// The host.
    pub host: Host,
    /// One sentence.
    pub text: String,
}

/// Every change of files that wiring takes.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) around: Surroundings,
    pub(crate) changes: Vec<Change>,
    pub(crate) roots: Vec<PathBuf>,
    notes: Vec<Note>,
}

impl Plan {
    /// Is everything as it should be already?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The files that would change.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What the hosts do not show us, and what was left alone.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// A unified diff of all files. Values that may be secrets are masked.
    #[must_use]
    pub fn diff(&self) -> String {
        self.changes.iter().map(crate::diff::of).collect()
    }
}

/// Plans how hosts are wired; changes nothing.
///
/// # Errors
/// If a file cannot be read, or is not what its program reads: such a file is never overwritten.
pub fn plan(around: &Surroundings, which: &[Host], options: &Options) -> Result<Plan, PlanError> {
    let hook = HookCommand::of(around)?;
    let cages = Cages { all: options.cage, known: options.can_cage };
    let gateway = GatewayCommand::of(around, cages)?;
    let managed = options.managed.as_deref();
    let folders = managed.map(|it| managed::folders(it, which)).unwrap_or_default();
    let mut draft = Draft::new(around, folders);
    for host in Host::ALL.into_iter().filter(|it| which.contains(it)) {
        if options.hooks {
            wire(&mut draft, host, &hook, managed)?;
            for text in hosts::limits(host) {
                draft.note(host, *text);
            }
            let stands = managed
                .map_or_else(|| managed::is_firmer_than(host), |_| Some(managed::holds(host)));
            if let Some(text) = stands {
                draft.note(host, text);
            }
        }
        if options.mcp {
            wrap(&mut draft, host, &gateway)?;
        }
    }
    let (changes, notes, roots) = draft.finished();
    Ok(Plan { around: around.clone(), changes, roots, notes })
}

fn wire(
    draft: &mut Draft<'_>,
    host: Host,
    hook: &HookCommand<'_>,
    managed: Option<&Path>,
) -> Result<(), PlanError> {
    let own = draft.around.hooks_file(host);
    let managed = managed.and_then(|it| managed::file(it, host));
    if managed.is_some() {
        note_twice(draft, host, &own)?;
    }
    let is_managed = managed.is_some();
    let path = managed.unwrap_or(own);
    if requirements::is_it(&path) {
        let wanted = hosts::wanted(host, hook);
        return draft.toml(host, &path, |doc| requirements::wire(doc, &wanted, hook));
    }
    let Some(shape) = hosts::shape(host) else {
        return wire_plugin(draft, host, &path, hook);
    };
    let wanted = hosts::wanted(host, hook);
    let (before, after, is_off) = draft.json(host, &path, |doc| {
        let before = doc.value();
        match host {
            Host::Cursor | Host::Copilot if before.get("version").is_none() => {
                doc.set(&keys(&["version"]), &json!(1))?;
            }
            Host::Gemini => switch_on(doc, is_managed)?,
            Host::Claude | Host::Codex | Host::Cursor | Host::Copilot | Host::OpenCode => {}
        }
        hookfile::wire(doc, shape, &wanted, Path::new(hook.program))?;
        let is_off = before.get("disableAllHooks") == Some(&Value::Bool(true));
        Ok((before, doc.value(), is_off))
    })?;
    if is_off {
        draft.note(
            host,
            format!(
                "`disableAllHooks` is true in `{}`: no hook runs until you remove it",
                path.display()
            ),
        );
    }
    if host == Host::Codex {
        let config = path.with_file_name("config.toml");
        let sources = codex::sources(&path);
        draft.toml(host, &config, |config| {
            codex::trust(config, &sources, &before, &after, Path::new(hook.program))
        })?;
    }
    Ok(())
}

/// Says so where hooks of ours stand in a user's own settings already.
fn note_twice(draft: &mut Draft<'_>, host: Host, own: &Path) -> Result<(), PlanError> {
    let text = draft.text(host, own)?.unwrap_or_default();
    if has_hooks(host, own, text.as_bytes(), draft.around) {
        let why = "has hooks of ours, too, and each call would be judged twice";
        draft.note(host, format!("`{}` {why}: `lazaret uninstall` first", own.display()));
    }
    Ok(())
}

/// Hooks of Gemini CLI can be switched off, all or by name. What managed settings say of all of them holds for every user.
fn switch_on(doc: &mut Document, is_managed: bool) -> Result<(), JsonError> {
    let config = keys(&["hooksConfig"]);
    let enabled = doc.value_at(&config).and_then(|it| it.get("enabled").cloned());
    if enabled == Some(Value::Bool(false)) || (is_managed && enabled != Some(Value::Bool(true))) {
        doc.set(&keys(&["hooksConfig", "enabled"]), &Value::Bool(true))?;
    }
    let path = keys(&["hooksConfig", "disabled"]);
    if let Some(Value::Array(names)) = doc.value_at(&path) {
        let ours = hosts::gemini_names();
        for (index, name) in names.iter().enumerate().rev() {
            if name.as_str().is_some_and(|it| ours.iter().any(|our| our == it)) {
                doc.remove(&crate::json::below(&path, index))?;
            }
        }
    }
    Ok(())
}

fn wire_plugin(
    draft: &mut Draft<'_>,
    host: Host,
    path: &Path,
    hook: &HookCommand<'_>,
) -> Result<(), PlanError> {
    let is_foreign = draft.text(host, path)?.is_some_and(|it| !it.starts_with(hosts::PLUGIN_MARK));
    if is_foreign {
        let what = "it is not ours; move it away".to_owned();
        return Err(PlanError::NotUnderstood { path: path.to_owned(), what });
    }
    draft.put(host, path, hosts::plugin(hook))
}

fn wrap(draft: &mut Draft<'_>, host: Host, gateway: &GatewayCommand<'_>) -> Result<(), PlanError> {
    for path in draft.around.mcp_files(host) {
        if draft.text(host, &path)?.is_none() {
            continue;
        }
        let wrapped = if host == Host::Codex {
            let wrapped = |config: &mut _| Ok::<_, JsonError>(codex::wrap_all(config, gateway));
            draft.toml(host, &path, wrapped)?
        } else {
            draft.json(host, &path, |doc| mcp::wrap_all(doc, host, gateway))?
        };
        let file = path.display();
        for (name, url) in wrapped.remote {
            draft.note(
                host,
                format!("the MCP server `{name}` is reached through us; if it wants a login: `lazaret mcp login {name} --url {url}`"),
            );
        }
        for (name, cage) in wrapped.cages {
            let text = match cage {
                Ok(seen) if seen.is_empty() => continue,
                Ok(seen) => format!(
                    "the MCP server `{name}` runs in a cage: it sees the folder that it starts in and, to read, {seen}; no network. Open more in its line (`lazaret mcp --help`)"
                ),
                Err(why) if why.is_empty() => continue,
                Err(why) => format!("the MCP server `{name}` runs without a cage: {why}"),
            };
            draft.note(host, text);
        }
        for (name, why) in wrapped.left {
            draft.note(host, format!("the MCP server `{name}` in `{file}` stays as it is: {why}"));
        }
        let project = draft.around.project.as_ref();
        if project.is_some_and(|it| path.starts_with(it)) && path.exists() {
            let file = path.display();
            draft.note(
                host,
                format!("`{file}` belongs to the project: others who share it need Lazaret, too"),
            );
        }
    }
    Ok(())
}
