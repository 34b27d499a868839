//! Where the parts of a journal lie in its directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use files::private;

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
    /// Says where the journal stands while nobody has it open.
    clean = "clean.json",
    /// The signed checkpoints, one a line. The newest may stand in the note alone.
    checkpoints = "checkpoints.jsonl",
    /// The key that signs them.
    key = "checkpoint.key",
    /// The public half, for whoever wants to pin it.
    public_key = "checkpoint.pub",
    /// Heads of segments that retention deleted.
    retired = "retired.jsonl",
    /// What recovery cut off.
    aside = "aside",
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

    /// Makes the directories that a writer needs, for the owner's eyes only. The journal's own may
    /// be a link to where there is room; nothing in it may be one.
    pub(crate) fn create(&self) -> io::Result<()> {
        match fs::metadata(&self.root) {
            Ok(found) if found.is_dir() => private::close_to_others(&self.root, &found)?,
            _ => private::create_dir(&self.root)?,
        }
        private::create_dir(&self.segments())?;
        private::create_dir(&self.blobs())
    }
}
