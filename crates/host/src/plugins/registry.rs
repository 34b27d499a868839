//! Which plugins there are, and what they were like when a person added them: `plugins.json` in the state
//! directory, beside the folders and not in them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use aegx::{Digest, Sorted, timestamp};
use evidence::Receipt;
use files::private;
use serde::Deserialize;
use serde_json::{Value, json};

use super::copy;
use super::error::PluginError;
use super::inventory::Inventory;
use super::manifest::{MANIFEST, Manifest};
use super::{Checked, Offered, Refused};
use crate::providers::is_built;

const FOLDERS: &str = "plugins";
const LIST: &str = "plugins.json";
/// A copy that is being made. No plugin's folder has such a name.
const UNFINISHED: &str = ".unfinished";
/// The longest list, in bytes.
const LIST_BYTES_MAX: u64 = 64 << 20;
/// How many plugins there may be.
pub(super) const PLUGINS_MAX: usize = 200;

/// A plugin as it was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The digest of everything in its folder.
    pub digest: Digest,
    /// When it was added.
    pub added: String,
    /// By which record, as hex.
    pub record: String,
    /// What is in its folder.
    pub(super) inventory: Inventory,
}

/// A folder that was looked at and could be added.
#[derive(Debug)]
pub struct Prepared {
    /// What it says of itself.
    pub manifest: Manifest,
    /// What is in it.
    pub inventory: Inventory,
    from: PathBuf,
}

/// The plugins of a state directory.
pub struct Plugins {
    home: PathBuf,
}

impl Plugins {
    /// Those of the state directory `home`.
    #[must_use]
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// Looks at a folder that is to be added. Nothing is changed.
    ///
    /// # Errors
    /// If it cannot be added.
    pub fn prepare(&self, from: &Path) -> Result<Prepared, PluginError> {
        let (inventory, manifest) = look(from)?;
        let provider = model::provider::resolve(manifest.kind.as_str(), &manifest.provides).ok();
        if provider.is_some_and(is_built) {
            let (kind, name) = (manifest.kind.as_str(), manifest.provides);
            return Err(PluginError::BuiltIn { kind, name });
        }
        if inventory.entries.get(&manifest.main).is_none_or(|(_, it)| it.is_none()) {
            return Err(PluginError::Missing(manifest.main));
        }
        let list = self.read()?;
        if list.contains_key(&manifest.name) {
            return Err(PluginError::There(manifest.name));
        }
        if list.len() >= PLUGINS_MAX {
            return Err(PluginError::Full);
        }
        self.may_run(&manifest, &inventory)?;
        Ok(Prepared { manifest, inventory, from: from.to_owned() })
    }

    /// Adds a folder. The receipt proves that a person's word was recorded first.
    ///
    /// # Errors
    /// If it is not any more what it was, or cannot be copied.
    pub fn add(
        &self,
        prepared: Prepared,
        receipt: &Receipt,
        now: i64,
    ) -> Result<Entry, PluginError> {
        let Prepared { manifest, inventory, from } = prepared;
        let mut list = self.read()?;
        if list.contains_key(&manifest.name) {
            return Err(PluginError::There(manifest.name));
        }
        let folders = self.home.join(FOLDERS);
        let failed = |error: io::Error| list_error(&folders, error);
        private::create_dir(&folders).map_err(failed)?;
        let to = self.folder(&manifest.name);
        // Not in the list, so that nobody vouches for it: what a crash left.
        copy::remove(&to).map_err(failed)?;
        if !copy::copy(&from, &folders.join(UNFINISHED), &to, &inventory)? {
            return Err(PluginError::Changed);
        }
        let entry = Entry {
            name: manifest.name.clone(),
            digest: inventory.digest(),
            added: timestamp::from_unix(now),
            record: receipt.id().to_string(),
            inventory,
        };
        list.insert(manifest.name, entry.clone());
        self.write(&list)?;
        Ok(entry)
    }

    /// Removes a plugin. The receipt proves that a person's word was recorded first.
    ///
    /// # Errors
    /// If there is none, or it cannot be removed.
    pub fn remove(&self, name: &str, _receipt: &Receipt) -> Result<(), PluginError> {
        let mut list = self.read()?;
        list.remove(name).ok_or_else(|| PluginError::NotThere(name.to_owned()))?;
        // First out of the list: what is left of a folder then counts as unknown.
        self.write(&list)?;
        let folder = self.folder(name);
        copy::remove(&folder).map_err(|error| list_error(&folder, error))
    }

    /// All that were added, sound or not.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, PluginError> {
        Ok(self.read()?.into_values().collect())
    }

    /// Looks through every folder and compares.
    #[must_use]
    pub fn check(&self) -> Checked {
        let mut checked = Checked::default();
        let folders = match self.folders() {
            Ok(folders) => folders,
            Err(error) => {
                checked.refused.push(Refused { name: FOLDERS.to_owned(), why: error.to_string() });
                Vec::new()
            }
        };
        let list = self.read().unwrap_or_else(|error| {
            // Without a list nothing is known of any of them.
            checked.refused.push(Refused { name: LIST.to_owned(), why: error.to_string() });
            BTreeMap::new()
        });
        for name in folders.into_iter().filter(|it| it != UNFINISHED) {
            if !list.keys().any(|it| folder_of(it) == name) {
                let why = "its folder is there, but nobody added it".to_owned();
                checked.refused.push(Refused { name, why });
            }
        }
        for (name, entry) in list {
            match self.verify(&entry) {
                Ok(manifest) => {
                    checked.offered.push(Offered { digest: entry.digest, manifest });
                    checked.sound.push(entry);
                }
                Err(why) => checked.refused.push(Refused { name, why }),
            }
        }
        checked
    }

    /// What a plugin says of itself, or what is wrong with it.
    fn verify(&self, entry: &Entry) -> Result<Manifest, String> {
        let (inventory, manifest) =
            look(&self.folder(&entry.name)).map_err(|error| error.to_string())?;
        let other = (manifest.name != entry.name).then(|| "its manifest names another".to_owned());
        let wrong = inventory.unsound(&entry.inventory).or(other);
        wrong.map_or(Ok(manifest), Err)
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.home.join(FOLDERS).join(folder_of(name))
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let path = self.home.join(FOLDERS);
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other("it should be a folder and is none")),
        }
        let entries = std::fs::read_dir(path)?.take(2 * PLUGINS_MAX);
        entries.map(|it| Ok(it?.file_name().to_string_lossy().into_owned())).collect()
    }

    pub(super) fn read(&self) -> Result<BTreeMap<String, Entry>, PluginError> {
        let path = self.home.join(LIST);
        let bytes = private::read_if_there(&path, LIST_BYTES_MAX);
        let Some(bytes) = bytes.map_err(|error| list_error(&path, error))? else {
            return Ok(BTreeMap::new());
        };
        let form: ListForm =
            serde_json::from_slice(&bytes).map_err(|error| list_error(&path, error))?;
        let mut list = BTreeMap::new();
        for it in form.plugins {
            let entry =
                it.entry().ok_or_else(|| list_error(&path, "an entry is not as it was written"))?;
            if list.insert(entry.name.clone(), entry).is_some() {
                return Err(list_error(&path, "a plugin is there twice"));
            }
        }
        Ok(list)
    }

    fn write(&self, list: &BTreeMap<String, Entry>) -> Result<(), PluginError> {
        let path = self.home.join(LIST);
        let plugins: Vec<Value> = list.values().map(value).collect();
        let text = Sorted(&json!({ "plugins": plugins, "version": 1 })).to_string();
        private::replace(&path, text.as_bytes()).map_err(|error| list_error(&path, error))
    }
}

/// What is in a folder, and what its manifest says.
fn look(path: &Path) -> Result<(Inventory, Manifest), PluginError> {
    let mut manifest = None;
    let inventory = Inventory::of(path, &mut |name, _, bytes| {
        if name == MANIFEST {
            manifest = Some(Manifest::parse(bytes));
        }
        Ok(())
    })?;
    let manifest = manifest.ok_or_else(|| PluginError::Missing(MANIFEST.to_owned()))??;
    Ok((inventory, manifest))
}

/// The name of a plugin's folder. No name of a package has a `+`, so that no two share one.
fn folder_of(name: &str) -> String {
    name.replace('/', "+")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListForm {
    plugins: Vec<EntryForm>,
    #[serde(rename = "version")]
    _version: Version,
}

/// The one version there is.
#[derive(Deserialize)]
#[serde(try_from = "u64")]
struct Version;

impl TryFrom<u64> for Version {
    type Error = &'static str;

    fn try_from(found: u64) -> Result<Self, Self::Error> {
        if found == 1 { Ok(Self) } else { Err("it is of another version of the program") }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryForm {
    name: String,
    digest: String,
    added: String,
    record: String,
    files: Vec<(String, bool, Option<String>)>,
}

impl EntryForm {
    fn entry(self) -> Option<Entry> {
        let mut inventory = Inventory::default();
        for (path, runs, digest) in self.files {
            let digest = match digest {
                None => None,
                Some(hex) => Some(Digest::from_hex(hex.as_bytes())?),
            };
            inventory.entries.insert(path, (runs, digest));
        }
        let digest = Digest::from_hex(self.digest.as_bytes())?;
        // The list of files is what the one digest says, or somebody changed one of them.
        (inventory.digest() == digest).then_some(Entry {
            name: self.name,
            digest,
            added: self.added,
            record: self.record,
            inventory,
        })
    }
}

fn value(entry: &Entry) -> Value {
    let files = entry
        .inventory
        .entries
        .iter()
        .map(|(path, (runs, digest))| json!([path, runs, digest.map(|it| it.to_string())]));
    json!({
        "name": entry.name,
        "digest": entry.digest.to_string(),
        "added": entry.added,
        "record": entry.record,
        "files": files.collect::<Vec<_>>(),
    })
}

pub(super) fn list_error(path: &Path, why: impl std::fmt::Display) -> PluginError {
    PluginError::List { path: path.display().to_string(), why: why.to_string() }
}
