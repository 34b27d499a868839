//! Retention: whole sealed segments, oldest first, and what the rest needs of them is kept.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use aegx::{Digest, RecordType, timestamp};
use model::Kind;
use serde_json::json;

use crate::chain::{self, Retired};
use crate::checkpoints::{self, CheckpointError};
use crate::journal::Journal;
use crate::layout::Layout;
use crate::reader::{ReadError, Reader};
use crate::receipt::AppendError;
use crate::record::NewRecord;
use crate::segment;
use crate::tree::{Tree, TreeError};
use files::private;

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
    /// That something goes could not be recorded, so nothing went.
    #[error(transparent)]
    Append(#[from] AppendError),
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

/// Deletes the sealed segments that `rule` lets go, oldest first, until one must stay, and blobs
/// that no record names any more. That they go is recorded first.
///
/// # Errors
/// If something is damaged or the disk fails. Each deletion is complete in itself; the next run
/// takes up where this one stopped.
pub fn retire(journal: &Journal, rule: RetentionRule) -> Result<RetentionOutcome, RetentionError> {
    let _one_at_a_time = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    journal.check_health()?;
    let reader = Reader::of(journal);
    // The hashes stay, so that what was signed can still be proved.
    Tree::open(&reader)?;
    let segments = plan(&reader, rule)?;
    if segments.is_empty() {
        return Ok(RetentionOutcome::default());
    }
    record(journal, &segments)?;
    let known = chain::read_retired(reader.layout());
    let known = known.map_err(|error| io_error(&reader.layout().retired(), error))?;
    for retired in &segments {
        delete(reader.layout(), retired, known.contains(retired))?;
    }
    let blobs = sweep_blobs(journal, &reader)?;
    Ok(RetentionOutcome { segments, blobs })
}

/// Only who has the journal open can retire, which is one process; this makes it one thread.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The segments that may go.
fn plan(reader: &Reader, rule: RetentionRule) -> Result<Vec<Retired>, RetentionError> {
    let signed = checkpoints::read(reader.layout())?.last().map_or(0, |it| it.size);
    let numbers = reader.segments()?;
    let mut segments = Vec::new();
    for number in numbers.split_last().map_or(&[][..], |(_, sealed)| sealed) {
        let path = segment::path(&reader.layout().segments(), *number);
        let damaged = |why: String| RetentionError::Damaged { segment: *number, why };
        let bytes = segment::read(&path).map_err(|error| io_error(&path, error))?;
        let checked = segment::check(&bytes)
            .ok_or_else(|| damaged("the header cannot be read".to_owned()))?;
        if let Some(broken) = checked.broken {
            return Err(damaged(broken.why));
        }
        let Some(seal) = checked.seal else { break };
        // Only what a signature covers may go: its head is then beyond doubt.
        if checked.next_idx > signed || !is_older(&bytes, rule.before) {
            break;
        }
        segments.push(Retired {
            segment: *number,
            first: checked.header.first,
            count: seal.count,
            head: seal.head,
            root: seal.root,
        });
    }
    Ok(segments)
}

fn record(journal: &Journal, segments: &[Retired]) -> Result<(), RetentionError> {
    let (Ok(kind), Some(last)) = (Kind::parse("journal_retired"), segments.last()) else {
        return Ok(());
    };
    let records: u64 = segments.iter().map(|it| it.count).sum();
    let content = json!({
        "head": last.head, "records": records, "segments": segments.len(), "through": last.segment,
    });
    journal.append(NewRecord::of_host(RecordType::FileDelete, kind, content))?;
    Ok(())
}

fn delete(layout: &Layout, retired: &Retired, head_is_kept: bool) -> Result<(), RetentionError> {
    if !head_is_kept {
        let path = layout.retired();
        let io = |error| io_error(&path, error);
        let line = serde_json::to_vec(retired).map_err(|error| io(error.into()))?;
        // The head first: a head too many is harmless, one too few is a broken chain.
        private::append_line(&path, &line).map_err(io)?;
    }
    let path = segment::path(&layout.segments(), retired.segment);
    let removed = fs::remove_file(&path).and_then(|()| private::sync_parent(&path));
    removed.map_err(|error| io_error(&path, error))
}

/// Is every record in the segment older than `before`?
fn is_older(bytes: &[u8], before: i64) -> bool {
    let Ok((_, mut walk)) = segment::Walk::begin(bytes) else { return false };
    let older = |entry: &[u8]| {
        let ts = segment::entry_ts(entry).and_then(|it| std::str::from_utf8(it).ok());
        ts.and_then(timestamp::to_unix).is_some_and(|ts| ts < before)
    };
    while let Some(Ok(item)) = walk.next() {
        if let segment::Item::Entry { audit, .. } = item
            && !older(audit)
        {
            return false;
        }
    }
    true
}

/// Deletes blobs that no record names. Which are named is read from the segments: what deletes
/// evidence does not believe the index.
fn sweep_blobs(journal: &Journal, reader: &Reader) -> Result<u64, RetentionError> {
    let blobs = journal.blobs();
    let io = |error| io_error(&reader.layout().blobs(), error);
    let mut loose: BTreeSet<Digest> = blobs.list().map_err(io)?.into_iter().collect();
    let numbers = reader.segments()?;
    let newest = numbers.last().copied().unwrap_or(0);
    let sealed: Vec<u64> = numbers.into_iter().filter(|it| *it < newest).collect();
    forget_named(reader, &sealed, &mut loose)?;
    // Producers of blobs wait from here on, so only what came meanwhile is left to be read.
    let _settled = journal.settle_blobs();
    let rest: Vec<u64> = reader.segments()?.into_iter().filter(|it| *it >= newest).collect();
    forget_named(reader, &rest, &mut loose)?;
    for blob in &loose {
        blobs.remove(blob).map_err(io)?;
    }
    Ok(loose.len() as u64)
}

/// Takes the blobs that records in these segments name out of `loose`.
fn forget_named(
    reader: &Reader,
    numbers: &[u64],
    loose: &mut BTreeSet<Digest>,
) -> Result<(), RetentionError> {
    let (checked, damages) = chain::check_contents(reader.layout(), numbers, &BTreeSet::new());
    if let Some(damage) = damages.into_iter().next() {
        let segment = damage.segment.unwrap_or(0);
        return Err(RetentionError::Damaged { segment, why: damage.what });
    }
    for (number, checked) in &checked {
        if let Some(broken) = &checked.broken {
            let why = broken.why.clone();
            return Err(RetentionError::Damaged { segment: *number, why });
        }
        for (_, claim) in &checked.blobs {
            loose.remove(&claim.blob);
        }
    }
    Ok(())
}

fn io_error(path: &Path, error: io::Error) -> RetentionError {
    RetentionError::Io { path: path.display().to_string(), error }
}
