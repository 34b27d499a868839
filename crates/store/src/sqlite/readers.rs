//! Connections that only read. In WAL mode they never make the writer wait.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::schema;
use crate::error::Broken;

/// A bounded pool.
pub(super) struct Readers {
    path: PathBuf,
    pool: Mutex<Pool>,
    returned: Condvar,
}

/// Whoever comes when so many read waits.
const READERS_MAX: usize = 8;

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    made: usize,
}

impl Readers {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), pool: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs `job` on a connection that sees one moment.
    pub(super) fn read<T>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        let lease = self.lease()?;
        let Some(db) = &lease.db else { return Err(Broken::new("no connection")) };
        let moment = db.unchecked_transaction()?;
        let value = job(&moment);
        moment.finish()?;
        value
    }

    fn lease(&self) -> Result<Lease<'_>, Broken> {
        let mut pool = self.lock();
        while pool.idle.is_empty() && pool.made >= READERS_MAX {
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(db) = pool.idle.pop() {
            return Ok(Lease { readers: self, db: Some(db) });
        }
        pool.made += 1;
        drop(pool);
        // From here on the place is given back even if nothing can be opened.
        let mut lease = Lease { readers: self, db: None };
        lease.db = Some(schema::open_reader(&self.path).map_err(Broken::new)?);
        Ok(lease)
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back to the pool.
struct Lease<'a> {
    readers: &'a Readers,
    db: Option<Connection>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.lock();
        match self.db.take() {
            Some(db) => pool.idle.push(db),
            None => pool.made -= 1,
        }
        drop(pool);
        self.readers.returned.notify_one();
    }
}
