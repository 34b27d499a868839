//! Starting: what was there, is it whole, where does the writer go on.
//!
//! Nothing is changed before everything was looked at. A torn tail is cut back to the last whole
//! entry and kept aside; any other damage stops the start.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aegx::Digest;
use aegx::merkle::Frontier;
use serde::{Deserialize, Serialize};

use crate::blobs::Blobs;
use crate::chain::{self, Damage};
use crate::checkpoints::{self, CheckpointError, Checkpoints};
use crate::disk;
use crate::journal::{AppendError, Config};
use crate::layout::{self, Layout, create_private_dir};
use crate::segment::{self, Checked, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN};
use crate::writer::Tip;

/// What a start found and did.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Was the journal closed in order, or new?
    pub clean: bool,
    /// A torn tail that was cut off.
    pub cut: Option<Cut>,
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

/// Everything the writer needs.
pub(crate) struct Start {
    pub(crate) layout: Layout,
    pub(crate) lock: File,
    pub(crate) file: File,
    pub(crate) tip: Tip,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) last_checkpoint: (u64, i64),
    pub(crate) recovery: Recovery,
}

/// A start after an orderly end verifies at least the newest segments, up to this much.
const STARTUP_VERIFY_BYTES: u64 = 64 << 20;

/// Where an orderly end left the journal.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Clean {
    segment: u64,
    end: u64,
    size: u64,
    head: String,
}

pub(crate) fn start(config: &Config) -> Result<Start, OpenError> {
    if !(SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&config.segment_bytes) {
        return Err(OpenError::SegmentBytes(config.segment_bytes));
    }
    let layout = Layout::new(&config.dir);
    let io = |error| OpenError::io(layout.root(), error);
    layout.create().map_err(io)?;
    let lock = lock(&layout)?;
    let numbers = segment::list(&layout.segments()).map_err(io)?;
    let kept = checkpoints::read(&layout)?;
    let signed_size = kept.last().map_or(0, |it| it.size);

    let (file, tip, checkpoints, recovery) = match numbers.last() {
        None if signed_size > 0 => {
            let what = format!("there are no segments, but {signed_size} records were signed");
            return Err(OpenError::Damaged(Damage::of_journal(what)));
        }
        None => found(&layout, config.segment_bytes)?,
        Some(last) => resume(&layout, config, &numbers, *last, signed_size)?,
    };
    checkpoints::mend(&layout).map_err(io)?;
    Blobs::new(layout.blobs()).sweep().map_err(io)?;
    let last_checkpoint = (signed_size, config.clock.unix_seconds());
    Ok(Start { layout, lock, file, tip, checkpoints, last_checkpoint, recovery })
}

/// Notes an orderly end.
pub(crate) fn write_clean(layout: &Layout, tip: &Tip) -> io::Result<()> {
    let clean = Clean {
        segment: tip.segment,
        end: tip.offset,
        size: tip.next_idx,
        head: tip.head.to_string(),
    };
    layout::replace(&layout.clean(), &serde_json::to_vec(&clean)?)
}

fn lock(layout: &Layout) -> Result<File, OpenError> {
    let path = layout.lock();
    let io = |error| OpenError::io(&path, error);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(io)?;
    if file.try_lock().is_err() {
        let holder = fs::read_to_string(&path).unwrap_or_default();
        let holder = holder.trim().parse::<u32>().map(|pid| format!(" (process {pid})"));
        return Err(OpenError::Locked {
            dir: layout.root().display().to_string(),
            holder: holder.unwrap_or_default(),
        });
    }
    file.set_len(0).map_err(io)?;
    writeln!(file, "{}", std::process::id()).map_err(io)?;
    Ok(file)
}

/// Begins a new journal.
fn found(
    layout: &Layout,
    segment_bytes: u64,
) -> Result<(File, Tip, Checkpoints, Recovery), OpenError> {
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
    let header = tip.header(0).to_line().map_err(|error| OpenError::Internal(error.to_string()))?;
    let path = segment::path(&layout.segments(), 0);
    let file = segment::create(&path, &header, segment_bytes, None).map_err(io)?;
    tip.offset = header.len() as u64;
    let checkpoints = Checkpoints::open(layout, &tip.journal)?;
    Ok((file, tip, checkpoints, Recovery { clean: true, ..Recovery::default() }))
}

/// Goes on with a journal that is there.
fn resume(
    layout: &Layout,
    config: &Config,
    numbers: &[u64],
    last: u64,
    signed_size: u64,
) -> Result<(File, Tip, Checkpoints, Recovery), OpenError> {
    let clean = read_clean(layout);
    let path = segment::path(&layout.segments(), last);
    let io = |error| OpenError::io(&path, error);
    let bytes = fs::read(&path).map_err(io)?;
    let damaged = |offset, why: String| OpenError::Damaged(Damage::at(last, offset, why));
    let checked =
        segment::check(&bytes).ok_or_else(|| damaged(0, "the header cannot be read".to_owned()))?;

    chain::check_links(layout, numbers, &checked.header).map_err(OpenError::Damaged)?;
    let checkpoints = Checkpoints::open(layout, &checked.header.journal)?;
    if checked.next_idx < signed_size {
        let why =
            format!("{} records are left of {signed_size} that were signed", checked.next_idx);
        return Err(damaged(checked.end, why));
    }
    if let Some(broken) = checked.broken.clone().filter(|it| !it.torn_tail || clean.is_some()) {
        return Err(damaged(broken.offset, broken.why));
    }
    if clean.as_ref().is_some_and(|clean| *clean != found_end(&checked)) {
        let why = "it does not end where its orderly end was noted".to_owned();
        return Err(damaged(checked.end, why));
    }

    let depth = if clean.is_some() { STARTUP_VERIFY_BYTES } else { u64::MAX };
    let (checked, verified_segments) = check_before(layout, numbers, checked, depth)?;

    // From here on things are changed.
    let mut recovery =
        Recovery { clean: clean.is_some(), verified_segments, ..Recovery::default() };
    if checked.broken.is_some() {
        recovery.cut = Some(cut(layout, config, last, &bytes, checked.end)?);
    }
    remove_clean(layout)?;
    let file = OpenOptions::new().read(true).write(true).open(&path).map_err(io)?;
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
    if !sealed {
        return Ok((file, tip, checkpoints, recovery));
    }
    // The crash came between the seal and the next segment.
    let header =
        tip.header(last + 1).to_line().map_err(|error| OpenError::Internal(error.to_string()))?;
    let next = segment::path(&layout.segments(), last + 1);
    let file = segment::create(&next, &header, config.segment_bytes, None).map_err(io)?;
    tip.segment = last + 1;
    tip.segment_first = tip.next_idx;
    tip.offset = header.len() as u64;
    Ok((file, tip, checkpoints, recovery))
}

/// Verifies sealed segments before the last one, newest first, as far as `bytes_max` goes. Gives
/// the last one back, and how many were verified with it.
fn check_before(
    layout: &Layout,
    numbers: &[u64],
    last: Checked,
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
    let (mut checked, mut damages) = chain::check_contents(layout, &chosen, &BTreeSet::new());
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
        (None, Some(last)) => Ok((last, count)),
        (None, None) => Err(OpenError::Internal("the last segment was not checked".to_owned())),
    }
}

fn found_end(checked: &Checked) -> Clean {
    Clean {
        segment: checked.header.segment,
        end: checked.end,
        size: checked.next_idx,
        head: checked.head.to_string(),
    }
}

/// Copies what is behind `end` aside, then makes room of it.
fn cut(
    layout: &Layout,
    config: &Config,
    number: u64,
    bytes: &[u8],
    end: u64,
) -> Result<Cut, OpenError> {
    let start = usize::try_from(end).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or_default();
    let used = rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let torn = rest.get(..used).unwrap_or_default();

    let dir = layout.aside();
    let aside = dir.join(format!("{number:012}-{end}-{}.torn", Digest::of(torn)));
    let io = |error| OpenError::io(&aside, error);
    create_private_dir(&dir).map_err(io)?;
    layout::replace(&aside, torn).map_err(io)?;
    layout::sync_parent(&dir).map_err(io)?;

    let path = segment::path(&layout.segments(), number);
    let io = |error| OpenError::io(&path, error);
    let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
    disk::write_all(&*config.disk, &file, &vec![0; used], end).map_err(io)?;
    config.disk.sync(&file).map_err(io)?;
    Ok(Cut { segment: number, offset: end, bytes: used as u64, aside })
}

fn read_clean(layout: &Layout) -> Option<Clean> {
    serde_json::from_slice(&fs::read(layout.clean()).ok()?).ok()
}

fn remove_clean(layout: &Layout) -> Result<(), OpenError> {
    let path = layout.clean();
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(OpenError::io(&path, error)),
        _ => layout::sync_parent(&path).map_err(|error| OpenError::io(&path, error)),
    }
}
