//! What writes, in the hands of one at a time: a thread, with a transaction per batch, or a producer that is alone.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::queue::{Batch, Queue};
use super::schema;
use crate::error::Broken;

/// Set once and never cleared: after a failed write nothing more is taken until a restart has looked
/// at what is really there.
#[derive(Default)]
pub(super) struct Health(OnceLock<Broken>);

impl Health {
    /// Why nothing is taken any more, if so.
    pub(super) fn check(&self) -> Result<(), Broken> {
        self.0.get().map_or(Ok(()), |why| Err(why.clone()))
    }

    fn poison(&self, why: Broken) -> Broken {
        self.0.get_or_init(|| why).clone()
    }
}

pub(super) struct Writer {
    db: Connection,
    health: Arc<Health>,
}

/// How long the log waits for somebody who reads, while nobody writes.
const WIPE_TIMEOUT: Duration = Duration::from_millis(200);

/// The writer, and whose turn it is.
pub(super) type Pen = Mutex<Writer>;

/// Takes the writer if nobody has it.
pub(super) fn try_hold(pen: &Pen) -> Option<MutexGuard<'_, Writer>> {
    match pen.try_lock() {
        Ok(writer) => Some(writer),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Works as the thread that writes until nothing will come any more.
pub(super) fn run(pen: &Pen, health: &Health, queue: &Queue) {
    // Should this thread ever die, nobody may wait for it.
    let _closing = CloseOnDrop { queue, health };
    loop {
        queue.wait_for_work();
        // A producer may be at work: what comes meanwhile joins the batch.
        let writer = pen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut batch) = queue.take() else { break };
        let several = batch.jobs.len() > 1;
        let outcome = writer.commit(&mut batch);
        queue.settle(&mut batch, &writer);
        drop(writer);
        batch.done.tell(outcome);
        if several {
            // Several producers were just woken and will be back at once. Letting them go first
            // makes one long batch of what would be a short one and a long one.
            thread::yield_now();
        }
    }
}

impl Writer {
    pub(super) fn new(db: Connection, health: Arc<Health>) -> Self {
        Self { db, health }
    }

    /// Does it take more?
    pub(super) fn is_sound(&self) -> bool {
        self.health.check().is_ok()
    }

    /// Does the job of a producer that is alone, on its own thread, after those for which nobody waits.
    pub(super) fn run_alone<T>(
        &self,
        before: &mut Batch,
        job: impl FnOnce(&Connection) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        let work = |db: &Connection| {
            before.jobs.drain(..).try_for_each(|it| (it.work)(db))?;
            job(db)
        };
        // A fault here must not end the producer, but the writing.
        let done = panic::catch_unwind(AssertUnwindSafe(|| self.transact(work)));
        done.unwrap_or_else(|_| {
            // If even this fails the transaction ends with the connection.
            let _ = self.db.execute_batch("ROLLBACK");
            Err(self.health.poison(Broken::new(FAULT)))
        })
    }

    /// Takes what was deleted out of what holds it until that is written over: the index of words, whose parts are made
    /// one, and the log. Is all of it gone? Not while somebody reads, for whom nobody waits here.
    pub(super) fn wipe(&self) -> Result<bool, Broken> {
        self.health.check()?;
        self.db.execute_batch("INSERT INTO memory_words (memory_words) VALUES ('optimize')")?;
        self.db.busy_timeout(WIPE_TIMEOUT)?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.db.query_row(checkpoint, [], |row| row.get::<_, i64>(0));
        self.db.busy_timeout(schema::BUSY_TIMEOUT)?;
        Ok(busy? == 0)
    }

    fn commit(&self, batch: &mut Batch) -> Result<(), Broken> {
        self.transact(|db| batch.jobs.drain(..).try_for_each(|it| (it.work)(db)))
    }

    fn transact<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        self.health.check()?;
        if let Err(error) = self.db.execute_batch("BEGIN IMMEDIATE") {
            // Another process writes for longer than anybody should: nothing was done, and the next
            // batch may be luckier.
            let busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            return Err(if busy { error.into() } else { self.health.poison(error.into()) });
        }
        let work = || {
            let value = work(&self.db)?;
            self.db.execute_batch("COMMIT")?;
            Ok(value)
        };
        work().map_err(|why| {
            // If even this fails the transaction ends with the connection.
            let _ = self.db.execute_batch("ROLLBACK");
            self.health.poison(why)
        })
    }
}

/// Why nothing is taken any more after a fault of ours.
const FAULT: &str = "the writer failed; please report this";

struct CloseOnDrop<'a> {
    queue: &'a Queue,
    health: &'a Health,
}

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.health.poison(Broken::new(FAULT));
        }
        self.queue.close();
        // Whoever is in the batch that was forming is told by its end.
        drop(self.queue.take());
    }
}
