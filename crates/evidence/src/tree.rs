//! The Merkle tree on disk, for proofs: derived from the segments and rebuilt from them if lost.
//!
//! Every eighth level is kept as a flat file of hashes, so that any node is at most 128 hashes
//! away. Retention deletes records but not these hashes, so old proofs stay possible.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use aegx::Digest;
use aegx::merkle::{self, Nodes, ProofError};

use crate::layout::create_private_dir;
use crate::reader::{Position, ReadError, Reader};
use crate::segment::{self, Walk};

/// Levels between two that are kept.
const STRIDE: u32 = 8;
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
        create_private_dir(&dir)?;
        let mut tree = Self { size: leaves(&dir)?, dir };
        let from = tree.resume_at(reader)?;
        tree.extend(reader, from)?;
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

    /// Where reading must go on, found from the headers of the segments.
    fn resume_at(&mut self, reader: &Reader) -> Result<Position, TreeError> {
        let mut best = None;
        for number in reader.segments()? {
            let first = first_of(reader, number)?;
            if first <= self.size {
                best = Some((number, first));
            } else if best.is_none() {
                return Err(TreeError::Lost { before: first });
            }
        }
        let (segment, idx) = best.unwrap_or((0, 0));
        Ok(Position { segment, offset: 0, idx })
    }

    fn extend(&mut self, reader: &Reader, from: Position) -> Result<(), TreeError> {
        let path = self.level_path(0);
        let mut out = BufWriter::new(OpenOptions::new().append(true).create(true).open(path)?);
        let mut size = self.size;
        let (_, failed) = reader.read(from, |entry| {
            if entry.idx < size {
                return ControlFlow::Continue(());
            }
            size += 1;
            match out.write_all(merkle::leaf_hash(&entry.id).as_bytes()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            }
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        out.flush()?;
        self.size = size;
        for kept in 1..KEPT_LEVELS {
            self.extend_level(kept)?;
        }
        Ok(())
    }

    /// Adds the nodes of a kept level whose subtrees are complete now.
    fn extend_level(&self, kept: u32) -> Result<(), TreeError> {
        let level = kept * STRIDE;
        let wanted = self.size >> level;
        let path = self.level_path(kept);
        let present = fs::metadata(&path).map_or(0, |it| it.len()) / 32;
        if present >= wanted {
            return Ok(());
        }
        let mut out = BufWriter::new(OpenOptions::new().append(true).create(true).open(path)?);
        out.get_ref().set_len(present * 32)?;
        for index in present..wanted {
            let node = self.climb(kept - 1, index, STRIDE)?;
            out.write_all(node.as_bytes())?;
        }
        out.flush()?;
        Ok(())
    }

    /// The node `above` levels above kept level `kept`.
    fn climb(&self, kept: u32, index: u64, above: u32) -> io::Result<Digest> {
        let count = 1_usize << above;
        let mut bytes = vec![0; count * 32];
        File::open(self.level_path(kept))?.read_exact_at(&mut bytes, (index << above) * 32)?;
        let mut nodes: Vec<Digest> = bytes
            .chunks_exact(32)
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
fn leaves(dir: &std::path::Path) -> io::Result<u64> {
    let path = dir.join("level-0");
    let bytes = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        metadata => metadata?.len(),
    };
    if bytes % 32 != 0 {
        OpenOptions::new().write(true).open(&path)?.set_len(bytes - bytes % 32)?;
    }
    Ok(bytes / 32)
}

fn first_of(reader: &Reader, number: u64) -> Result<u64, TreeError> {
    use std::io::Read;
    const HEADER_BYTES_MAX: u64 = 1 << 20;
    let path = segment::path(&reader.layout().segments(), number);
    let mut start = Vec::new();
    File::open(path)?.take(HEADER_BYTES_MAX).read_to_end(&mut start)?;
    let (header, _) =
        Walk::begin(&start).map_err(|_| ReadError::Damaged { segment: number, offset: 0 })?;
    Ok(header.first)
}
