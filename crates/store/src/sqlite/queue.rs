//! What waits for the writer: one batch that is being formed while another is being committed.
//!
//! Everybody in a batch is woken by one call when it is durable, so that many producers cost
//! little more than one. A producer that is alone does its job itself: waking the thread that writes, and being woken
//! by it, takes as long as the job.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evidence::Durability;
use rusqlite::Connection;

use super::writer::{self, Pen, Writer};
use crate::error::Broken;

/// Jobs on their way to the writer, bounded.
#[derive(Default)]
pub(super) struct Queue {
    forming: Mutex<Forming>,
    /// There is something to do, or nothing will come any more.
    work: Condvar,
    /// There is room in the batch again.
    room: Condvar,
    /// A hint that there is something to do; the truth is in `forming`.
    formed: AtomicBool,
    /// Nothing is durable anyway, so what nobody waits for may wait.
    gathers: bool,
}

/// A batch is at most so many jobs.
const BATCH_JOBS_MAX: usize = 1024;
/// A batch writes at most about so much, however many jobs that is.
const BATCH_BYTES_MAX: usize = 8 << 20;

#[derive(Default)]
struct Forming {
    batch: Batch,
    /// The writer sleeps until it is woken. Waking one that is awake costs as much.
    writer_sleeps: bool,
    /// Somebody waits for a job of the batch.
    awaited: bool,
    closed: bool,
}

/// One thing to do in the transaction of the batch.
pub(super) type Job = Box<dyn FnOnce(&Connection) -> Result<(), Broken> + Send>;

/// Jobs that become durable together, or not at all.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) jobs: Vec<Job>,
    bytes: usize,
    pub(super) done: Arc<Done>,
}

/// Tells everybody in a batch how it went.
#[derive(Default)]
pub(super) struct Done {
    outcome: Mutex<Option<Result<(), Broken>>>,
    told: Condvar,
}

/// So long the writer gathers where nothing is durable.
const GATHER: Duration = Duration::from_millis(1);

impl Queue {
    /// For a store of this durability.
    pub(super) fn new(durability: Durability) -> Self {
        let gathers = match durability {
            Durability::Synced => false,
            Durability::DangerouslyUnsynced => true,
        };
        Self { gathers, ..Self::default() }
    }

    /// Has `job` done and waits until what it did is durable.
    pub(super) fn run<T, J>(&self, bytes: usize, job: J, pen: &Pen) -> Result<T, Broken>
    where
        T: Send + 'static,
        J: FnOnce(&Connection) -> Result<T, Broken> + Send + 'static,
    {
        if let Some(writer) = self.alone(pen) {
            return writer.run_alone(job);
        }
        let answer = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&answer);
        let job = move |db: &Connection| {
            let value = job(db)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(())
        };
        self.push(Box::new(job), bytes, true)?.wait()?;
        let value = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        value.ok_or_else(stopped)
    }

    /// Has `job` done some time.
    pub(super) fn post<J>(&self, bytes: usize, job: J) -> Result<(), Broken>
    where
        J: FnOnce(&Connection) -> Result<bool, Broken> + Send + 'static,
    {
        self.push(Box::new(move |db: &Connection| job(db).map(|_| ())), bytes, false).map(|_| ())
    }

    /// The writer, where nobody else wants it: the thread sleeps, nothing waits for it, and no producer has it.
    fn alone<'a>(&self, pen: &'a Pen) -> Option<MutexGuard<'a, Writer>> {
        let forming = self.lock();
        let is_alone = forming.writer_sleeps && forming.batch.jobs.is_empty();
        if !is_alone || forming.closed || self.gathers {
            return None;
        }
        writer::try_hold(pen)
    }

    fn push(&self, job: Job, bytes: usize, awaited: bool) -> Result<Arc<Done>, Broken> {
        let mut forming = self.lock();
        while !forming.closed && forming.batch.is_full() {
            forming = self.room.wait(forming).unwrap_or_else(PoisonError::into_inner);
        }
        if forming.closed {
            return Err(stopped());
        }
        forming.batch.jobs.push(job);
        forming.batch.bytes = forming.batch.bytes.saturating_add(bytes);
        self.formed.store(true, Ordering::Relaxed);
        let first = forming.batch.jobs.len() == 1;
        let done = Arc::clone(&forming.batch.done);
        let wake = (first && forming.writer_sleeps) || (self.gathers && awaited);
        forming.awaited |= awaited;
        drop(forming);
        if wake {
            self.work.notify_one();
        }
        Ok(done)
    }

    /// Waits for a batch to form. From then on no producer does its job by itself until this is called again.
    pub(super) fn wait_for_work(&self) {
        if self.gathers {
            let more = |it: &mut Forming| !it.awaited && !it.closed && !it.batch.is_full();
            drop(self.work.wait_timeout_while(self.lock(), GATHER, more));
        } else {
            self.linger();
        }
        let idle = |forming: &mut Forming| {
            forming.writer_sleeps = forming.batch.jobs.is_empty() && !forming.closed;
            forming.writer_sleeps
        };
        let waited = self.work.wait_while(self.lock(), idle);
        waited.unwrap_or_else(PoisonError::into_inner).writer_sleeps = false;
    }

    /// Takes the batch that has formed. `None` if nothing will come any more.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut forming = self.lock();
        forming.awaited = false;
        self.formed.store(false, Ordering::Relaxed);
        let batch = std::mem::take(&mut forming.batch);
        drop(forming);
        self.room.notify_all();
        (!batch.jobs.is_empty()).then_some(batch)
    }

    /// Stays awake for a moment: a lone producer is back at once, and waking up takes long.
    fn linger(&self) {
        const LINGER: Duration = Duration::from_micros(40);
        let start = Instant::now();
        while !self.formed.load(Ordering::Relaxed) && start.elapsed() < LINGER {
            thread::yield_now();
        }
    }

    /// Takes nothing any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Forming> {
        // Nothing in here can panic half-way, so a poisoned lock guards sound data.
        self.forming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.jobs.len() >= BATCH_JOBS_MAX || self.bytes >= BATCH_BYTES_MAX
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // Without effect if they know already.
        self.done.tell(Err(stopped()));
    }
}

impl Done {
    /// Tells everybody who waits, once.
    pub(super) fn tell(&self, outcome: Result<(), Broken>) {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(outcome);
        self.told.notify_all();
    }

    fn wait(&self) -> Result<(), Broken> {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            outcome = self.told.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn stopped() -> Broken {
    Broken::new("the writer stopped")
}
