//! The store on SQLite: one writer at a time with group commit, readers beside it.

mod approvals;
mod columns;
mod identity;
mod labels;
mod memory;
mod oversight;
mod packed;
mod queue;
mod readers;
mod schema;
mod search;
mod sessions;
mod standing;
mod state;
mod talked;
mod tried;
mod turns;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use evidence::Durability;
use rusqlite::Connection;

use crate::error::{Broken, OpenError};
use queue::Queue;
use readers::Readers;
use writer::{Health, Pen, Writer};

pub use identity::{Identity, Seen};
pub use sessions::SESSIONS_MAX;
pub use state::CHANGE_BYTES_MAX;

/// A store in one private SQLite file. Many threads may use it, and several processes.
pub struct SqliteStore {
    queue: Arc<Queue>,
    readers: Readers,
    health: Arc<Health>,
    pen: Arc<Pen>,
    writer: Option<JoinHandle<()>>,
    durability: Durability,
}

impl SqliteStore {
    /// Opens the store at `path`, or makes it.
    ///
    /// # Errors
    /// If it cannot be opened, is damaged, or comes from a newer version; then nothing was changed.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_with(path, Durability::Synced)
    }

    /// As [`SqliteStore::open`]; with [`Durability::DangerouslyUnsynced`] a power cut may cost what
    /// was acknowledged, and changes of sessions do not wait for the writer: for benchmarks only. A
    /// failure shows in a later call.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_with(path: &Path, durability: Durability) -> Result<Self, OpenError> {
        let db = schema::open(path, durability)?;
        let queue = Arc::new(Queue::new(durability));
        let health = Arc::new(Health::default());
        let pen = Arc::new(Mutex::new(Writer::new(db, Arc::clone(&health))));
        let (jobs, writing, told) = (Arc::clone(&queue), Arc::clone(&pen), Arc::clone(&health));
        let writer = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer::run(&writing, &told, &jobs))
            .map_err(|error| OpenError::io(path, error))?;
        let (readers, writer) = (Readers::new(path), Some(writer));
        Ok(Self { queue, readers, health, pen, writer, durability })
    }

    /// Runs `job` in a transaction, together with what others want at the same moment, and returns
    /// when that is durable. A job looks before it changes anything: what it changed stays, whatever
    /// value it answers with. `bytes` is about how much it writes.
    fn change<T, J>(&self, bytes: usize, job: J) -> Result<T, Broken>
    where
        T: Send + 'static,
        J: FnOnce(&Connection) -> Result<T, Broken> + Send + 'static,
    {
        self.health.check()?;
        self.queue.run(bytes, job, &self.pen)
    }

    /// As [`Self::change`], for a job whose answer is only that it was done. Where nothing is durable
    /// anyway, nobody waits for it.
    fn note<J>(&self, bytes: usize, job: J) -> Result<bool, Broken>
    where
        J: FnOnce(&Connection) -> Result<bool, Broken> + Send + 'static,
    {
        match self.durability {
            Durability::Synced => self.change(bytes, job),
            Durability::DangerouslyUnsynced => {
                self.health.check()?;
                self.queue.post(bytes, |db| job(db).map(drop))?;
                Ok(true)
            }
        }
    }

    /// Has `job` done with the next change that somebody waits for, or soon by itself: what it did is durable no later than
    /// any later change. If it fails, so does every later one.
    fn soon<J>(&self, bytes: usize, job: J) -> Result<(), Broken>
    where
        J: FnOnce(&Connection) -> Result<(), Broken> + Send + 'static,
    {
        self.health.check()?;
        self.queue.post(bytes, job)
    }

    /// Waits until what is to be done soon is durable, where anything is ever waited for.
    fn settle(&self) -> Result<(), Broken> {
        if self.durability == Durability::Synced && self.queue.has_unsettled() {
            return self.change(0, |_| Ok(()));
        }
        self.health.check()
    }

    /// Takes what was deleted out of the index of words and the log. Is all of it gone?
    fn wipe(&self) -> Result<bool, Broken> {
        self.settle()?;
        self.pen.lock().unwrap_or_else(PoisonError::into_inner).wipe()
    }

    /// Reads what is durable now, all of it at one moment, without making the writer wait. Whoever looks sees what was to be
    /// done before.
    fn look<T>(&self, job: impl FnOnce(&Connection) -> Result<T, Broken>) -> Result<T, Broken> {
        self.settle()?;
        self.readers.read(job)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(writer) = self.writer.take() {
            // A writer that failed has said so to everybody who waited.
            let _ = writer.join();
        }
    }
}

#[cfg(test)]
mod tests;
