//! The Merkle tree on disk, for proofs: derived from the segments and rebuilt from them if lost.
//!
//! Every eighth level is kept as a flat file of hashes, so that any node is at most 128 hashes
//! away. Retention deletes records but not these hashes, so old proofs stay possible.
//!
//! A reader sees records before they are durable, so a power cut can leave hashes here of records
//! that are gone. What is kept is therefore held against the segments before it is added to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use aegx::Digest;
use aegx::merkle::{self, Nodes, ProofError};

use crate::layout::Layout;
use crate::reader::{Position, ReadError, Reader};
use files::private;

/// Levels between two that are kept.
const STRIDE: u32 = 8;
pub(crate) const HASH_BYTES: usize = 32;
/// Kept levels: enough for 2^62 records.
const KEPT_LEVELS: u32 = 8;

/// The tree of a journal.
pub struct Tree {
    dir: PathBuf,
    size: u64,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The journal.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A part of the tree is of records that are gone.
    #[error("the tree over the first {before} records is lost, and so are the records")]
    Lost {
        /// Records before this one are gone.
        before: u64,
    },
    /// The disk.
    #[error("the tree cannot be read or written: {0}")]
    Io(#[from] io::Error),
    /// There is no such proof.
    #[error("{0}")]
    NoProof(String),
}

impl Tree {
    /// Brings the tree up to date with the journal.
    ///
    /// # Errors
    /// If records are gone that were never taken in.
    pub fn open(reader: &Reader) -> Result<Self, TreeError> {
        let dir = reader.layout().tree();
        private::create_dir(&dir)?;
        // One at a time: two would add the same hashes twice.
        let mut options = OpenOptions::new();
        let lock = private::open_with(&dir.join("lock"), options.append(true).create(true))?;
        lock.lock()?;
        let mut tree = Self { size: leaves(&dir)?, dir };
        let from = tree.resume_at(reader)?;
        tree.extend(reader, from)?;
        private::sync_parent(&tree.level_path(0))?;
        Ok(tree)
    }

    /// Records that it covers.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Root over the first `size` records.
    ///
    /// # Errors
    /// If it does not cover so many.
    pub fn root(&self, size: u64) -> Result<Digest, TreeError> {
        Ok(merkle::root_at(self, size)?)
    }

    /// Proof that record `index` is in the tree of `size`.
    ///
    /// # Errors
    /// If it is not.
    pub fn inclusion(&self, index: u64, size: u64) -> Result<Vec<Digest>, TreeError> {
        merkle::inclusion_proof(self, index, size).map_err(no_proof)
    }

    /// Proof that the tree of `old` is the beginning of the tree of `new`.
    ///
    /// # Errors
    /// If there is none.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Digest>, TreeError> {
        merkle::consistency_proof(self, old, new).map_err(no_proof)
    }

    /// Where reading must go on: the newest segment whose header has the root that is kept here.
    fn resume_at(&mut self, reader: &Reader) -> Result<Position, TreeError> {
        let mut before = 0;
        let mut doubtful = false;
        for number in reader.segments()?.into_iter().rev() {
            let header = match reader.header(number) {
                // Retention got there first.
                Err(ReadError::Gone { .. }) => continue,
                header => header?,
            };
            before = header.first;
            if header.first > self.size {
                continue;
            }
            let damaged = |_| ReadError::Damaged { segment: number, offset: 0 };
            let root = header.frontier().map_err(damaged)?.root();
            if self.root(header.first).is_ok_and(|it| it == root) {
                if doubtful {
                    self.cut(header.first)?;
                }
                return Ok(Position { segment: number, offset: 0, idx: header.first });
            }
            doubtful = true;
        }
        Err(TreeError::Lost { before })
    }

    /// Adds the records from `from` on, and throws away what is kept of others.
    fn extend(&mut self, reader: &Reader, from: Position) -> Result<(), TreeError> {
        let stored = self.leaves_from(from.idx)?;
        let mut stored = stored.chunks_exact(HASH_BYTES);
        let mut out = BufWriter::new(self.open_level(0)?);
        let (next, failed) = reader.read(from, |entry| {
            let leaf = merkle::leaf_hash(&entry.id);
            if stored.next().is_some_and(|it| it == leaf.as_bytes()) {
                return ControlFlow::Continue(());
            }
            stored = [].chunks_exact(HASH_BYTES);
            // Cuts before anything was written, or nothing.
            match self.cut(entry.idx).and_then(|()| out.write_all(leaf.as_bytes())) {
                Err(error) => ControlFlow::Break(error),
                Ok(()) => {
                    self.size = entry.idx + 1;
                    ControlFlow::Continue(())
                }
            }
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        out.flush()?;
        self.cut(next.idx)?;
        out.get_ref().sync_all()?;
        for kept in 1..KEPT_LEVELS {
            self.extend_level(kept)?;
        }
        Ok(())
    }

    /// Adds the nodes of a kept level whose subtrees are complete now.
    fn extend_level(&self, kept: u32) -> Result<(), TreeError> {
        let wanted = self.size >> (kept * STRIDE);
        let present = hashes_in(&self.level_path(kept))?;
        if present >= wanted {
            return Ok(());
        }
        let mut out = BufWriter::new(self.open_level(kept)?);
        out.get_ref().set_len(present * HASH_BYTES as u64)?;
        for index in present..wanted {
            let node = self.climb(kept - 1, index, STRIDE)?;
            out.write_all(node.as_bytes())?;
        }
        out.flush()?;
        out.get_ref().sync_all()?;
        Ok(())
    }

    /// Forgets everything behind the first `size` records.
    fn cut(&mut self, size: u64) -> io::Result<()> {
        if size >= self.size {
            return Ok(());
        }
        for kept in 0..KEPT_LEVELS {
            let whole = size >> (kept * STRIDE);
            if hashes_in(&self.level_path(kept))? > whole {
                self.open_level(kept)?.set_len(whole * HASH_BYTES as u64)?;
            }
        }
        self.size = size;
        Ok(())
    }

    fn open_level(&self, kept: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        private::open_with(&self.level_path(kept), options.append(true).create(true))
    }

    /// The leaves that are kept from record `first` on: those of about one segment.
    fn leaves_from(&self, first: u64) -> io::Result<Vec<u8>> {
        let count = usize::try_from(self.size.saturating_sub(first)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count.saturating_mul(HASH_BYTES)];
        if !bytes.is_empty() {
            let file = private::open(&self.level_path(0))?;
            file.read_exact_at(&mut bytes, first * HASH_BYTES as u64)?;
        }
        Ok(bytes)
    }

    /// The node `above` levels above kept level `kept`.
    fn climb(&self, kept: u32, index: u64, above: u32) -> io::Result<Digest> {
        let count = 1_usize << above;
        let mut bytes = vec![0; count * HASH_BYTES];
        let start = (index << above) * HASH_BYTES as u64;
        private::open(&self.level_path(kept))?.read_exact_at(&mut bytes, start)?;
        let mut nodes: Vec<Digest> = bytes
            .chunks_exact(HASH_BYTES)
            .filter_map(|it| Some(Digest::from_bytes(it.try_into().ok()?)))
            .collect();
        while nodes.len() > 1 {
            nodes = nodes
                .chunks(2)
                .filter_map(|pair| match pair {
                    [left, right] => Some(merkle::node_hash(left, right)),
                    _ => None,
                })
                .collect();
        }
        nodes.first().copied().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn level_path(&self, kept: u32) -> PathBuf {
        self.dir.join(format!("level-{}", kept * STRIDE))
    }
}

impl Nodes for Tree {
    type Error = io::Error;

    fn node(&self, level: u32, index: u64) -> Result<Digest, io::Error> {
        self.climb(level / STRIDE, index, level % STRIDE)
    }
}

fn no_proof(error: ProofError<io::Error>) -> TreeError {
    match error {
        ProofError::Nodes(error) => TreeError::Io(error),
        ProofError::IndexOutside { .. } | ProofError::Shrunk { .. } => {
            TreeError::NoProof(error.to_string())
        }
    }
}

/// Whole hashes in the file of leaves; a torn one at its end is cut off.
fn leaves(dir: &Path) -> io::Result<u64> {
    let path = dir.join("level-0");
    let whole = hashes_in(&path)?;
    if whole > 0 {
        let file = private::open_with(&path, OpenOptions::new().write(true))?;
        file.set_len(whole * HASH_BYTES as u64)?;
    }
    Ok(whole)
}

/// Records that the tree knows of, as it lies there.
pub(crate) fn known_leaves(layout: &Layout) -> io::Result<u64> {
    hashes_in(&leaves_path(layout))
}

/// Where the leaves lie.
pub(crate) fn leaves_path(layout: &Layout) -> PathBuf {
    layout.tree().join("level-0")
}

/// Forgets what the tree knows behind the first `size` records.
pub(crate) fn forget_behind(layout: &Layout, size: u64) -> io::Result<()> {
    let dir = layout.tree();
    let known = leaves(&dir)?;
    Tree { dir, size: known }.cut(size)
}

fn hashes_in(path: &Path) -> io::Result<u64> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        metadata => Ok(metadata?.len() / HASH_BYTES as u64),
    }
}
