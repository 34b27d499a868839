//! The journal: what everybody appends to and nobody waits for longer than one sync.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};
use std::thread::{self, JoinHandle};

use aegx::{Digest, RecordType};
use model::{AgentId, Kind, SessionId};
use serde_json::json;

use crate::blobs::Blobs;
use crate::checkpoints::Kept;
use crate::clean::{Clean, Standing};
use crate::clock::{Clock, SystemClock};
use crate::disk::{Disk, RealDisk};
use crate::entry::OpenEntry;
use crate::layout::Layout;
use crate::lock::Lock;
use crate::pen::Pen;
use crate::queue::{Outcome, Queue};
use crate::receipt::{AppendError, Receipt};
use crate::record::{self, BlobToWrite, NewRecord, Phase, Prepared};
use crate::recovery::{self, OpenError, Recovery, Start};
use crate::redact::Redaction;
use crate::segment::{OpenMark, SEGMENT_BYTES_DEFAULT};
use crate::stats::{Counters, WriterStats};
use crate::writer::{Health, Writer};

/// How to open a journal.
#[derive(Clone)]
pub struct Config {
    /// Its directory.
    pub dir: PathBuf,
    /// Room of a segment.
    pub segment_bytes: u64,
    /// Whether `append` waits for the disk.
    pub durability: Durability,
    /// Records that may wait for the writer, and so the longest batch; then producers wait.
    pub queue_records: usize,
    /// A checkpoint is signed after this many records…
    pub checkpoint_records: u64,
    /// …or when the last one is this old and there is something new.
    pub checkpoint_seconds: i64,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// What writes and syncs.
    pub disk: Arc<dyn Disk>,
}

impl Config {
    /// The defaults, for a journal in `dir`.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            segment_bytes: SEGMENT_BYTES_DEFAULT,
            durability: Durability::Synced,
            queue_records: 1024,
            checkpoint_records: 10_000,
            checkpoint_seconds: 60,
            clock: Arc::new(SystemClock),
            disk: Arc::new(RealDisk),
        }
    }
}

/// Whether a receipt means that the record survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It does.
    Synced,
    /// It does not, and `append` does not even wait for the writer: for benchmarks only. A failure
    /// shows in a later append or in `close`.
    DangerouslyUnsynced,
}

/// The most entries that can be open at once: each segment's header lists them.
pub const OPEN_ENTRIES_MAX: usize = 2048;

/// An open journal. Share it by reference; closing it ends the writer.
pub struct Journal {
    queue: Arc<Queue>,
    pen: Arc<Pen>,
    writer: Mutex<Option<JoinHandle<()>>>,
    health: Arc<Health>,
    counters: Arc<Counters>,
    blobs: Blobs,
    /// Held from a blob's writing until the record that names it is durable, so that nobody takes
    /// the blob for one that no record names.
    blobs_in_flight: RwLock<()>,
    clock: Arc<dyn Clock>,
    next_seq: AtomicU64,
    open_entries: AtomicUsize,
    pub(crate) redaction: Redaction,
    layout: Layout,
    _lock: Lock,
}

/// A record with what is kept beside it, and its number.
type ToWrite = (Prepared, Option<BlobToWrite>, u64);

impl Journal {
    /// Opens the journal, mends what a crash left, and starts the writer.
    ///
    /// # Errors
    /// If another process has it open, or if anything but its tail is damaged; then no byte of it
    /// was changed.
    pub fn open(config: &Config) -> Result<(Self, Recovery), OpenError> {
        let Start { ready, lock, next_seq, mut recovery } = recovery::start(config)?;
        let layout = ready.layout.clone();
        let writer = Writer::new(config, ready);
        let (health, counters) = (Arc::clone(&writer.health), Arc::clone(&writer.counters));
        let blobs = Blobs::new(layout.blobs());
        let unclosed: Vec<OpenMark> = writer.tip.open.values().cloned().collect();
        let queue =
            Arc::new(Queue::new(config.queue_records, writer.tip.next_idx, config.durability));
        let pen = Arc::new(Pen::new(writer));
        let (commands, writing) = (Arc::clone(&queue), Arc::clone(&pen));
        let thread = thread::Builder::new().name("journal-writer".to_owned());
        let writer = thread
            .spawn(move || writing.run(&commands))
            .map_err(|error| OpenError::io(layout.root(), error))?;
        let journal = Self {
            queue,
            pen,
            writer: Mutex::new(Some(writer)),
            health,
            counters,
            blobs,
            blobs_in_flight: RwLock::default(),
            // In order and unique among all runs, even if the clock went back between them.
            next_seq: AtomicU64::new(next_seq.max(config.clock.unix_micros())),
            clock: Arc::clone(&config.clock),
            open_entries: AtomicUsize::new(unclosed.len()),
            redaction: Redaction::default(),
            layout,
            _lock: lock,
        };
        journal.account_for(&unclosed, &mut recovery)?;
        Ok((journal, recovery))
    }

    /// Appends a record and waits until it is durable.
    ///
    /// # Errors
    /// If the record is malformed or the disk failed. Then it does not count as recorded.
    pub fn append(&self, new: NewRecord) -> Result<Receipt, AppendError> {
        self.write(new, Phase::Single)
    }

    /// Appends a record without waiting for the disk, as long as its content stands in it: it is durable no later than the
    /// next one that is waited for, and soon by itself. If it cannot be written, nothing after it is.
    ///
    /// # Errors
    /// If the record is malformed or the disk failed before.
    pub fn post(&self, new: NewRecord) -> Result<Digest, AppendError> {
        let (prepared, blob, seq) = self.prepare(new, Phase::Single)?;
        if blob.is_some() {
            return Ok(self.settle(prepared, blob, seq)?.id());
        }
        let id = prepared.facts.id;
        self.queue.post(prepared)?;
        Ok(id)
    }

    /// Waits until everything that was posted is durable.
    ///
    /// # Errors
    /// If the disk failed.
    pub fn flush(&self) -> Result<(), AppendError> {
        match self.queue.flush(&self.pen)? {
            Outcome::Durable { .. } => self.check_health(),
            Outcome::Failed(why) => Err(AppendError::Poisoned { why }),
        }
    }

    /// Appends a record that must be followed by a closing one.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn open_entry(&self, new: NewRecord) -> Result<OpenEntry<&Self>, AppendError> {
        Self::open_entry_in(self, new)
    }

    /// As [`Journal::open_entry`], for an entry that outlives the function which opens it.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn open_entry_owned(
        self: &Arc<Self>,
        new: NewRecord,
    ) -> Result<OpenEntry<Arc<Self>>, AppendError> {
        Self::open_entry_in(Arc::clone(self), new)
    }

    fn open_entry_in<J: Deref<Target = Self>>(
        journal: J,
        new: NewRecord,
    ) -> Result<OpenEntry<J>, AppendError> {
        let session = new.session.clone();
        let agent = new.agent.clone();
        if journal.open_entries.fetch_add(1, Ordering::Relaxed) >= OPEN_ENTRIES_MAX {
            journal.open_entries.fetch_sub(1, Ordering::Relaxed);
            return Err(AppendError::TooManyOpen);
        }
        let receipt = journal.write(new, Phase::Open).inspect_err(|_| {
            journal.open_entries.fetch_sub(1, Ordering::Relaxed);
        })?;
        Ok(OpenEntry::new(journal, receipt, session, agent))
    }

    /// Signs a checkpoint of everything that is durable now.
    ///
    /// # Errors
    /// If the disk failed.
    pub fn checkpoint(&self) -> Result<Kept, AppendError> {
        match self.queue.checkpoint()? {
            Outcome::Durable { checkpoint: Some(kept), .. } => Ok(kept),
            Outcome::Durable { checkpoint: None, .. } => Err(AppendError::Closed),
            Outcome::Failed(why) => Err(AppendError::Poisoned { why }),
        }
    }

    /// What the writer did since it was started.
    #[must_use]
    pub fn writer_stats(&self) -> WriterStats {
        self.counters.read()
    }

    /// Fails if the disk did.
    pub(crate) fn check_health(&self) -> Result<(), AppendError> {
        self.health.check().map_err(|why| AppendError::Poisoned { why })
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Waits until every blob is named by a durable record; none is written while this is held.
    pub(crate) fn settle_blobs(&self) -> RwLockWriteGuard<'_, ()> {
        self.blobs_in_flight.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Ends in order: waits for the writer, signs a checkpoint, notes where the journal ended.
    ///
    /// # Errors
    /// If the disk failed; the next start then recovers.
    pub fn close(mut self) -> Result<(), AppendError> {
        self.end()
    }

    pub(crate) fn write(&self, new: NewRecord, phase: Phase) -> Result<Receipt, AppendError> {
        let (prepared, blob, seq) = self.prepare(new, phase)?;
        let receipt = self.settle(prepared, blob, seq)?;
        if matches!(phase, Phase::Close { .. }) {
            self.open_entries.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(receipt)
    }

    fn prepare(&self, new: NewRecord, phase: Phase) -> Result<ToWrite, AppendError> {
        self.check_health()?;
        let seq = self.next_seq.fetch_add(1, Ordering::Relaxed);
        let (new, now) = (self.redaction.apply(new), self.clock.unix_seconds());
        let (prepared, blob) = record::prepare(new, phase, seq, now)?;
        Ok((prepared, blob, seq))
    }

    /// Has a record written, and waits until it is durable.
    fn settle(
        &self,
        prepared: Prepared,
        blob: Option<BlobToWrite>,
        seq: u64,
    ) -> Result<Receipt, AppendError> {
        let in_flight = blob
            .is_some()
            .then(|| self.blobs_in_flight.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(blob) = blob {
            // The blob first: a record never names what is not there.
            let put = self.blobs.put(&blob.name, &blob.bytes);
            put.map_err(|error| AppendError::Poisoned {
                why: self.health.poison(&format!("blob {}: {error}", blob.name)),
            })?;
        }
        let id = prepared.facts.id;
        let (idx, outcome) = self.queue.append(prepared, &self.pen)?;
        drop(in_flight);
        match outcome {
            Outcome::Durable { .. } => Ok(Receipt::new(idx, id, seq)),
            Outcome::Failed(why) => Err(AppendError::Poisoned { why }),
        }
    }

    /// Closes what a crash left open, and records that there was one.
    fn account_for(&self, unclosed: &[OpenMark], recovery: &mut Recovery) -> Result<(), OpenError> {
        for mark in unclosed {
            let mut record = NewRecord::of_host(
                RecordType::ToolResult,
                kind("interrupted")?,
                json!({ "status": "interrupted" }),
            );
            record.parents = Digest::from_hex(mark.id.as_bytes()).into_iter().collect();
            record.session = mark.session.as_deref().and_then(|it| SessionId::parse(it).ok());
            record.agent = mark.agent.as_deref().and_then(|it| AgentId::parse(it).ok());
            self.write(record, Phase::Close { entry: mark.entry })?;
            recovery.interrupted += 1;
        }
        if let Some(cut) = &recovery.cut {
            let content = json!({
                "aside": cut.aside.file_name().map(|it| it.to_string_lossy()),
                "bytes": cut.bytes,
                "offset": cut.offset,
                "segment": cut.segment,
            });
            let record =
                NewRecord::of_host(RecordType::Rollback, kind("journal_tail_cut")?, content);
            self.append(record)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), AppendError> {
        self.queue.close();
        let handle = self.writer.get_mut().ok().and_then(Option::take);
        let Some(handle) = handle else { return Ok(()) };
        handle.join().map_err(|_| AppendError::Closed)?;
        let mut writer = self.pen.hold();
        let failed = |why| AppendError::Poisoned { why };
        self.health.check().map_err(failed)?;
        if !writer.is_signed() {
            writer.checkpoint().map_err(failed)?;
        }
        let seq = self.next_seq.load(Ordering::Relaxed);
        let newest = writer.newest.take();
        let standing =
            newest.and_then(|it| Standing::of(&writer.tip, seq, it, writer.last_checkpoint));
        let noted = Clean::of(&writer.tip, standing).write(&self.layout);
        noted.map_err(|error| failed(self.health.poison(&error)))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Nobody is left to tell; a start that finds no clean end recovers.
        let _ = self.end();
    }
}

fn kind(name: &str) -> Result<Kind, OpenError> {
    Kind::parse(name).map_err(|error| OpenError::Internal(error.to_string()))
}
