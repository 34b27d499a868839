//! What waits for the writer: one batch that is being formed while another is being committed.
//!
//! Everybody in a batch is woken by one call when it is durable, so that many producers cost
//! little more than one. A producer that is alone does its job itself: waking the thread that writes, and being woken
//! by it, takes as long as the job. What nobody waits for is done with the next job that somebody waits for, or soon by itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    /// Jobs for which nobody waits and that are not durable yet.
    unsettled: AtomicUsize,
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
    /// When its first job came.
    since: Option<Instant>,
    closed: bool,
}

/// One thing to do in the transaction of the batch.
pub(super) struct Job {
    pub(super) work: Work,
    /// Does somebody wait for it?
    awaited: bool,
}

type Work = Box<dyn FnOnce(&Connection) -> Result<(), Broken> + Send>;

/// Jobs that become durable together, or not at all.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) jobs: Vec<Job>,
    bytes: usize,
    /// Of them, those for which nobody waits.
    pub(super) unawaited: usize,
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
/// So long a job for which nobody waits may lie there.
const SOON: Duration = Duration::from_millis(20);

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
        if let Some((writer, mut batch)) = self.alone(pen) {
            let done = writer.run_alone(&mut batch, job);
            self.settle(&mut batch, &writer);
            return done;
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

    /// Has `job` done with the next one that somebody waits for, or soon.
    pub(super) fn post<J>(&self, bytes: usize, job: J) -> Result<(), Broken>
    where
        J: FnOnce(&Connection) -> Result<(), Broken> + Send + 'static,
    {
        self.push(Box::new(job), bytes, false).map(drop)
    }

    /// Is there a job for which nobody waits and that is not durable yet?
    pub(super) fn has_unsettled(&self) -> bool {
        self.unsettled.load(Ordering::Acquire) > 0
    }

    /// A batch was committed, or could not be. Where the writer is sound another process was in the way: what nobody waits for
    /// comes first in the next batch.
    ///
    /// INVARIANT (InOrder): the writer is still held, so that no later batch is kept without what came before it.
    pub(super) fn settle(&self, batch: &mut Batch, writer: &Writer) {
        let mut forming = self.lock();
        let comes_again = writer.is_sound() && !forming.closed;
        batch.jobs.retain(|it| comes_again && !it.awaited);
        let done = batch.unawaited.saturating_sub(batch.jobs.len());
        self.unsettled.fetch_sub(done, Ordering::AcqRel);
        if batch.jobs.is_empty() {
            return;
        }
        forming.batch.unawaited += batch.jobs.len();
        forming.batch.bytes = forming.batch.bytes.saturating_add(batch.bytes);
        let later = std::mem::take(&mut forming.batch.jobs);
        forming.batch.jobs = batch.jobs.drain(..).chain(later).collect();
        forming.since = Some(Instant::now());
        drop(forming);
        self.work.notify_one();
    }

    /// The writer and what is to be done before, where nobody else wants it: the thread sleeps, nobody waits for it, and no
    /// producer has it.
    fn alone<'a>(&self, pen: &'a Pen) -> Option<(MutexGuard<'a, Writer>, Batch)> {
        let mut forming = self.lock();
        if !forming.writer_sleeps || forming.awaited || forming.closed || self.gathers {
            return None;
        }
        let writer = writer::try_hold(pen)?;
        Some((writer, self.take_formed(&mut forming)))
    }

    fn push(&self, work: Work, bytes: usize, awaited: bool) -> Result<Arc<Done>, Broken> {
        let mut forming = self.lock();
        while !forming.closed && forming.batch.is_full() {
            forming = self.room.wait(forming).unwrap_or_else(PoisonError::into_inner);
        }
        if forming.closed {
            return Err(stopped());
        }
        forming.batch.jobs.push(Job { work, awaited });
        forming.batch.bytes = forming.batch.bytes.saturating_add(bytes);
        self.formed.store(true, Ordering::Relaxed);
        let first = forming.batch.jobs.len() == 1;
        if first {
            forming.since = Some(Instant::now());
        }
        let done = Arc::clone(&forming.batch.done);
        let urgent = first || (awaited && !forming.awaited) || forming.batch.is_full();
        let wake = (urgent && forming.writer_sleeps) || (self.gathers && awaited);
        forming.awaited |= awaited;
        if !awaited {
            forming.batch.unawaited += 1;
            self.unsettled.fetch_add(1, Ordering::AcqRel);
        }
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
        let mut forming = self.lock();
        while let Some(patience) = forming.patience(self.gathers) {
            forming.writer_sleeps = true;
            let waited = self.work.wait_timeout(forming, patience);
            forming = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        forming.writer_sleeps = false;
    }

    /// Takes the batch that has formed. `None` if nothing will come any more.
    pub(super) fn take(&self) -> Option<Batch> {
        let batch = self.take_formed(&mut self.lock());
        (!batch.jobs.is_empty()).then_some(batch)
    }

    fn take_formed(&self, forming: &mut Forming) -> Batch {
        forming.awaited = false;
        forming.since = None;
        self.formed.store(false, Ordering::Relaxed);
        let batch = std::mem::take(&mut forming.batch);
        if batch.is_full() {
            // Only then does anybody wait for room.
            self.room.notify_all();
        }
        batch
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

impl Forming {
    /// How long the thread that writes may sleep; none if there is something to do now.
    fn patience(&self, gathers: bool) -> Option<Duration> {
        /// Nothing is there: whoever brings something wakes it.
        const IDLE: Duration = Duration::from_secs(3600);
        if self.closed {
            return None;
        }
        let Some(since) = self.since else { return Some(IDLE) };
        if gathers || self.awaited || self.batch.is_full() {
            return None;
        }
        SOON.checked_sub(since.elapsed()).filter(|it| !it.is_zero())
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
