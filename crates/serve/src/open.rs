//! Sessions that are open: somebody listens, a turn runs or waits, or a worker is there for the next one.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::app::App;
use crate::limits::OPEN_CACHE;
use crate::turns::Key;

/// Sessions that have a worker, by what the runtime tells of them. There are never more than workers.
#[derive(Default)]
pub(crate) struct WithWorker(Mutex<HashSet<Key>>);

impl WithWorker {
    pub(crate) fn begin(&self, key: Key) {
        self.lock().insert(key);
    }

    pub(crate) fn end(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many there were when it was counted last, and when that was.
#[derive(Default)]
pub(crate) struct Counted(Mutex<Option<(Instant, usize)>>);

/// How many sessions are open, each counted once. Everybody may ask, so it is not counted whenever somebody does.
pub(crate) fn count(app: &App) -> usize {
    let mut counted = app.open.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, count)) = *counted
        && at.elapsed() < OPEN_CACHE
    {
        return count;
    }
    let mut open = app.with_worker.lock().clone();
    open.extend(app.queues.keys());
    open.extend(app.rooms.heard());
    *counted = Some((Instant::now(), open.len()));
    open.len()
}
