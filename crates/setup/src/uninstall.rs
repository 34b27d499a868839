//! Taking everything back: byte for byte where a file is as we left it, entry by entry where it is not.

use std::fs;
use std::path::{Path, PathBuf};

use files::private;
use serde_json::Value;

use crate::clean::{Ours, cleaned};
use crate::disk::{self, Seen, digest};
use crate::hosts::codex;
use crate::json::{Comments, Document};
use crate::manifest::{self, Entry, Manifest, ManifestError};
use crate::surroundings::Surroundings;
use crate::toml;
use hooks::Host;

/// What became of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It is what it was before us, byte for byte.
    Restored,
    /// It was not there before us, and it is gone.
    Removed,
    /// Somebody changed it since: our entries were taken out, the rest was left.
    Cleaned,
    /// There was nothing of ours in it.
    Untouched,
    /// Nothing could be done, and why.
    Failed(String),
}

/// What was taken back.
#[derive(Clone, Debug, Default)]
pub struct Uninstalled {
    /// Each file, and what became of it.
    pub files: Vec<(PathBuf, Outcome)>,
}

impl Uninstalled {
    /// Is nothing of ours left?
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.files.iter().any(|it| matches!(it.1, Outcome::Failed(_)))
    }
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct UninstallError(#[from] ManifestError);

/// Takes back what was wired, of a half-done wiring, too. Files that cannot be taken back stay in the manifest, and
/// another try may succeed.
///
/// # Errors
/// If the manifest cannot be read or written.
pub fn uninstall(around: &Surroundings) -> Result<Uninstalled, UninstallError> {
    let setup = around.setup();
    let _lock = if setup.exists() { Some(manifest::lock(&setup)?) } else { None };
    let mut manifest = Manifest::load(&setup)?;
    let mut roots = around.roots();
    roots.extend(manifest.roots.iter().cloned());
    let own = around.hook_text().map(str::to_owned);
    let hooks: Vec<String> = manifest.hooks.iter().cloned().chain(own).collect();
    let hooks: Vec<&str> = hooks.iter().map(String::as_str).collect();
    let ours = Ours { hooks: &hooks, home: around.state_text(), lazaret: &around.lazaret };
    let mut undoing = Undoing { setup: &setup, roots, ours, uninstalled: Uninstalled::default() };

    let mut left = Vec::new();
    for entry in std::mem::take(&mut manifest.files) {
        if !undoing.entry(&entry) {
            left.push(entry);
        }
    }
    // Wired by hand, or before the manifest was lost.
    undoing.strays(around);
    manifest.files = left;
    let io = |source| ManifestError::Io { path: setup.clone(), source };
    if !manifest.files.is_empty() {
        manifest.save(&setup)?;
    }
    manifest::tidy(&setup, &manifest).map_err(io)?;
    Ok(undoing.uninstalled)
}

struct Undoing<'a> {
    setup: &'a Path,
    roots: Vec<PathBuf>,
    ours: Ours<'a>,
    uninstalled: Uninstalled,
}

impl Undoing<'_> {
    /// Takes one file back; says whether it is done.
    fn entry(&mut self, entry: &Entry) -> bool {
        let outcome = self.undone(entry).unwrap_or_else(Outcome::Failed);
        let is_done = !matches!(outcome, Outcome::Failed(_));
        if is_done {
            for folder in entry.folders.iter().rev() {
                // Only one that is empty goes.
                let _ = fs::remove_dir(folder);
            }
        }
        self.uninstalled.files.push((entry.path.clone(), outcome));
        is_done
    }

    fn undone(&self, entry: &Entry) -> Result<Outcome, String> {
        let seen = disk::look(&entry.path, &self.roots).map_err(|it| it.to_string())?;
        let Some(bytes) = &seen.bytes else { return Ok(Outcome::Untouched) };
        let now = digest(bytes);
        let before = entry.before.as_ref();
        if before.is_some_and(|it| it.sha256 == now) && entry.is_exact {
            return Ok(Outcome::Untouched);
        }
        let was = match before {
            Some(before) => {
                let bytes = manifest::backed_up(self.setup, &before.sha256);
                Some(bytes.map_err(|it| it.to_string())?)
            }
            None => None,
        };
        if entry.is_exact && entry.after.contains(&now) {
            return match (&was, before) {
                (Some(was), Some(before)) => {
                    let put = disk::put(&seen.real, was, before.mode);
                    put.map(|()| Outcome::Restored).map_err(|it| it.to_string())
                }
                _ => remove(&seen.real),
            };
        }
        self.clean(&entry.path, &seen, was.as_deref())
    }

    fn clean(&self, path: &Path, seen: &Seen, was: Option<&[u8]>) -> Result<Outcome, String> {
        let text = seen.bytes.as_deref().map(str::from_utf8);
        let Some(Ok(text)) = text else {
            return Err("it is not UTF-8; take our entries out by hand".to_owned());
        };
        let was = was.and_then(|it| str::from_utf8(it).ok());
        match cleaned(path, text, was, &self.ours)? {
            // A link would lead nowhere, and its target is not ours to remove.
            None if path.is_symlink() => {
                let empty =
                    if path.extension().is_some_and(|it| it == "json") { "{}\n" } else { "" };
                let put = disk::put(&seen.real, empty.as_bytes(), seen.mode.unwrap_or(0o600));
                put.map(|()| Outcome::Cleaned).map_err(|it| it.to_string())
            }
            None => remove(&seen.real),
            Some(left) if left == text => Ok(Outcome::Untouched),
            Some(left) => {
                let mode = seen.mode.unwrap_or(0o600);
                disk::put(&seen.real, left.as_bytes(), mode).map_err(|it| it.to_string())?;
                self.renumber(path, text, &left);
                Ok(Outcome::Cleaned)
            }
        }
    }

    /// Hooks of the user behind ours in Codex have other numbers now: their trust goes with them.
    fn renumber(&self, path: &Path, before: &str, after: &str) {
        let is_hooks = path.file_name().is_some_and(|it| it == "hooks.json");
        let config = path.with_file_name("config.toml");
        let Ok(Seen { real, bytes: Some(bytes), mode: Some(mode) }) =
            disk::look(&config, &self.roots)
        else {
            return;
        };
        let text = str::from_utf8(&bytes).unwrap_or_default();
        let Some(Ok(mut doc)) = is_hooks.then(|| toml::parse(text)) else { return };
        let value =
            |it| Document::parse(it, Comments::Allowed).map_or(Value::Null, |it| it.value());
        let (before, after) = (value(before), value(after));
        let sources = codex::sources(path);
        for hook in self.ours.hooks {
            // A table that cannot be read holds no trust that could be moved.
            let _ = codex::renumber(&mut doc, &sources, &before, &after, Path::new(hook));
        }
        let moved = toml::rendered(&doc, text);
        if moved != text {
            // Best effort: Codex asks the user again where it does not succeed.
            let _ = disk::put(&real, moved.as_bytes(), mode);
        }
    }

    fn strays(&mut self, around: &Surroundings) {
        for host in Host::ALL {
            let files = std::iter::once(around.hooks_file(host)).chain(around.mcp_files(host));
            for path in files {
                if self.uninstalled.files.iter().any(|it| it.0 == path) {
                    continue;
                }
                let Ok(seen) = disk::look(&path, &self.roots) else { continue };
                if seen.bytes.is_none() {
                    continue;
                }
                match self.clean(&path, &seen, None) {
                    Ok(Outcome::Untouched) => {}
                    Ok(outcome) => self.uninstalled.files.push((path, outcome)),
                    // Not ours to complain about: it may be broken for other reasons.
                    Err(_) => {}
                }
            }
        }
    }
}

fn remove(real: &Path) -> Result<Outcome, String> {
    private::remove(real)
        .and_then(|()| private::sync_parent(real))
        .map(|()| Outcome::Removed)
        .map_err(|it| it.to_string())
}
