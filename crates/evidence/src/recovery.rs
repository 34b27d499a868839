//! Starting: what was there, is it whole, where does the writer go on.
//!
//! Nothing is changed before everything was looked at. A torn tail is cut back to the last whole
//! entry and kept aside; any other damage stops the start.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use aegx::Digest;
use aegx::merkle::Frontier;
use serde::Deserialize;

use crate::blobs::Blobs;
use crate::chain::{self, Damage};
use crate::checkpoints::{self, CheckpointError, Checkpoints, Kept};
use crate::clean::Clean;
use crate::journal::Config;
use crate::layout::Layout;
use crate::lock::Lock;
use crate::receipt::AppendError;
use crate::segment::{self, Checked, Item, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN, Walk};
use crate::torn;
use crate::tree;
use crate::writer::{Ready, Tip};
use files::private;

/// What a start found and did.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Was the journal closed in order, or new?
    pub clean: bool,
    /// A torn tail that was cut off.
    pub cut: Option<Cut>,
    /// Records that a reader had seen and that are not there: a crash took them before they were
    /// durable. None of them was acknowledged.
    pub unknown: u64,
    /// Entries that were closed as interrupted.
    pub interrupted: u64,
    /// Segments that were verified on the way.
    pub verified_segments: u64,
}

/// A torn tail that was cut off. Nothing in it was ever acknowledged.
#[derive(Debug)]
pub struct Cut {
    /// The segment.
    pub segment: u64,
    /// Where in it.
    pub offset: u64,
    /// How much.
    pub bytes: u64,
    /// Where it is kept.
    pub aside: PathBuf,
}

/// Why a journal cannot be opened. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process is writing it.
    #[error("another process has the journal `{dir}` open{holder}")]
    Locked {
        /// The directory.
        dir: String,
        /// Who, if known.
        holder: String,
    },
    /// Something other than the tail is damaged.
    #[error("the journal is damaged and was left as it is: {0}; see `lazaret evidence verify`")]
    Damaged(Damage),
    /// The key or the checkpoints.
    #[error(transparent)]
    Checkpoints(#[from] CheckpointError),
    /// The size of segments is out of range.
    #[error("a segment has {SEGMENT_BYTES_MIN} to {SEGMENT_BYTES_MAX} bytes, not {0}")]
    SegmentBytes(u64),
    /// The first records after the start could not be written.
    #[error("recovered, but cannot record it: {0}")]
    Append(#[from] AppendError),
    /// The disk.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A mistake of ours.
    #[error("please report this: {0}")]
    Internal(String),
}

impl OpenError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.display().to_string(), error }
    }
}

/// Everything the journal needs.
pub(crate) struct Start {
    pub(crate) ready: Ready,
    pub(crate) lock: Lock,
    /// Above the `meta.seq` of every record.
    pub(crate) next_seq: u64,
    pub(crate) recovery: Recovery,
}

/// A start after an orderly end verifies at least the newest segments, up to this much.
const STARTUP_VERIFY_BYTES: u64 = 64 << 20;

pub(crate) fn start(config: &Config) -> Result<Start, OpenError> {
    check_segment_bytes(config)?;
    let layout = Layout::new(&config.dir);
    let io = |error| OpenError::io(layout.root(), error);
    layout.create().map_err(io)?;
    let lock = Lock::take(&layout)?;
    let numbers = segment::list(&layout.segments()).map_err(io)?;
    let (listed, noted) = checkpoints::read_both(&layout)?;
    let newest = noted.as_ref().or(listed.last());
    let signed_size = newest.map_or(0, |it| it.size);

    let Resumed { file, tip, next_seq, checkpoints, recovery } = match numbers.last() {
        None if signed_size > 0 => {
            let what = format!("there are no segments, but {signed_size} records were signed");
            return Err(OpenError::Damaged(Damage::of_journal(what)));
        }
        None => found(&layout, config)?,
        Some(last) => resume(&layout, config, &numbers, *last, newest, noted.as_ref())?,
    };
    Blobs::new(layout.blobs()).sweep().map_err(io)?;
    segment::sweep(&layout.segments()).map_err(io)?;
    let last_checkpoint = (signed_size, config.clock.unix_seconds());
    let newest = newest.cloned();
    let ready = Ready { layout, file, tip, checkpoints, last_checkpoint, newest };
    Ok(Start { ready, lock, next_seq, recovery })
}

pub(crate) fn check_segment_bytes(config: &Config) -> Result<(), OpenError> {
    match config.segment_bytes {
        SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX => Ok(()),
        other => Err(OpenError::SegmentBytes(other)),
    }
}

/// Where the writer goes on.
struct Resumed {
    file: File,
    tip: Tip,
    next_seq: u64,
    checkpoints: Checkpoints,
    recovery: Recovery,
}

/// Begins a new journal.
fn found(layout: &Layout, config: &Config) -> Result<Resumed, OpenError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| OpenError::Internal(error.to_string()))?;
    let mut tip = Tip {
        journal: format!("{:016x}", u64::from_be_bytes(random)),
        segment: 0,
        segment_first: 0,
        offset: 0,
        next_idx: 0,
        head: Digest::ZERO,
        frontier: Frontier::new(),
        open: std::collections::BTreeMap::new(),
    };
    let io = |error| OpenError::io(&layout.segments(), error);
    Clean::remove(layout, &*config.disk).map_err(io)?;
    // The segment first: its header names the journal, which a key is then made for.
    let file = begin_segment(layout, config, &mut tip, 0)?;
    let checkpoints = Checkpoints::open(layout, &config.disk, &tip.journal, None)?;
    checkpoints.publish()?;
    let recovery = Recovery { clean: true, ..Recovery::default() };
    Ok(Resumed { file, tip, next_seq: 0, checkpoints, recovery })
}

fn begin_segment(
    layout: &Layout,
    config: &Config,
    tip: &mut Tip,
    number: u64,
) -> Result<File, OpenError> {
    let header =
        tip.header(number).to_line().map_err(|error| OpenError::Internal(error.to_string()))?;
    let path = segment::path(&layout.segments(), number);
    let file = segment::create(&path, &header, config.segment_bytes, None, &*config.disk)
        .map_err(|error| OpenError::io(&path, error))?;
    tip.segment = number;
    tip.segment_first = tip.next_idx;
    tip.offset = header.len() as u64;
    Ok(file)
}

/// Goes on with a journal that is there.
fn resume(
    layout: &Layout,
    config: &Config,
    numbers: &[u64],
    last: u64,
    signed: Option<&Kept>,
    noted: Option<&Kept>,
) -> Result<Resumed, OpenError> {
    let path = segment::path(&layout.segments(), last);
    let io = |error| OpenError::io(&path, error);
    let clean = Clean::read(layout).map_err(io)?;
    let bytes = segment::read(&path).map_err(io)?;
    let sizes: BTreeSet<u64> = signed.iter().map(|it| it.size).collect();
    let checked = segment::check_noting(&bytes, &sizes).ok_or_else(|| {
        OpenError::Damaged(Damage::at(last, 0, "the header cannot be read".to_owned()))
    })?;
    // Behind the note of one who passed there may be what a crash left: that is no orderly end.
    let clean = clean.filter(|it| it.fits(&checked) || !it.may_be_behind(&checked));
    let clean = clean.filter(|it| it.is_last_word || checked.broken.is_none());
    chain::check_links(layout, numbers, &checked.header).map_err(OpenError::Damaged)?;
    check_end(&checked, clean.as_ref(), signed)?;
    let depth = if clean.is_some() { STARTUP_VERIFY_BYTES } else { u64::MAX };
    let (checked, verified_segments) = check_before(layout, numbers, checked, &sizes, depth)?;
    let next_seq = next_seq(layout, numbers, &bytes).map_err(io)?;
    let checkpoints = Checkpoints::open(layout, &config.disk, &checked.header.journal, signed)?;
    check_signed(&checkpoints, &checked, signed)?;
    let leaves = tree::known_leaves(layout).map_err(io)?;
    if clean.as_ref().is_some_and(|it| it.is_last_word) && leaves > checked.next_idx {
        // After an orderly end everything that anybody has seen is on the disk.
        let what = format!("`tree/` knows of {leaves} records, {} are left", checked.next_idx);
        return Err(OpenError::Damaged(Damage::of_journal(what)));
    }

    // From here on things are changed.
    checkpoints.publish()?;
    let mut recovery =
        Recovery { clean: clean.is_some(), verified_segments, ..Recovery::default() };
    if checked.broken.is_some() {
        recovery.cut = Some(torn::cut(layout, config, last, &bytes, checked.end)?);
    }
    if let Some(noted) = noted {
        // Before the note goes that it stands in.
        checkpoints.keep(noted)?;
    }
    Clean::remove(layout, &*config.disk).map_err(io)?;
    recovery.unknown = leaves.saturating_sub(checked.next_idx);
    if recovery.unknown > 0 {
        tree::forget_behind(layout, checked.next_idx).map_err(io)?;
    }
    let sealed = checked.seal.is_some();
    let mut tip = Tip {
        journal: checked.header.journal.clone(),
        segment: last,
        segment_first: checked.header.first,
        offset: checked.end,
        next_idx: checked.next_idx,
        head: checked.head,
        frontier: checked.frontier,
        open: checked.open,
    };
    let file = if sealed {
        // The crash came between the seal and the next segment.
        begin_segment(layout, config, &mut tip, last + 1)?
    } else {
        private::open_with(&path, OpenOptions::new().read(true).write(true)).map_err(io)?
    };
    Ok(Resumed { file, tip, next_seq, checkpoints, recovery })
}

/// Does the last segment end as it was left, and behind everything that was signed?
fn check_end(
    checked: &Checked,
    clean: Option<&Clean>,
    signed: Option<&Kept>,
) -> Result<(), OpenError> {
    let number = checked.header.segment;
    let damaged = |offset, why: String| Err(OpenError::Damaged(Damage::at(number, offset, why)));
    let signed_size = signed.map_or(0, |it| it.size);
    if checked.next_idx < signed_size {
        let why =
            format!("{} records are left of {signed_size} that were signed", checked.next_idx);
        return damaged(checked.end, why);
    }
    if let Some(broken) = checked.broken.clone().filter(|it| !it.torn_tail || clean.is_some()) {
        return damaged(broken.offset, broken.why);
    }
    if clean.is_some_and(|clean| !clean.fits(checked)) {
        let why = "it does not end where its orderly end was noted".to_owned();
        return damaged(checked.end, why);
    }
    Ok(())
}

/// Are the records those of the newest checkpoint? Nothing is signed on top of a history that is
/// not the one that was signed before.
fn check_signed(
    checkpoints: &Checkpoints,
    checked: &Checked,
    signed: Option<&Kept>,
) -> Result<(), OpenError> {
    let Some(kept) = signed else { return Ok(()) };
    let damaged = |why: String| {
        let what = format!("the checkpoint of {}: {why}", kept.size);
        OpenError::Damaged(Damage::of_journal(what))
    };
    let root = checkpoints.verify(kept).map_err(damaged)?.root();
    match checked.roots.get(&kept.size) {
        Some(found) if *found != root => {
            Err(damaged("the records are not those that were signed".to_owned()))
        }
        // Not found if it lies deeper than this start looked.
        _ => Ok(()),
    }
}

/// Above every number that a record of the last run has. The clock alone may have gone back.
fn next_seq(layout: &Layout, numbers: &[u64], last: &[u8]) -> io::Result<u64> {
    if let Some(highest) = highest_seq(last) {
        return Ok(highest.saturating_add(1));
    }
    // The last segment may have just begun.
    let Some(before) = numbers.iter().rev().nth(1) else { return Ok(0) };
    let bytes = segment::read(&segment::path(&layout.segments(), *before))?;
    Ok(highest_seq(&bytes).map_or(0, |highest| highest.saturating_add(1)))
}

fn highest_seq(bytes: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Line {
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        seq: u64,
    }
    let (_, mut walk) = Walk::begin(bytes).ok()?;
    let mut highest = None;
    while let Some(Ok(item)) = walk.next() {
        if let Item::Entry { record, .. } = item
            && let Ok(line) = serde_json::from_slice::<Line>(record)
        {
            highest = highest.max(Some(line.meta.seq));
        }
    }
    highest
}

/// Verifies sealed segments before the last one, newest first, as far as `bytes_max` goes. Gives
/// the last one back, with the roots that were noted, and how many were verified with it.
fn check_before(
    layout: &Layout,
    numbers: &[u64],
    last: Checked,
    sizes: &BTreeSet<u64>,
    bytes_max: u64,
) -> Result<(Checked, u64), OpenError> {
    let mut budget = bytes_max;
    let mut chosen = Vec::new();
    for number in numbers.iter().rev().skip(1) {
        let path = segment::path(&layout.segments(), *number);
        let Some(left) = budget.checked_sub(fs::metadata(path).map_or(0, |it| it.len())) else {
            break;
        };
        budget = left;
        chosen.push(*number);
    }
    let (mut checked, mut damages) = chain::check_contents(layout, &chosen, sizes);
    for (number, checked) in &checked {
        match &checked.broken {
            Some(broken) => damages.push(Damage::at(*number, broken.offset, broken.why.clone())),
            None if checked.seal.is_none() => {
                damages.push(Damage::at(*number, checked.end, "it is not sealed".to_owned()));
            }
            None => {}
        }
    }
    let number = last.header.segment;
    checked.insert(number, last);
    damages.extend(chain::check_joins(&checked));
    damages.sort_by_key(|damage| (damage.segment, damage.offset));
    let count = checked.len() as u64;
    match (damages.into_iter().next(), checked.remove(&number)) {
        (Some(first), _) => Err(OpenError::Damaged(first)),
        (None, Some(mut last)) => {
            last.roots.extend(checked.into_values().flat_map(|it| it.roots));
            Ok((last, count))
        }
        (None, None) => Err(OpenError::Internal("the last segment was not checked".to_owned())),
    }
}
