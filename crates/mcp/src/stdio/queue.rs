//! A bounded queue of lines for one writer.

use crate::limits::{QUEUE_BYTES_MAX, QUEUE_MESSAGES_MAX};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lines that wait to be written. Pushing never waits.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    is_closed: bool,
    is_written: bool,
}

impl Queue {
    /// Adds a line; `false` where there is no room. A closed queue swallows it: its reader is gone, and known to be.
    pub(super) fn push(&self, line: Vec<u8>) -> bool {
        let mut state = self.lock();
        if state.is_closed {
            return true;
        }
        let is_full = state.lines.len() >= QUEUE_MESSAGES_MAX || state.bytes >= QUEUE_BYTES_MAX;
        if is_full {
            return false;
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        self.changed.notify_all();
        true
    }

    /// Takes the next line, waiting for one; `None` when the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        loop {
            if let Some(line) = state.lines.pop_front() {
                state.bytes = state.bytes.saturating_sub(line.len());
                self.changed.notify_all();
                return Some(line);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes no more lines; what is in it is still written.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Throws away what nobody will read.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.lines.clear();
        state.bytes = 0;
        state.is_closed = true;
        self.changed.notify_all();
    }

    /// Waits until fewer bytes than this wait to be written, or nobody writes any more.
    pub(super) fn wait_below(&self, bytes: usize) {
        let mut state = self.lock();
        while state.bytes >= bytes && !state.is_closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that the writer has ended.
    pub(super) fn mark_written(&self) {
        self.lock().is_written = true;
        self.changed.notify_all();
    }

    /// Waits until the writer has ended, but not longer than this.
    pub(super) fn wait_written(&self, wait: Duration) {
        let deadline = Instant::now() + wait;
        let mut state = self.lock();
        while !state.is_written {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
