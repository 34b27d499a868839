//! What a turn and the threads that work for it share.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aegx::Digest;
use llm::{ErrorKind, Usage};
use model::ipc::Uuid;

/// What is known of one turn. Each has its own: what comes late counts for the turn that it belongs to.
#[derive(Default)]
pub(super) struct Shared {
    /// Whoever runs the turn has the other end.
    interrupted: Arc<AtomicBool>,
    turn: Mutex<OfTurn>,
    at_work: Mutex<usize>,
    nobody: Condvar,
    asking: AtomicBool,
    asked: AtomicUsize,
    called: AtomicUsize,
}

/// What the parent saw of a turn itself.
#[derive(Default)]
pub(super) struct OfTurn {
    /// What models used.
    pub(super) usage: Usage,
    /// Calls in the order in which they were answered.
    pub(super) calls: Vec<(String, String)>,
    /// What that cost, in micro-dollars, as far as prices are known.
    pub(super) cost: u64,
    /// Was a question not asked because of the cost?
    pub(super) over_cost: bool,
    /// Rules that denied a call.
    pub(super) denied: Vec<String>,
    /// Calls that a person could allow, and nobody did.
    pub(super) open: HashSet<Digest>,
    /// What the model said last, if that was an answer.
    pub(super) answer: Option<String>,
    /// Why a model did not answer.
    pub(super) failed: Option<(ErrorKind, String)>,
    /// Calls that a person can be asked about.
    pub(super) stopped: HashMap<Digest, Uuid>,
}

impl Shared {
    /// Of a turn that ends when `stop` says so; perhaps it does already.
    pub(super) fn new(stop: &Arc<AtomicBool>) -> Self {
        Self { interrupted: Arc::clone(stop), ..Self::default() }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Acquire)
    }

    pub(super) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Release);
    }

    pub(super) fn of_turn(&self) -> MutexGuard<'_, OfTurn> {
        held(&self.turn)
    }

    /// Counts a question to a model; false if one is asked already, or there were enough.
    pub(super) fn may_ask(&self, at_most: usize) -> bool {
        let counted = self.asked.fetch_add(1, Ordering::AcqRel) < at_most;
        counted && !self.asking.swap(true, Ordering::AcqRel)
    }

    pub(super) fn has_asked(&self) {
        self.asking.store(false, Ordering::Release);
    }

    /// Counts a call; false if there were enough.
    pub(super) fn may_call(&self, at_most: usize) -> bool {
        self.called.fetch_add(1, Ordering::AcqRel) < at_most
    }

    /// Notes that somebody works for the turn, unless so many do already.
    pub(super) fn work(self: &Arc<Self>, at_most: usize) -> Option<AtWork> {
        let mut count = held(&self.at_work);
        if *count >= at_most {
            return None;
        }
        *count += 1;
        Some(AtWork(Arc::clone(self)))
    }

    /// Waits until nobody works any more; false if that takes too long.
    pub(super) fn settle(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut count = held(&self.at_work);
        while *count > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            count = self.nobody.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// Somebody works for the turn, until this is dropped.
pub(super) struct AtWork(Arc<Shared>);

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut count = held(&self.0.at_work);
        *count = count.saturating_sub(1);
        self.0.nobody.notify_all();
    }
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds up what was used.
pub(super) fn add(sum: &mut Usage, more: Usage) {
    sum.input_tokens = sum.input_tokens.saturating_add(more.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(more.output_tokens);
    sum.cache_read_tokens = sum.cache_read_tokens.saturating_add(more.cache_read_tokens);
    sum.cache_creation_tokens =
        sum.cache_creation_tokens.saturating_add(more.cache_creation_tokens);
    sum.estimated |= more.estimated;
}
