//! The manifest: what was changed, and what it was before. It is durable before the change is.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use files::{private, safe_path};
use serde::{Deserialize, Serialize};

use crate::disk::{FILE_BYTES_MAX, digest};
use hooks::Host;

const FILE: &str = "manifest.json";
const BACKUPS: &str = "before";
const LOCK: &str = "lock";
const VERSION: u32 = 1;
/// Bytes of a manifest that are read at most.
const MANIFEST_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Do agents call the gate of this state directory? Where nothing of it can be read, they may.
#[must_use]
pub fn is_wired(state: &Path) -> bool {
    safe_path(state, &["setup", FILE]).is_ok_and(|it| it.symlink_metadata().is_ok())
}

/// Why the record of what was changed cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It cannot be read or written.
    #[error("`{path}` cannot be used: {source}; make sure that it is yours and try again")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not what we write.
    #[error("`{path}` is no manifest: {what}; move it away, then take our entries out by hand")]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A backup is not what was backed up.
    #[error("the backup `{path}` was changed; it is not put back")]
    Backup {
        /// The backup.
        path: PathBuf,
    },
}

/// Everything that was changed and not taken back yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    version: u32,
    /// Paths that our hook program had.
    pub(crate) hooks: Vec<String>,
    /// Folders beneath which files were changed.
    pub(crate) roots: Vec<PathBuf>,
    /// The files.
    pub(crate) files: Vec<Entry>,
}

/// A file that was changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) host: Host,
    /// The file, as its program names it.
    pub(crate) path: PathBuf,
    /// What it was; `None` if it was not there.
    pub(crate) before: Option<Before>,
    /// Hashes of what we made of it, each time.
    pub(crate) after: Vec<String>,
    /// Was there nothing of ours in it before? Only then is the backup what must be put back.
    pub(crate) is_exact: bool,
    /// Did we put hooks into it, and not only MCP servers through the gateway?
    pub(crate) has_hooks: bool,
    /// Folders that we made for it, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
    /// When, in seconds since 1970.
    pub(crate) time_unix_s: u64,
}

/// A file before us.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Before {
    pub(crate) sha256: String,
    pub(crate) mode: u32,
}

impl Manifest {
    /// The manifest in a folder; an empty one if there is none.
    pub(crate) fn load(setup: &Path) -> Result<Self, ManifestError> {
        let path = setup.join(FILE);
        let bytes = private::read_if_there(&path, MANIFEST_BYTES_MAX)
            .map_err(|source| ManifestError::Io { path: path.clone(), source })?;
        let Some(bytes) = bytes else { return Ok(Self { version: VERSION, ..Self::default() }) };
        let wrong = |what: String| ManifestError::NotUnderstood { path: path.clone(), what };
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|it| wrong(it.to_string()))?;
        if manifest.version != VERSION {
            return Err(wrong(format!("it has version {}, not {VERSION}", manifest.version)));
        }
        Ok(manifest)
    }

    /// Makes it durable.
    pub(crate) fn save(&self, setup: &Path) -> Result<(), ManifestError> {
        let path = setup.join(FILE);
        let io = |source| ManifestError::Io { path: path.clone(), source };
        private::create_dir(setup).map_err(io)?;
        let text = serde_json::to_vec_pretty(self).map_err(|it| io(it.into()))?;
        private::replace(&path, &text).map_err(io)
    }

    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.files.iter().find(|it| it.path == path)
    }
}

/// Waits until nobody else wires or takes back; then others wait until this is dropped.
pub(crate) fn lock(setup: &Path) -> Result<File, ManifestError> {
    let path = setup.join(LOCK);
    let io = |source| ManifestError::Io { path: path.clone(), source };
    private::create_dir(setup).map_err(io)?;
    let file = private::open_with(&path, OpenOptions::new().write(true).create(true));
    let file = file.map_err(io)?;
    file.lock().map_err(io)?;
    Ok(file)
}

/// Keeps bytes under their hash.
pub(crate) fn back_up(setup: &Path, bytes: &[u8]) -> Result<String, ManifestError> {
    let name = digest(bytes);
    let path = backup(setup, &name)?;
    let io = |source| ManifestError::Io { path: path.clone(), source };
    private::create_dir(&setup.join(BACKUPS)).map_err(io)?;
    private::replace(&path, bytes).map_err(io)?;
    Ok(name)
}

/// Bytes that were kept.
pub(crate) fn backed_up(setup: &Path, name: &str) -> Result<Vec<u8>, ManifestError> {
    let path = backup(setup, name)?;
    let bytes = private::read(&path, FILE_BYTES_MAX)
        .map_err(|source| ManifestError::Io { path: path.clone(), source })?;
    if digest(&bytes) == name { Ok(bytes) } else { Err(ManifestError::Backup { path }) }
}

/// Removes backups that no entry of the manifest names, and what is empty then.
pub(crate) fn tidy(setup: &Path, manifest: &Manifest) -> io::Result<()> {
    let folder = setup.join(BACKUPS);
    let kept = |name: &str| {
        let mut befores = manifest.files.iter().filter_map(|it| it.before.as_ref());
        befores.any(|it| it.sha256 == name)
    };
    if let Ok(listed) = std::fs::read_dir(&folder) {
        for found in listed {
            let found = found?;
            if !found.file_name().to_str().is_some_and(kept) {
                private::remove(&found.path())?;
            }
        }
    }
    if manifest.files.is_empty() {
        private::remove(&setup.join(FILE))?;
        private::remove(&setup.join(LOCK))?;
        // One that is not empty stays.
        let _ = std::fs::remove_dir(&folder);
        let _ = std::fs::remove_dir(setup);
    }
    Ok(())
}

fn backup(setup: &Path, name: &str) -> Result<PathBuf, ManifestError> {
    let is_hash = name.len() == 64 && name.bytes().all(|it| it.is_ascii_hexdigit());
    let folder = setup.join(BACKUPS);
    match safe_path(&folder, &[name]) {
        Ok(path) if is_hash => Ok(path),
        _ => Err(ManifestError::Backup { path: folder }),
    }
}
