//! What lies in a workspace: every file by the hash of its content, every folder by its name.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use aegx::Digest;
use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;
use super::{files, form, scan};

/// Files and folders that are looked at. In a larger tree the whole workspace carries the label.
pub const FILES_MAX: usize = 100_000;
/// Bytes that are hashed. What is beyond them counts as changed.
pub const HASHED_BYTES_MAX: u64 = 8 << 30;
/// Directories inside each other. Deeper ones make the whole workspace carry the label.
pub const DEPTH_MAX: usize = 64;

/// The longest manifest that is read, in bytes.
const MANIFEST_BYTES_MAX: u64 = 1 << 28;

/// How a name begins that is written as its hash.
pub(super) const NO_TEXT: char = '\u{fffd}';

/// What lies in a workspace, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) entries: BTreeMap<String, Entry>,
    /// There is more than was looked at.
    #[serde(default)]
    pub(super) truncated: bool,
    /// Device and inode of the workspace itself.
    #[serde(default)]
    pub(super) root: Option<(u64, u64)>,
}

/// One file, or what is in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(rename = "k")]
    pub(super) kind: Kind,
    /// Hash of the content; of a link, of where it leads; of a folder, of its name.
    #[serde(rename = "h", with = "form::digest")]
    pub(super) digest: Digest,
    /// Its content in tokens, guessed.
    #[serde(rename = "t")]
    pub(super) tokens: u64,
    /// Does it look like another file in disguise?
    #[serde(rename = "p", default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) packed: bool,
    /// What the kernel said of it when it was read; none if that proves nothing.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(super) seen_as: Option<SeenAs>,
}

/// Device, number, length, time of content, time of anything: a file of which all are the same is the same.
pub(super) type SeenAs = (u64, u64, u64, i64, i64);

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A plain file.
    File,
    /// A link. It is never followed.
    Link,
    /// A folder. Whoever lists what is there reads its name.
    Folder,
    /// A pipe, a socket, a device.
    Special,
    /// A file whose content could not be read, or not all of it.
    Unread,
}

impl Manifest {
    /// Looks at the tree below `root`. Files of which `known` says the hash, and that the kernel says are
    /// the same since, are not read again.
    ///
    /// # Errors
    /// If `root` itself cannot be read. What is below is taken as it can be had.
    pub(super) fn of(root: &Path, known: &Self) -> io::Result<Self> {
        scan::scan(root, known)
    }

    /// One as it was kept; none if there is none.
    ///
    /// # Errors
    /// If it cannot be had.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, WorkspaceError> {
        let bytes = files::read(path, MANIFEST_BYTES_MAX).map_err(WorkspaceError::io(path))?;
        // One that cannot be read is none: then everything counts as new.
        Ok(bytes.and_then(|it| serde_json::from_slice(&it).ok()))
    }

    /// Is it of another directory than `before`, which had its name?
    pub(super) fn is_elsewhere(&self, before: &Self) -> bool {
        before.root.is_some() && before.root != self.root
    }
}

impl Entry {
    /// Is it certainly what it was?
    pub(super) fn is_still(&self, before: &Self) -> bool {
        self.kind != Kind::Unread && self.kind == before.kind && self.digest == before.digest
    }
}

/// The path below the workspace. A name that is no text, or that looks like one of those, is written
/// in hex, so that no two meet.
pub(super) fn joined(folder: &str, name: &[u8]) -> String {
    let name = match std::str::from_utf8(name) {
        Ok(text) if !text.starts_with(NO_TEXT) => text.to_owned(),
        Ok(_) | Err(_) => format!("{NO_TEXT}{}", Digest::of(name)),
    };
    if folder.is_empty() { name } else { format!("{folder}/{name}") }
}
