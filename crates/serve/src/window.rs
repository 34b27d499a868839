//! How often somebody did something lately.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::COUNTED_MAX;

/// Counts events by who did them, in a window that slides.
pub(crate) struct Window<K>(Mutex<HashMap<K, VecDeque<Instant>>>);

impl<K> Default for Window<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone> Window<K> {
    /// Notes one event of `who`, unless there were `limit` of them in the last `window`: then, how long to wait.
    pub(crate) fn admit(&self, who: &K, limit: usize, window: Duration) -> Result<(), Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        make_room(&mut all, who, window, now);
        let times = all.entry(who.clone()).or_default();
        forget_old(times, window, now);
        if times.len() >= limit {
            let oldest = times.front().copied().unwrap_or(now);
            return Err(window.saturating_sub(now.duration_since(oldest)));
        }
        times.push_back(now);
        Ok(())
    }

    /// Were there `limit` events of `who` in the last `window`?
    pub(crate) fn is_full(&self, who: &K, limit: usize, window: Duration) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        all.get_mut(who).is_some_and(|times| {
            forget_old(times, window, now);
            times.len() >= limit
        })
    }
}

fn forget_old(times: &mut VecDeque<Instant>, window: Duration, now: Instant) {
    while times.front().is_some_and(|it| now.duration_since(*it) >= window) {
        times.pop_front();
    }
}

/// Forgets those of long ago, and if all are of late, the one that was seen first.
fn make_room<K: Eq + Hash + Clone>(
    all: &mut HashMap<K, VecDeque<Instant>>,
    who: &K,
    window: Duration,
    now: Instant,
) {
    if all.len() < COUNTED_MAX || all.contains_key(who) {
        return;
    }
    all.retain(|_, times| times.back().is_some_and(|it| now.duration_since(*it) < window));
    if all.len() < COUNTED_MAX {
        return;
    }
    let stalest = all.iter().min_by_key(|it| it.1.back().copied()).map(|it| it.0.clone());
    if let Some(stalest) = stalest {
        all.remove(&stalest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_over_the_limit_waits_and_others_do_not() {
        let window = Window::default();
        let at = Duration::from_secs(60);
        assert!((0..20).all(|_| window.admit(&"a", 20, at).is_ok()));
        let wait = window.admit(&"a", 20, at).unwrap_err();
        assert!(wait <= at && wait > Duration::from_secs(50), "{wait:?}");
        assert!(window.admit(&"b", 20, at).is_ok());
        assert!(window.is_full(&"a", 20, at) && !window.is_full(&"b", 20, at));
        assert!(window.admit(&"a", 20, Duration::ZERO).is_ok());
    }

    #[test]
    fn strangers_do_not_fill_the_memory() {
        let window = Window::default();
        for who in 0..COUNTED_MAX + 100 {
            assert!(window.admit(&who, 1, Duration::from_secs(60)).is_ok());
        }
        assert!(window.0.lock().unwrap().len() <= COUNTED_MAX);
    }
}
