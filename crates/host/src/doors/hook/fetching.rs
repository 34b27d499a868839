//! What a command that reaches the network brings into a trusted folder: whatever was not there before it.
//!
//! Which file a program writes is the program's own matter, so nothing here reads its options: the folders that it could
//! mean are looked at before and after.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use evidence::{Clock as _, SystemClock};
use hooks::ToolUse;
use serde_json::{Value, json};

use super::HookDoor;
use super::session::{Hooked, key_of};
use crate::fetched::{Fetched, Place};

/// Words of a command that are looked at.
const WORDS_MAX: usize = 256;
/// Folders whose names are kept.
const FOLDERS_MAX: usize = 16;
/// Names of a folder that are kept; in a larger one it is not known what is new.
const NAMES_MAX: usize = 20_000;
/// What stands between words and inside of them, before a path.
const BETWEEN: &[char] = &[' ', '\t', '\n', '\'', '"', ';', '&', '|', '(', ')', '<', '>', '=', '`'];

/// What was there before a command ran.
#[derive(Debug)]
pub(super) struct Watch {
    folders: Vec<(PathBuf, HashSet<OsString>)>,
    /// Places that the command names and that are not there yet.
    named: Vec<PathBuf>,
}

impl Watch {
    /// Looks at where `command` could write, run in the folder `cwd`.
    pub(super) fn of(command: &str, cwd: &Path) -> Self {
        let mut watch = Self { folders: Vec::new(), named: Vec::new() };
        watch.look_at(cwd.to_owned());
        let words = command.split(BETWEEN).filter(|it| !it.is_empty()).take(WORDS_MAX);
        for word in words {
            let path = crate::trust::place(word, cwd, None);
            match std::fs::symlink_metadata(&path) {
                Ok(it) if it.is_dir() => watch.look_at(path),
                Ok(_) => {}
                Err(_) => watch.named.push(path),
            }
        }
        watch
    }

    fn look_at(&mut self, folder: PathBuf) {
        let is_known = self.folders.iter().any(|it| it.0 == folder);
        if is_known || self.folders.len() >= FOLDERS_MAX {
            return;
        }
        let names = names(&folder).collect();
        self.folders.push((folder, names));
    }

    /// What is there now and was not.
    pub(super) fn brought(&self) -> Vec<PathBuf> {
        let named = self.named.iter().filter(|it| it.symlink_metadata().is_ok());
        let mut brought: Vec<PathBuf> = named.cloned().collect();
        for (folder, before) in &self.folders {
            if before.len() >= NAMES_MAX {
                brought.push(folder.clone());
                continue;
            }
            let new = names(folder).filter(|it| !before.contains(it));
            brought.extend(new.map(|it| [folder.as_os_str(), &it].iter().collect::<PathBuf>()));
        }
        brought.sort();
        brought.dedup();
        brought
    }
}

impl HookDoor<'_> {
    /// Looks at what is there before a command that reaches the network. Outside of trusted folders all is foreign anyway.
    pub(super) fn watch(&self, session: &mut Hooked, tool: &ToolUse) {
        let command = tool.args.get("command").and_then(Value::as_str);
        let (Some(command), Some(cwd)) = (command, &session.cwd) else { return };
        if self.is_trusted(session) {
            let watch = Watch::of(command, cwd);
            session.watch(key_of(tool), watch);
        }
    }

    /// Keeps what commands brought from the network into folders that are trusted.
    pub(super) fn note_brought(&self, session: &Hooked, watched: &[Watch]) -> Result<(), String> {
        let Some(cwd) = &session.cwd else { return Ok(()) };
        let trust = self.trust()?;
        let brought = watched.iter().flat_map(Watch::brought);
        let brought: Vec<PathBuf> = brought.filter(|it| trust.covers(it)).collect();
        if brought.is_empty() {
            return Ok(());
        }
        let (by, since) = (session.who.session.as_str(), SystemClock.unix_seconds());
        let add = |fetched: &mut Fetched| {
            for path in &brought {
                fetched.add(Place { path: path.clone(), by: by.to_owned(), since }, cwd);
            }
        };
        Fetched::change(self.home, add).map_err(|error| error.to_string())?;
        let shown: Vec<String> = brought.iter().map(|it| it.display().to_string()).collect();
        self.record("fetched", &json!({ "session": by, "places": shown }));
        Ok(())
    }
}

fn names(folder: &Path) -> impl Iterator<Item = OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(NAMES_MAX);
    entries.filter_map(|it| it.ok().map(|it| it.file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(path: &Path) {
        files::private::replace(path, b"x").unwrap();
    }

    #[test]
    fn what_is_new_was_brought() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["deps", "src", "out"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        make(&at("README.md"));
        let command = "cd deps && git clone https://h/x; curl -o=src/new.txt https://h";
        let watch = Watch::of(command, folder.path());
        assert!(watch.brought().is_empty());
        make(&at("deps/x"));
        make(&at("src/new.txt"));
        make(&at("index.html"));
        make(&at("out/unseen"));
        make(&at("README.md"));
        assert_eq!(watch.brought(), [at("deps/x"), at("index.html"), at("src/new.txt")]);
    }
}
