//! What lies in a workspace: every file by the hash of its content, every folder by its name.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use aegx::{Digest, Hasher};
use monitor::taint::tokens;
use serde::{Deserialize, Serialize};

use super::shape::{SAMPLE_BYTES, is_packed};
use super::sidecar::SIDECAR;
use super::{files, form};

/// Files and folders that are looked at. In a larger tree the whole workspace carries the label.
pub const FILES_MAX: usize = 100_000;
/// Bytes that are hashed. What is beyond them counts as changed.
pub const HASHED_BYTES_MAX: u64 = 8 << 30;
/// Directories inside each other. Deeper ones make the whole workspace carry the label.
pub const DEPTH_MAX: usize = 64;

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
}

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
    /// Looks at the tree below `root`.
    ///
    /// # Errors
    /// If `root` itself cannot be read. What is below is taken as it can be had.
    pub(super) fn of(root: &Path) -> io::Result<Self> {
        let mut scan = Scan { manifest: Self::default(), bytes_left: HASHED_BYTES_MAX };
        let found = fs::metadata(root)?;
        scan.manifest.root = Some((found.dev(), found.ino()));
        scan.folder(root, "", 0)?;
        Ok(scan.manifest)
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

struct Scan {
    manifest: Manifest,
    bytes_left: u64,
}

impl Scan {
    fn folder(&mut self, path: &Path, name: &str, depth: usize) -> io::Result<()> {
        let mut found = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        found.sort_by_key(fs::DirEntry::file_name);
        for entry in found {
            if self.manifest.entries.len() >= FILES_MAX {
                self.manifest.truncated = true;
                return Ok(());
            }
            let path = entry.path();
            let below = joined(name, entry.file_name().as_bytes());
            // Does not follow a link.
            let Ok(metadata) = fs::symlink_metadata(&path) else {
                self.add(below, unread(0));
                continue;
            };
            if below != SIDECAR || !metadata.is_file() {
                let entry = self.entry(&path, &metadata);
                self.add(below.clone(), entry);
            }
            if !metadata.is_dir() {
                continue;
            }
            if depth >= DEPTH_MAX || self.folder(&path, &below, depth + 1).is_err() {
                self.manifest.truncated = true;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, entry: Entry) {
        self.manifest.entries.insert(path, entry);
    }

    fn entry(&mut self, path: &Path, metadata: &Metadata) -> Entry {
        if metadata.is_symlink() {
            let target = fs::read_link(path).unwrap_or_default();
            let digest = Digest::of(target.as_os_str().as_bytes());
            return Entry { kind: Kind::Link, digest, tokens: 1, packed: false };
        }
        if metadata.is_dir() {
            let name = path.file_name().unwrap_or_default().as_bytes();
            let tokens = estimate(name, name.len() as u64);
            return Entry { kind: Kind::Folder, digest: Digest::of(name), tokens, packed: false };
        }
        if !metadata.is_file() {
            return Entry { kind: Kind::Special, digest: Digest::ZERO, tokens: 1, packed: false };
        }
        self.read(path).unwrap_or_else(|_| unread(metadata.len()))
    }

    /// Hashes a file piece by piece.
    fn read(&mut self, path: &Path) -> io::Result<Entry> {
        let mut file = files::open(path)?;
        let mut hasher = Hasher::new();
        let mut sample = Vec::new();
        let mut buffer = vec![0; SAMPLE_BYTES];
        let mut length: u64 = 0;
        loop {
            let read = file.read(&mut buffer)?;
            let piece = buffer.get(..read).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            let Some(left) = self.bytes_left.checked_sub(read as u64) else {
                return Ok(unread(file.metadata()?.len()));
            };
            self.bytes_left = left;
            length += read as u64;
            hasher.update(piece);
            let room = SAMPLE_BYTES.saturating_sub(sample.len()).min(read);
            sample.extend_from_slice(piece.get(..room).unwrap_or_default());
        }
        let (digest, packed) = (hasher.finish(), is_packed(&sample));
        Ok(Entry { kind: Kind::File, digest, tokens: estimate(&sample, length), packed })
    }
}

fn unread(bytes: u64) -> Entry {
    let tokens = tokens::tainted_bytes(bytes);
    Entry { kind: Kind::Unread, digest: Digest::ZERO, tokens, packed: false }
}

/// Tokens of a file, from how dense its beginning is.
fn estimate(sample: &[u8], length: u64) -> u64 {
    let text = match std::str::from_utf8(sample) {
        Ok(text) => text,
        // A sample may end inside a character.
        Err(error) if error.error_len().is_none() && sample.len() == SAMPLE_BYTES => {
            let whole = sample.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(whole).unwrap_or_default()
        }
        Err(_) => return tokens::tainted_bytes(length),
    };
    let scaled = u128::from(tokens::tainted(text)) * u128::from(length);
    let tokens = scaled.div_ceil((text.len() as u128).max(1));
    u64::try_from(tokens).unwrap_or(u64::MAX).max(1)
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
