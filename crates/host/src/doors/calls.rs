//! How many calls are under way, and a daemon that takes nothing new on because the next one is about to take its place.
//!
//! What is new waits meanwhile: for a moment, if others are not done by then; else until the daemon has gone, and whoever
//! asked finds no answer and asks the next one.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Calls that are under way.
#[derive(Default)]
pub(super) struct Calls {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    count: usize,
    is_resting: bool,
    is_over: bool,
}

/// One call, as long as it is under way.
pub(super) struct UnderWay<'a>(&'a Calls);

impl Calls {
    /// A new call, once there is room for one; none if the daemon ends.
    pub(super) fn begin(&self) -> Option<UnderWay<'_>> {
        let mut state = self.state();
        while state.is_resting && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_over {
            return None;
        }
        state.count += 1;
        Some(UnderWay(self))
    }

    /// What belongs to a call that is under way already.
    pub(super) fn go_on(&self) -> UnderWay<'_> {
        self.state().count += 1;
        UnderWay(self)
    }

    pub(super) fn count(&self) -> usize {
        self.state().count
    }

    /// Takes nothing new on until nothing is under way, and `is_quiet` says so, too: then it stays so. If that takes longer
    /// than `at_most`, everything goes on as before.
    pub(super) fn rest(&self, at_most: Duration, is_quiet: impl Fn() -> bool) -> bool {
        let end = Instant::now() + at_most;
        let mut state = self.state();
        state.is_resting = true;
        while state.count > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.count == 0 && is_quiet() {
            return true;
        }
        state.is_resting = false;
        self.changed.notify_all();
        false
    }

    /// The daemon ends: nobody waits any longer.
    pub(super) fn over(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.count = state.count.saturating_sub(1);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_is_new_waits_and_what_is_under_way_ends_in_peace() {
        let calls = Calls::default();
        let first = calls.begin().unwrap();
        // It is not done: everything goes on as before.
        assert!(!calls.rest(Duration::from_millis(1), || true));
        drop(calls.begin().unwrap());
        std::thread::scope(|scope| {
            let resting = scope.spawn(|| calls.rest(LONG, || true));
            while !calls.state().is_resting {
                std::thread::yield_now();
            }
            let late = scope.spawn(|| calls.begin().is_none());
            // What belongs to it does not wait.
            drop(calls.go_on());
            drop(first);
            assert!(resting.join().unwrap());
            calls.over();
            assert!(late.join().unwrap(), "whoever waited asks the next daemon");
        });
        assert_eq!(calls.count(), 0);
    }

    #[test]
    fn nothing_rests_while_something_else_needs_the_daemon() {
        let calls = Calls::default();
        assert!(!calls.rest(LONG, || false));
        assert!(calls.begin().is_some());
    }
}
