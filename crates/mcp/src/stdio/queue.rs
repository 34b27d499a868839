//! A bounded queue of lines for one peer.
//!
//! Whoever has a line writes it, where nothing waits before it and the peer has room: waking a thread for it would take longer
//! than the rest of a call. What has no room waits here for the thread that writes.

use super::pipe::Sink;
use crate::limits::{QUEUE_BYTES_MAX, QUEUE_MESSAGES_MAX};
use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Lines that wait to be written. Pushing never waits.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Held while something is written; none when nothing will be any more, so that the peer reads the end.
    sink: Mutex<Option<Box<dyn Sink>>>,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// The thread that writes has a line in its hands.
    is_busy: bool,
    is_closed: bool,
    is_written: bool,
}

impl Queue {
    pub(super) fn new(sink: Box<dyn Sink>) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), sink: Mutex::new(Some(sink)) }
    }

    /// Adds a line; `false` where there is no room. A closed queue swallows it: its reader is gone, and known to be.
    pub(super) fn push(&self, mut line: Vec<u8>) -> bool {
        line.push(b'\n');
        let mut state = self.lock();
        if state.is_closed {
            return true;
        }
        let is_full = state.lines.len() >= QUEUE_MESSAGES_MAX || state.bytes >= QUEUE_BYTES_MAX;
        if is_full {
            return false;
        }
        if state.lines.is_empty() && !state.is_busy {
            match self.write_now(&line) {
                Ok(done) if done >= line.len() => return true,
                Ok(done) => drop(line.drain(..done)),
                Err(_) => {
                    state.is_closed = true;
                    self.changed.notify_all();
                    return true;
                }
            }
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        self.changed.notify_all();
        true
    }

    /// Takes the next line, waiting for one; `None` when the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        state.is_busy = false;
        loop {
            if let Some(line) = state.lines.pop_front() {
                state.is_busy = true;
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

    /// Writes a line that was taken, however long that takes.
    pub(super) fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut sink = self.sink();
        let sink = sink.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        sink.write_all(line)?;
        sink.flush()
    }

    /// Writes what the peer has room for.
    fn write_now(&self, line: &[u8]) -> io::Result<usize> {
        let mut sink = match self.sink.try_lock() {
            Ok(sink) => sink,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(0),
        };
        sink.as_mut().map_or(Ok(0), |it| it.write_now(line))
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

    /// Says that the writer has ended, and closes what it wrote to.
    pub(super) fn mark_written(&self) {
        drop(self.sink().take());
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

    fn sink(&self) -> MutexGuard<'_, Option<Box<dyn Sink>>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
