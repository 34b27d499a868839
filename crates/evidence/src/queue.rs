//! What waits for the writer: one batch that is being formed while another is being written.
//!
//! Everybody in a batch is woken by one call when it is durable, so that many producers cost
//! little more than one.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::checkpoints::Kept;
use crate::record::{Facts, Prepared};

/// Records on their way to the writer, bounded.
pub(crate) struct Queue {
    forming: Mutex<Forming>,
    /// There is something to write, or nothing will come any more.
    work: Condvar,
    /// There is room in the batch again.
    room: Condvar,
    records_max: usize,
}

/// A batch is at most about this long, however many records that is.
const BATCH_BYTES_MAX: usize = 4 << 20;

#[derive(Default)]
struct Forming {
    batch: Batch,
    /// Buffers to use again.
    spare: Option<Batch>,
    closed: bool,
}

/// Records that are written and synced together.
#[derive(Default)]
pub(crate) struct Batch {
    /// Their lines, each with its newline. Copied together here, so that every producer frees what
    /// it allocated and the buffer is used again.
    pub(crate) lines: Vec<u8>,
    /// For each of them, where its line ends.
    pub(crate) records: Vec<(usize, Facts)>,
    /// Does somebody want a checkpoint behind it?
    pub(crate) wants_checkpoint: bool,
    pub(crate) done: Arc<Done>,
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
        /// Index of its first record.
        first: u64,
        /// The checkpoint, if one was wanted.
        checkpoint: Option<Kept>,
    },
    /// It is not, and why.
    Failed(String),
}

/// The queue takes nothing any more.
pub(crate) struct Closed;

impl Queue {
    pub(crate) fn new(records_max: usize) -> Self {
        Self {
            forming: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            records_max: records_max.max(1),
        }
    }

    /// Puts a record into the batch, waits until the batch is written, and gives its position in
    /// it.
    pub(crate) fn append(&self, record: Prepared) -> Result<(usize, Outcome), Closed> {
        let mut forming = self.lock();
        while !forming.closed && self.is_full(&forming.batch) {
            forming = self.room.wait(forming).unwrap_or_else(PoisonError::into_inner);
        }
        if forming.closed {
            return Err(Closed);
        }
        let position = forming.batch.records.len();
        let batch = &mut forming.batch;
        batch.lines.extend_from_slice(&record.line);
        batch.lines.push(b'\n');
        batch.records.push((batch.lines.len(), record.facts));
        Ok((position, self.wait(forming, position == 0)))
    }

    /// Asks for a checkpoint of everything before it, and waits for it.
    pub(crate) fn checkpoint(&self) -> Result<Outcome, Closed> {
        let mut forming = self.lock();
        if forming.closed {
            return Err(Closed);
        }
        forming.batch.wants_checkpoint = true;
        Ok(self.wait(forming, true))
    }

    /// The batch that formed; `None` when nothing will come any more.
    pub(crate) fn take(&self) -> Option<Batch> {
        let mut forming = self.lock();
        while forming.batch.is_empty() && !forming.closed {
            forming = self.work.wait(forming).unwrap_or_else(PoisonError::into_inner);
        }
        let batch = std::mem::take(&mut forming.batch);
        if let Some(Batch { lines, records, .. }) = forming.spare.take() {
            forming.batch = Batch { lines, records, ..Batch::default() };
        }
        drop(forming);
        self.room.notify_all();
        (!batch.is_empty()).then_some(batch)
    }

    /// Gives the buffers of a batch back to be used again.
    pub(crate) fn give_back(&self, mut batch: Batch) {
        batch.lines.clear();
        batch.records.clear();
        self.lock().spare = Some(batch);
    }

    /// Takes nothing any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    fn wait(&self, forming: MutexGuard<'_, Forming>, wake_writer: bool) -> Outcome {
        let done = Arc::clone(&forming.batch.done);
        drop(forming);
        if wake_writer {
            self.work.notify_one();
        }
        done.wait()
    }

    fn is_full(&self, batch: &Batch) -> bool {
        batch.records.len() >= self.records_max || batch.lines.len() >= BATCH_BYTES_MAX
    }

    fn lock(&self) -> MutexGuard<'_, Forming> {
        // Nothing in here can panic half-way, so a poisoned lock guards sound data.
        self.forming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.records.is_empty() && !self.wants_checkpoint
    }
}

impl Done {
    /// Tells everybody who waits.
    pub(crate) fn tell(&self, outcome: Outcome) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
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
