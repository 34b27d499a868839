//! The one thread that writes: a transaction per batch.

use std::sync::{Arc, OnceLock};
use std::thread;

use rusqlite::{Connection, ErrorCode};

use super::queue::{Batch, Queue};
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

impl Writer {
    pub(super) fn new(db: Connection, health: Arc<Health>) -> Self {
        Self { db, health }
    }

    /// Works until nothing will come any more.
    pub(super) fn run(self, queue: &Queue) {
        // Should this thread ever die, nobody may wait for it.
        let _closing = CloseOnDrop { queue, health: &self.health };
        while let Some(mut batch) = queue.take() {
            let several = batch.jobs.len() > 1;
            let outcome = self.commit(&mut batch);
            batch.done.tell(outcome);
            if several {
                // Several producers were just woken and will be back at once. Letting them go first
                // makes one long batch of what would be a short one and a long one.
                thread::yield_now();
            }
        }
    }

    fn commit(&self, batch: &mut Batch) -> Result<(), Broken> {
        self.health.check()?;
        if let Err(error) = self.db.execute_batch("BEGIN IMMEDIATE") {
            // Another process writes for longer than anybody should: nothing was done, and the next
            // batch may be luckier.
            let busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            return Err(if busy { error.into() } else { self.health.poison(error.into()) });
        }
        let mut work = || {
            for job in batch.jobs.drain(..) {
                job(&self.db)?;
            }
            Ok(self.db.execute_batch("COMMIT")?)
        };
        work().map_err(|why| {
            // If even this fails the transaction ends with the connection.
            let _ = self.db.execute_batch("ROLLBACK");
            self.health.poison(why)
        })
    }
}

struct CloseOnDrop<'a> {
    queue: &'a Queue,
    health: &'a Health,
}

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.health.poison(Broken::new("the writer failed; please report this"));
        }
        self.queue.close();
        // Whoever is in the batch that was forming is told by its end.
        drop(self.queue.take());
    }
}
