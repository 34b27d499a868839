//! Where the parts of a journal lie in its directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A journal's directory.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        impl Layout {
            $($(#[$doc])* pub(crate) fn $name(&self) -> PathBuf {
                self.root.join($text)
            })+
        }
    };
}

places! {
    /// Held by the one writer.
    lock = "journal.lock",
    /// The segments.
    segments = "segments",
    /// Content beside the records.
    blobs = "blobs",
    /// Says that the journal was closed in order, and where it ended.
    clean = "clean.json",
    /// The signed checkpoints, one a line.
    checkpoints = "checkpoints.jsonl",
    /// The key that signs them.
    key = "checkpoint.key",
    /// The public half, for whoever wants to pin it.
    public_key = "checkpoint.pub",
    /// Heads of segments that retention deleted.
    retired = "retired.jsonl",
    /// What recovery cut off.
    aside = "aside",
    /// The index for queries.
    index = "index.sqlite",
    /// Nodes of the Merkle tree, for proofs.
    tree = "tree",
    /// Bundles of others that were taken in.
    imports = "imports",
}

impl Layout {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the directories that a writer needs, for the owner's eyes only.
    pub(crate) fn create(&self) -> io::Result<()> {
        create_private_dir(&self.root)?;
        create_private_dir(&self.segments())?;
        create_private_dir(&self.blobs())
    }
}

/// Makes a directory that only its owner can enter.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Puts `bytes` at `path`, whole or not at all, durably.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    sync_parent(path)
}

/// Appends a line durably.
pub(crate) fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let is_new = !path.exists();
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
    let mut line = line.to_vec();
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()?;
    if is_new { sync_parent(path) } else { Ok(()) }
}

/// Makes what happened to names in the directory of `path` durable.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}
