//! What waits for the writer: one batch that is being formed while another is being written.
//!
//! Everybody in a batch is woken by one call when it is durable, so that many producers cost
//! little more than one. A producer that is alone writes its record itself: waking the thread that writes,
//! and being woken by it, takes longer than the writing. What nobody waits for is written with the next record that somebody
//! waits for, or soon by itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::checkpoints::Kept;
use crate::journal::Durability;
use crate::pen::{self, Pen};
use crate::record::{Facts, Prepared};

/// Records on their way to the writer, bounded.
pub(crate) struct Queue {
    forming: Mutex<Forming>,
    /// There is something to write, or nothing will come any more.
    work: Condvar,
    /// There is room in the batch again.
    room: Condvar,
    records_max: usize,
    durability: Durability,
    /// A hint that there is something to write; the truth is in `forming`.
    formed: AtomicBool,
}

/// A batch is at most about this long, however many records that is.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// So long a record for which nobody waits may lie there.
const SOON: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Forming {
    batch: Batch,
    /// Index of the record that comes next.
    next_idx: u64,
    /// Buffers to use again.
    spare: Buffers,
    /// The thread that writes sleeps until it is woken. Waking one that is awake costs as much.
    writer_sleeps: bool,
    /// Somebody waits for the batch.
    awaited: bool,
    /// When its first record came.
    since: Option<Instant>,
    /// The thread is to look whether a checkpoint is due.
    is_nudged: bool,
    closed: bool,
}

/// Records that are written and synced together.
#[derive(Default)]
pub(crate) struct Batch {
    /// Index of its first record.
    pub(crate) first: u64,
    pub(crate) buffers: Buffers,
    /// Does somebody want a checkpoint behind it?
    pub(crate) wants_checkpoint: bool,
    pub(crate) done: Arc<Done>,
}

/// The records of a batch. Their lines are copied together here, so that every producer frees what
/// it allocated and the buffers are used again.
#[derive(Default)]
pub(crate) struct Buffers {
    /// The lines, each with its newline.
    pub(crate) lines: Vec<u8>,
    /// For each record, where its line ends.
    pub(crate) records: Vec<(usize, Facts)>,
}

impl Buffers {
    pub(crate) fn push(&mut self, record: Prepared) {
        self.lines.extend_from_slice(&record.line);
        self.lines.push(b'\n');
        self.records.push((self.lines.len(), record.facts));
    }
}

/// Tells everybody in a batch how it went.
#[derive(Default)]
pub(crate) struct Done {
    outcome: Mutex<Option<Outcome>>,
    told: Condvar,
}

/// How a batch went.
#[derive(Clone)]
pub(crate) enum Outcome {
    /// It is durable.
    Durable {
        /// The checkpoint, if one was wanted.
        checkpoint: Option<Kept>,
    },
    /// It is not, and why.
    Failed(String),
}

/// What the writer got.
pub(crate) enum Taken {
    /// A batch to write.
    Batch(Batch),
    /// Nothing yet.
    Nothing,
    /// Nothing, and nothing will come any more.
    Closed,
}

/// The queue takes nothing any more.
pub(crate) struct Closed;

impl Queue {
    pub(crate) fn new(records_max: usize, next_idx: u64, durability: Durability) -> Self {
        Self {
            forming: Mutex::new(Forming { next_idx, ..Forming::default() }),
            durability,
            formed: AtomicBool::new(false),
            work: Condvar::new(),
            room: Condvar::new(),
            records_max: records_max.max(1),
        }
    }

    /// Puts a record into the batch, waits until the batch is durable, and gives its index.
    ///
    /// INVARIANT (InOrder): batches are taken and written in the order of their records. A producer takes its own only with the
    /// pen in hand and while the thread sleeps; the thread, once awake, is the only one that takes any.
    pub(crate) fn append(&self, record: Prepared, pen: &Pen) -> Result<(u64, Outcome), Closed> {
        let (idx, mut forming, first) = self.put(record)?;
        match self.durability {
            Durability::Synced if !forming.awaited && forming.writer_sleeps => {
                match pen.try_hold() {
                    Some(writer) => {
                        let batch = self.take_formed(&mut forming);
                        drop(forming);
                        Ok((idx, pen::write_alone(writer, batch, self)))
                    }
                    None => Ok((idx, self.wait(forming))),
                }
            }
            Durability::Synced => Ok((idx, self.wait(forming))),
            Durability::DangerouslyUnsynced => {
                // Nothing is promised, so there is nothing to wait for.
                self.wake(forming, first);
                Ok((idx, Outcome::Durable { checkpoint: None }))
            }
        }
    }

    /// Puts a record into the batch and waits for nothing. It is durable when one behind it is, and soon by itself.
    pub(crate) fn post(&self, record: Prepared) -> Result<(), Closed> {
        let (_, forming, first) = self.put(record)?;
        let is_full = self.is_full(&forming.batch);
        self.wake(forming, first || is_full);
        Ok(())
    }

    /// Gives the record's index, and says whether it is the first of its batch.
    fn put(&self, record: Prepared) -> Result<(u64, MutexGuard<'_, Forming>, bool), Closed> {
        let mut forming = self.lock();
        while !forming.closed && self.is_full(&forming.batch) {
            forming = self.room.wait(forming).unwrap_or_else(PoisonError::into_inner);
        }
        if forming.closed {
            return Err(Closed);
        }
        let idx = forming.next_idx;
        forming.next_idx += 1;
        forming.batch.buffers.push(record);
        self.formed.store(true, Ordering::Relaxed);
        let first = forming.batch.buffers.records.len() == 1;
        if first {
            forming.batch.first = idx;
            forming.since = Some(Instant::now());
        }
        Ok((idx, forming, first))
    }

    fn wake(&self, forming: MutexGuard<'_, Forming>, first: bool) {
        let sleeps = forming.writer_sleeps;
        drop(forming);
        if first && sleeps {
            self.work.notify_one();
        }
    }

    /// Asks for a checkpoint of everything before it, and waits for it.
    pub(crate) fn checkpoint(&self) -> Result<Outcome, Closed> {
        let mut forming = self.lock();
        if forming.closed {
            return Err(Closed);
        }
        forming.batch.wants_checkpoint = true;
        Ok(self.wait(forming))
    }

    /// Waits for whatever has formed, and for what is being written.
    pub(crate) fn flush(&self, pen: &Pen) -> Result<Outcome, Closed> {
        let forming = self.lock();
        if forming.closed {
            return Err(Closed);
        }
        if forming.batch.is_empty() {
            drop(forming);
            drop(pen.hold());
            return Ok(Outcome::Durable { checkpoint: None });
        }
        Ok(self.wait(forming))
    }

    /// Waits for a batch to form, but not longer than `patience`. From then on no producer writes by itself until this is called
    /// again.
    pub(crate) fn wait_for_work(&self, patience: Duration) {
        self.linger();
        let (begun, mut forming) = (Instant::now(), self.lock());
        while let Some(left) = self.patience(&forming, begun, patience) {
            forming.writer_sleeps = true;
            let waited = self.work.wait_timeout(forming, left);
            forming = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        forming.writer_sleeps = false;
        forming.is_nudged = false;
    }

    /// How long the thread that writes may go on sleeping; none if there is something to do now.
    fn patience(&self, forming: &Forming, begun: Instant, patience: Duration) -> Option<Duration> {
        let has_to_wake = forming.closed || forming.is_nudged || forming.awaited;
        let left = match (forming.since, self.durability) {
            _ if has_to_wake || self.is_full(&forming.batch) => None,
            (None, _) => patience.checked_sub(begun.elapsed()),
            // Nobody waits for anything then, and it has gathered already.
            (Some(_), Durability::DangerouslyUnsynced) => None,
            (Some(since), Durability::Synced) => SOON.checked_sub(since.elapsed()),
        };
        left.filter(|it| !it.is_zero())
    }

    /// Takes what has formed.
    pub(crate) fn take(&self) -> Taken {
        let mut forming = self.lock();
        if forming.batch.is_empty() {
            return if forming.closed { Taken::Closed } else { Taken::Nothing };
        }
        Taken::Batch(self.take_formed(&mut forming))
    }

    fn take_formed(&self, forming: &mut Forming) -> Batch {
        self.formed.store(false, Ordering::Relaxed);
        (forming.awaited, forming.since) = (false, None);
        let batch = std::mem::take(&mut forming.batch);
        forming.batch.buffers = std::mem::take(&mut forming.spare);
        if self.is_full(&batch) {
            // Only then does anybody wait for room.
            self.room.notify_all();
        }
        batch
    }

    /// Has the thread look whether a checkpoint is due.
    pub(crate) fn nudge(&self) {
        self.lock().is_nudged = true;
        self.work.notify_one();
    }

    /// Stays awake for a moment. A lone producer is back at once with its next record, and waking
    /// the writer for it would take as long as half a sync.
    fn linger(&self) {
        const LINGER: Duration = Duration::from_micros(40);
        const GATHER: Duration = Duration::from_micros(500);
        if self.durability == Durability::DangerouslyUnsynced {
            // Nobody waits, so it may gather for longer, and on a small machine leave the core to others.
            if self.lock().batch.buffers.records.len() < self.records_max / 4 {
                thread::sleep(GATHER);
            }
            return;
        }
        let start = Instant::now();
        while !self.formed.load(Ordering::Relaxed) && start.elapsed() < LINGER {
            thread::yield_now();
        }
    }

    /// Gives the buffers of a batch back to be used again.
    pub(crate) fn give_back(&self, mut batch: Batch) {
        let mut buffers = std::mem::take(&mut batch.buffers);
        buffers.lines.clear();
        buffers.records.clear();
        self.lock().spare = buffers;
    }

    /// Takes nothing any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    fn wait(&self, mut forming: MutexGuard<'_, Forming>) -> Outcome {
        let done = Arc::clone(&forming.batch.done);
        let first = !forming.awaited;
        forming.awaited = true;
        self.wake(forming, first);
        done.wait()
    }

    fn is_full(&self, batch: &Batch) -> bool {
        let Buffers { lines, records } = &batch.buffers;
        records.len() >= self.records_max || lines.len() >= BATCH_BYTES_MAX
    }

    fn lock(&self) -> MutexGuard<'_, Forming> {
        // Nothing in here can panic half-way, so a poisoned lock guards sound data.
        self.forming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.buffers.records.is_empty() && !self.wants_checkpoint
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // Without effect if they know already.
        self.done.tell(Outcome::Failed("the writer stopped".to_owned()));
    }
}

impl Done {
    /// Tells everybody who waits, once.
    pub(crate) fn tell(&self, outcome: Outcome) {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(outcome);
        self.told.notify_all();
    }

    fn wait(&self) -> Outcome {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            outcome = self.told.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
