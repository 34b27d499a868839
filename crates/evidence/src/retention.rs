//! Retention: whole sealed segments, oldest first, and what the rest needs of them is kept.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use aegx::{Digest, timestamp};

use crate::blobs::Blobs;
use crate::chain::Retired;
use crate::checkpoints::{self, CheckpointError};
use crate::index::{Index, IndexError};
use crate::layout;
use crate::reader::{ReadError, Reader};
use crate::segment;
use crate::tree::{Tree, TreeError};

/// What may go.
#[derive(Clone, Copy, Debug)]
pub struct RetentionRule {
    /// Segments whose newest record is older than this, in seconds since 1970.
    pub before: i64,
}

/// What went.
#[derive(Clone, Debug, Default)]
pub struct RetentionOutcome {
    /// Segments that were deleted.
    pub segments: Vec<Retired>,
    /// Blobs that no record names any more and that were deleted.
    pub blobs: u64,
}

/// Why nothing more was deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetentionError {
    /// The journal.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The tree, which must hold the hashes before their records go.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The checkpoints.
    #[error(transparent)]
    Checkpoints(#[from] CheckpointError),
    /// A segment that is damaged is evidence and stays.
    #[error("segment {segment:012} is damaged and was kept: {why}")]
    Damaged {
        /// Its number.
        segment: u64,
        /// What is wrong.
        why: String,
    },
    /// The disk.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

/// Deletes the sealed segments that `rule` lets go, oldest first, until one must stay.
///
/// # Errors
/// If something is damaged. What was deleted before is reported by the next run's state only; each
/// deletion is complete in itself.
pub fn retire(reader: &Reader, rule: RetentionRule) -> Result<RetentionOutcome, RetentionError> {
    // The hashes stay, so that what was signed can still be proved.
    Tree::open(reader)?;
    let signed = checkpoints::read(reader.layout())?.last().map_or(0, |it| it.size);
    let mut outcome = RetentionOutcome::default();
    let mut loose = BTreeSet::new();
    let numbers = reader.segments()?;
    for number in numbers.split_last().map_or(&[][..], |(_, sealed)| sealed) {
        let path = segment::path(&reader.layout().segments(), *number);
        let io = |error| RetentionError::Io { path: path.display().to_string(), error };
        let damaged = |why: String| RetentionError::Damaged { segment: *number, why };
        let bytes = fs::read(&path).map_err(io)?;
        let checked = segment::check(&bytes)
            .ok_or_else(|| damaged("the header cannot be read".to_owned()))?;
        if let Some(broken) = checked.broken {
            return Err(damaged(broken.why));
        }
        let Some(seal) = checked.seal else { break };
        // Only what a signature covers may go: its head is then beyond doubt.
        if checked.next_idx > signed || newest(&bytes, rule.before).is_none() {
            break;
        }
        let retired = Retired {
            segment: *number,
            first: checked.header.first,
            count: seal.count,
            head: seal.head,
            root: seal.root,
        };
        let line = serde_json::to_vec(&retired).map_err(|error| damaged(error.to_string()))?;
        // The head first: a head too many is noticed and harmless, one too few is a broken chain.
        layout::append_line(&reader.layout().retired(), &line).map_err(io)?;
        fs::remove_file(&path).map_err(io)?;
        layout::sync_parent(&path).map_err(io)?;
        loose.extend(checked.blobs.iter().map(|(_, claim)| claim.blob));
        outcome.segments.push(retired);
    }
    outcome.blobs = sweep_blobs(reader, &loose)?;
    Ok(outcome)
}

/// `Some` if every record in the segment is older than `before`.
fn newest(bytes: &[u8], before: i64) -> Option<i64> {
    let (_, mut walk) = segment::Walk::begin(bytes).ok()?;
    let mut newest = i64::MIN;
    while let Some(Ok(item)) = walk.next() {
        if let segment::Item::Entry { audit, .. } = item {
            let ts = std::str::from_utf8(segment::entry_ts(audit)?).ok()?;
            newest = newest.max(timestamp::to_unix(ts)?);
        }
    }
    (newest < before).then_some(newest)
}

/// Deletes blobs that only deleted records named.
fn sweep_blobs(reader: &Reader, loose: &BTreeSet<Digest>) -> Result<u64, RetentionError> {
    if loose.is_empty() {
        return Ok(0);
    }
    let index = Index::open(reader, &mut |_| ())?;
    let blobs = Blobs::new(reader.layout().blobs());
    let mut removed = 0;
    for blob in loose {
        if !index.names_blob(blob)? {
            blobs
                .remove(blob)
                .map_err(|error| RetentionError::Io { path: blob.to_string(), error })?;
            removed += 1;
        }
    }
    Ok(removed)
}
