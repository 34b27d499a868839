//! What writes: takes what waits, writes it, syncs once, answers everybody. A thread does it, or a producer that is alone.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aegx::merkle::{self, Frontier};
use aegx::{Digest, audit, timestamp};

use crate::checkpoints::{Checkpoints, Kept};
use crate::clock::Clock;
use crate::disk::{self, Disk};
use crate::journal::{Config, Durability};
use crate::layout::Layout;
use crate::queue::{Batch, Buffers, Outcome};
use crate::record::EntryChange;
use crate::segment::{self, Header, OpenMark, SEAL_BYTES_MAX, Seal};
use crate::stats::Counters;
use files::private;

/// Where the journal stands.
pub(crate) struct Tip {
    pub(crate) journal: String,
    pub(crate) segment: u64,
    /// Index of the segment's first record.
    pub(crate) segment_first: u64,
    /// Where the next bytes go in it.
    pub(crate) offset: u64,
    pub(crate) next_idx: u64,
    pub(crate) head: Digest,
    pub(crate) frontier: Frontier,
    pub(crate) open: BTreeMap<u64, OpenMark>,
}

/// Set once and never cleared: after a failed write or sync nothing on disk can be assumed.
#[derive(Default)]
pub(crate) struct Health(OnceLock<String>);

impl Health {
    /// Why nothing is taken any more, if so.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.0.get().map_or(Ok(()), |why| Err(why.clone()))
    }

    /// Takes nothing any more, because of `why` or what was before.
    pub(crate) fn poison(&self, why: &dyn std::fmt::Display) -> String {
        self.0.get_or_init(|| why.to_string()).clone()
    }
}

/// When checkpoints are signed without being asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckpointPace {
    pub(crate) records: u64,
    pub(crate) seconds: i64,
}

pub(crate) struct Writer {
    pub(crate) layout: Layout,
    pub(crate) file: File,
    pub(crate) tip: Tip,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) durability: Durability,
    pub(crate) segment_bytes: u64,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) pace: CheckpointPace,
    pub(crate) last_checkpoint: (u64, i64),
    /// The newest checkpoint, if there is one.
    pub(crate) newest: Option<Kept>,
    pub(crate) health: Arc<Health>,
    pub(crate) counters: Arc<Counters>,
    /// The next segment's file, being made.
    pub(crate) room: Option<JoinHandle<io::Result<File>>>,
    /// What is written at once; used again and again.
    pub(crate) buffer: Vec<u8>,
}

/// Where a writer begins.
pub(crate) struct Ready {
    pub(crate) layout: Layout,
    pub(crate) file: File,
    pub(crate) tip: Tip,
    pub(crate) checkpoints: Checkpoints,
    /// Size and time of the last one on the list.
    pub(crate) last_checkpoint: (u64, i64),
    pub(crate) newest: Option<Kept>,
}

/// An audit line with its newline is shorter than this.
pub(crate) const ENTRY_BYTES_MAX: u64 = 384;
/// So is a batch line.
const BATCH_LINE_BYTES_MAX: u64 = 64;

/// The longest wait of a writer that has nothing to do.
const PATIENCE_MAX: Duration = Duration::from_secs(3600);

impl Writer {
    pub(crate) fn new(config: &Config, start: Ready) -> Self {
        let Ready { layout, file, tip, checkpoints, last_checkpoint, newest } = start;
        Self {
            layout,
            file,
            tip,
            disk: Arc::clone(&config.disk),
            clock: Arc::clone(&config.clock),
            durability: config.durability,
            segment_bytes: config.segment_bytes,
            checkpoints,
            pace: CheckpointPace {
                records: config.checkpoint_records,
                seconds: config.checkpoint_seconds,
            },
            last_checkpoint,
            newest,
            health: Arc::default(),
            counters: Arc::default(),
            room: None,
            buffer: Vec::new(),
        }
    }

    /// How long to wait for records before looking whether there is something to sign.
    pub(crate) fn patience(&self) -> Duration {
        let seconds = u64::try_from(self.pace.seconds).unwrap_or(0).max(1);
        if self.is_signed() || self.health.check().is_err() {
            PATIENCE_MAX
        } else {
            Duration::from_secs(seconds).min(PATIENCE_MAX)
        }
    }

    /// Is everything signed that is there?
    pub(crate) fn is_signed(&self) -> bool {
        self.last_checkpoint.0 == self.tip.next_idx
    }

    /// Writes a batch and tells everybody in it how that went.
    pub(crate) fn serve(&mut self, batch: &Batch) -> Outcome {
        let outcome = match self.commit(batch) {
            Ok(checkpoint) => Outcome::Durable { checkpoint },
            Err(why) => Outcome::Failed(why),
        };
        batch.done.tell(outcome.clone());
        if self.room.is_none() && self.tip.offset * 2 > self.segment_bytes {
            self.make_room();
        }
        if batch.buffers.records.len() > 1 {
            // Several producers were just woken and will be back at once. Letting them go
            // first makes one long batch of what would be a short one and a long one.
            thread::yield_now();
        }
        outcome
    }

    /// Makes a batch durable, and signs what it ends if that is wanted.
    fn commit(&mut self, batch: &Batch) -> Result<Option<Kept>, String> {
        self.health.check()?;
        if !batch.buffers.records.is_empty() {
            // INVARIANT (InOrder): who holds a receipt was told this very place.
            if batch.first != self.tip.next_idx {
                return Err(self.health.poison(&"records came out of order; please report this"));
            }
            self.write(&batch.buffers).map_err(|error| self.health.poison(&error))?;
        }
        if batch.wants_checkpoint { self.checkpoint().map(Some) } else { Ok(None) }
    }

    /// Writes and syncs; the tip moves only when both are done.
    pub(crate) fn write(&mut self, buffers: &Buffers) -> io::Result<()> {
        let count = buffers.records.len() as u64;
        let bytes_max = buffers.lines.len() as u64 + count * ENTRY_BYTES_MAX + BATCH_LINE_BYTES_MAX;
        // A segment takes at least one batch, even one that is longer than its room.
        let begun = self.tip.next_idx > self.tip.segment_first;
        if begun && self.tip.offset + bytes_max + SEAL_BYTES_MAX > self.segment_bytes {
            self.rotate()?;
        }
        let first = self.tip.next_idx;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(segment::batch_line(first).as_bytes());
        let mut head = self.tip.head;
        let mut start = 0;
        for (idx, (end, facts)) in (first..).zip(&buffers.records) {
            buffer.extend_from_slice(buffers.lines.get(start..*end).unwrap_or_default());
            head = audit::write_entry(&mut buffer, idx, &facts.ts, &facts.id, &head);
            buffer.push(b'\n');
            start = *end;
        }
        disk::write_all(&*self.disk, &self.file, &buffer, self.tip.offset)?;
        self.sync()?;

        self.tip.offset += buffer.len() as u64;
        self.tip.next_idx += count;
        self.tip.head = head;
        for (_, facts) in &buffers.records {
            self.tip.frontier.push(merkle::leaf_hash(&facts.id));
            self.tip.track(&facts.entry);
        }
        self.counters.batch(count, buffer.len() as u64);
        self.buffer = buffer;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        match self.durability {
            Durability::Synced => {
                self.counters.sync();
                self.disk.sync(&self.file)
            }
            Durability::DangerouslyUnsynced => Ok(()),
        }
    }

    /// Seals the segment and begins the next.
    fn rotate(&mut self) -> io::Result<()> {
        let seal = Seal {
            sealed: self.tip.segment,
            count: self.tip.next_idx - self.tip.segment_first,
            head: self.tip.head.to_string(),
            root: self.tip.frontier.root().to_string(),
        };
        let line = seal.to_line()?;
        disk::write_all(&*self.disk, &self.file, &line, self.tip.offset)?;
        self.file.set_len(self.tip.offset + line.len() as u64)?;
        self.disk.sync_all(&self.file)?;

        let number = self.tip.segment + 1;
        let header = self.tip.header(number).to_line()?;
        let room = match self.room.take() {
            None => None,
            Some(making) => {
                Some(making.join().map_err(|_| io::Error::other("making room for a segment"))??)
            }
        };
        let path = segment::path(&self.layout.segments(), number);
        let bytes = match self.durability {
            Durability::Synced => self.segment_bytes,
            Durability::DangerouslyUnsynced => 0,
        };
        self.file = segment::create(&path, &header, bytes, room, &*self.disk)?;
        self.tip.segment = number;
        self.tip.segment_first = self.tip.next_idx;
        self.tip.offset = header.len() as u64;
        Ok(())
    }

    /// Makes the next segment's file in the background.
    fn make_room(&mut self) {
        let target = segment::path(&self.layout.segments(), self.tip.segment + 1);
        if self.durability == Durability::DangerouslyUnsynced {
            // Zeros only make syncs cheap.
            return;
        }
        let bytes = self.segment_bytes;
        let disk = Arc::clone(&self.disk);
        let making = move || segment::zero_fill(&segment::room_path(&target), bytes, &*disk);
        self.room = thread::Builder::new().name("journal-room".to_owned()).spawn(making).ok();
    }

    /// Waits for room that is being made and will not be needed: when the journal is closed nobody
    /// may still be writing in its directory.
    pub(crate) fn discard_room(&mut self) {
        if let Some(making) = self.room.take() {
            let _ = making.join();
            let next = segment::path(&self.layout.segments(), self.tip.segment + 1);
            // The next start removes what cannot be removed now.
            let _ = private::remove(&segment::room_path(&next));
        }
    }

    /// Is it time for a checkpoint?
    pub(crate) fn is_due(&self) -> bool {
        let (size, at) = self.last_checkpoint;
        let behind = self.tip.next_idx.saturating_sub(size);
        // A clock that was set back is no reason to sign nothing until it has caught up.
        let age = self.clock.unix_seconds().abs_diff(at);
        let old = age >= u64::try_from(self.pace.seconds).unwrap_or(0);
        behind > 0 && (behind >= self.pace.records || old)
    }

    /// Signs what is there if it is time for that.
    pub(crate) fn keep_pace(&mut self) {
        if self.is_due() {
            // If it fails the journal is poisoned, which everybody will hear.
            let _ = self.checkpoint();
        }
    }

    /// Signs what is there now.
    pub(crate) fn checkpoint(&mut self) -> Result<Kept, String> {
        self.health.check()?;
        let now = self.clock.unix_seconds();
        let root = self.tip.frontier.root();
        let signed = self.checkpoints.sign(self.tip.next_idx, root, &timestamp::from_unix(now));
        let kept = signed.and_then(|it| self.checkpoints.keep(&it).map(|()| it));
        let kept = kept.map_err(|error| self.health.poison(&error))?;
        self.last_checkpoint = (self.tip.next_idx, now);
        self.newest = Some(kept.clone());
        Ok(kept)
    }
}

impl Tip {
    /// Keeps the list of open entries.
    fn track(&mut self, change: &EntryChange) {
        match change {
            EntryChange::None => {}
            EntryChange::Opens(mark) => {
                self.open.insert(mark.entry, OpenMark::clone(mark));
            }
            EntryChange::Closes(entry) => {
                self.open.remove(entry);
            }
        }
    }

    /// The header of a segment that begins here.
    pub(crate) fn header(&self, segment: u64) -> Header {
        Header {
            segment,
            journal: self.journal.clone(),
            first: self.next_idx,
            head: self.head.to_string(),
            peaks: self.frontier.peaks().iter().map(Digest::to_string).collect(),
            open: self.open.values().cloned().collect(),
        }
    }
}
