//! Turns that run: each on a thread of its own, never more than the settings say. The threads that answer requests
//! never wait for them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::turns::Key;

/// The turns that run.
#[derive(Default)]
pub(crate) struct Workers {
    next: AtomicU64,
    running: Mutex<BTreeMap<u64, Running>>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) key: Key,
    pub(crate) since: Instant,
}

/// A slot for one turn, until it is dropped.
pub(crate) struct Slot {
    workers: Arc<Workers>,
    id: u64,
}

impl Workers {
    /// Takes a slot, unless `most` are taken.
    pub(crate) fn take(self: &Arc<Self>, key: &Key, most: usize) -> Option<Slot> {
        let mut running = self.lock();
        if running.len() >= most {
            return None;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        running.insert(id, Running { key: key.clone(), since: Instant::now() });
        Some(Slot { workers: Arc::clone(self), id })
    }

    /// All that run, by their numbers.
    pub(crate) fn list(&self) -> Vec<(u64, Running)> {
        self.lock().iter().map(|(id, it)| (*id, it.clone())).collect()
    }

    /// The one of this number.
    pub(crate) fn get(&self, id: u64) -> Option<Running> {
        self.lock().get(&id).cloned()
    }

    /// How many run.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.workers.lock().remove(&self.id);
    }
}
