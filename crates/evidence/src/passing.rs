//! One record by somebody who passes: a program that lives for a moment and writes to a journal that nobody has open.
//!
//! Where the journal stands is noted and signed, so that no more of it is read than its end. The record is as durable
//! as any other; the list of checkpoints and the note are not waited for.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;

use aegx::audit::AuditEntry;
use aegx::{Digest, timestamp};

use crate::blobs::Blobs;
use crate::checkpoints::{CheckpointError, Checkpoints};
use crate::clean::{Clean, Standing};
use crate::journal::{Config, Journal};
use crate::layout::Layout;
use crate::lock::Lock;
use crate::queue::Buffers;
use crate::receipt::{AppendError, Receipt};
use crate::record::{self, NewRecord, Phase};
use crate::recovery::{self, OpenError};
use crate::segment::{self, NUMBER_MAX};
use crate::writer::{ENTRY_BYTES_MAX, Ready, Tip, Writer};
use files::private;

/// Why a record of one who passed is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassingError {
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The record could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Appends one record to a journal that nobody else has open, durable when this returns.
///
/// Other than [`Journal::open`] it does not verify what is there: [`crate::verify`] does. Where the journal was left
/// in another way than it is noted, it is opened in full and mended.
///
/// # Errors
/// If another process has the journal open, if it is damaged, if the record is malformed or if the disk failed.
pub fn append_passing(config: &Config, new: NewRecord) -> Result<Receipt, PassingError> {
    if let Some(passing) = Passing::begin(config)? {
        return Ok(passing.append(config, new)?);
    }
    let (journal, _) = Journal::open(config)?;
    let receipt = journal.append(new)?;
    journal.close()?;
    Ok(receipt)
}

/// A journal that stands as it was noted, locked.
struct Passing {
    writer: Writer,
    next_seq: u64,
    _lock: Lock,
}

impl Passing {
    /// `None` if it takes a whole start.
    fn begin(config: &Config) -> Result<Option<Self>, OpenError> {
        recovery::check_segment_bytes(config)?;
        let layout = Layout::new(&config.dir);
        if !layout.segments().is_dir() {
            return Ok(None);
        }
        let io = |error| OpenError::io(layout.root(), error);
        layout.create().map_err(io)?;
        let lock = Lock::take(&layout)?;
        let Some(mut note) = Clean::read(&layout).map_err(io)? else { return Ok(None) };
        let Some(standing) = note.standing.take() else { return Ok(None) };
        let signed = Some(&standing.checkpoint);
        let checkpoints = Checkpoints::open(&layout, &config.disk, &standing.journal, signed)?;
        let Some(tip) = tip(&note, &standing, &checkpoints) else { return Ok(None) };
        // A list that says more than the note is of a journal that held more.
        let newest = checkpoints.newest_listed().map_err(io)?;
        if newest.is_none_or(|it| it.size != standing.listed.0) {
            return Ok(None);
        }
        let Some(file) = at_its_end(&layout, &tip).map_err(io)? else { return Ok(None) };
        let next_seq = standing.seq.max(config.clock.unix_micros());
        let ready = Ready {
            file,
            tip,
            checkpoints,
            last_checkpoint: standing.listed,
            newest: Some(standing.checkpoint.clone()),
            layout,
        };
        let writer = Writer::new(config, ready);
        if note.is_last_word {
            // From now on there may be something behind it.
            note.is_last_word = false;
            note.standing = Some(standing);
            note.write(&writer.layout).map_err(|error| OpenError::io(&config.dir, error))?;
        }
        Ok(Some(Self { writer, next_seq, _lock: lock }))
    }

    fn append(mut self, config: &Config, new: NewRecord) -> Result<Receipt, AppendError> {
        let failed = |why: &dyn std::fmt::Display| AppendError::Poisoned { why: why.to_string() };
        let seconds = config.clock.unix_seconds();
        let (prepared, blob) = record::prepare(new, Phase::Single, self.next_seq, seconds)?;
        if let Some(blob) = blob {
            let blobs = Blobs::new(self.writer.layout.blobs());
            blobs.put(&blob.name, &blob.bytes).map_err(|error| failed(&error))?;
        }
        let (idx, id) = (self.writer.tip.next_idx, prepared.facts.id);
        let mut buffers = Buffers::default();
        buffers.push(prepared);
        self.writer.write(&buffers).map_err(|error| failed(&error))?;
        self.leave(seconds).map_err(|error| failed(&error))?;
        Ok(Receipt::new(idx, id, self.next_seq))
    }

    /// Signs and notes where the journal stands now.
    fn leave(&mut self, seconds: i64) -> Result<(), CheckpointError> {
        let Self { writer, next_seq, .. } = self;
        let root = writer.tip.frontier.root();
        let ts = timestamp::from_unix(seconds);
        let checkpoint = writer.checkpoints.sign(writer.tip.next_idx, root, &ts)?;
        if writer.is_due() {
            writer.checkpoints.keep(&checkpoint)?;
            writer.last_checkpoint = (checkpoint.size, seconds);
        }
        let listed = writer.last_checkpoint;
        let standing = Standing::of(&writer.tip, next_seq.saturating_add(1), checkpoint, listed);
        let note = Clean { is_last_word: false, ..Clean::of(&writer.tip, standing) };
        // An old note makes the next start verify more; the record is there.
        let _old = note.write_over(&writer.layout);
        Ok(())
    }
}

/// Where the note says that the journal stands, if that was signed.
fn tip(note: &Clean, standing: &Standing, checkpoints: &Checkpoints) -> Option<Tip> {
    let frontier = standing.frontier(note.size)?;
    let signed = checkpoints.verify(&standing.checkpoint).ok()?;
    let is_signed = signed.size() == note.size && signed.root() == frontier.root();
    let is_begun = standing.first < note.size;
    let countable = [note.segment, note.end, standing.seq].iter().all(|it| *it <= NUMBER_MAX);
    // Who says that more is on the list than there is would keep the list from growing.
    let is_listed = standing.listed.0 <= note.size;
    (is_signed && is_begun && countable && is_listed).then_some(())?;
    Some(Tip {
        journal: standing.journal.clone(),
        segment: note.segment,
        segment_first: standing.first,
        offset: note.end,
        next_idx: note.size,
        head: Digest::from_hex(note.head.as_bytes())?,
        frontier,
        open: std::collections::BTreeMap::new(),
    })
}

/// The segment, if it ends there with the entry that was noted and none comes after it.
fn at_its_end(layout: &Layout, tip: &Tip) -> io::Result<Option<std::fs::File>> {
    let segments = layout.segments();
    if segment::path(&segments, tip.segment + 1).exists() {
        return Ok(None);
    }
    let path = segment::path(&segments, tip.segment);
    let file = private::open_with(&path, OpenOptions::new().read(true).write(true))?;
    let start = tip.offset.saturating_sub(ENTRY_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(tip.offset - start).unwrap_or(0)];
    let mut behind = [0; BEHIND_BYTES];
    file.read_at(&mut behind, tip.offset)?;
    let ends = file.read_exact_at(&mut bytes, start).is_ok() && behind == [0; BEHIND_BYTES];
    let header = segment::read_header(&path)?;
    let is_it = header.is_some_and(|it| {
        it.first == tip.segment_first && it.segment == tip.segment && it.journal == tip.journal
    });
    Ok((ends && is_it && is_last_entry(&bytes, tip)).then_some(file))
}

/// How much is looked at behind the end: what a crash left of a record reaches further only if its beginning was lost
/// and more than a page of it was not. A start in full finds that, too.
const BEHIND_BYTES: usize = 8192;

fn is_last_entry(bytes: &[u8], tip: &Tip) -> bool {
    let Some(lines) = bytes.strip_suffix(b"\n") else { return false };
    let begin = memchr::memrchr(b'\n', lines).map_or(0, |it| it + 1);
    let entry = serde_json::from_slice::<AuditEntry>(lines.get(begin..).unwrap_or_default());
    entry.is_ok_and(|it| {
        it.idx.checked_add(1) == Some(tip.next_idx)
            && it.compute_hash() == tip.head
            && it.entry_hash == tip.head.to_string()
    })
}
