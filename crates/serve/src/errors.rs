//! How many of the turns of the last hour failed.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::limits::{ERRORS_PRUNE_EVERY, ERRORS_WINDOW};

/// Turns of the last hour, and whether each failed.
#[derive(Default)]
pub(crate) struct ErrorRate(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    turns: VecDeque<(Instant, bool)>,
    since_pruned: usize,
}

/// The most turns that are looked back on.
const TURNS_MAX: usize = 100_000;

impl ErrorRate {
    pub(crate) fn note(&self, failed: bool) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.turns.push_back((Instant::now(), failed));
        noted.since_pruned += 1;
        if noted.since_pruned >= ERRORS_PRUNE_EVERY {
            noted.since_pruned = 0;
            noted.turns.retain(|it| it.0.elapsed() < ERRORS_WINDOW);
        }
        if noted.turns.len() > TURNS_MAX {
            noted.turns.pop_front();
        }
    }

    /// Failed turns and all turns of the last hour.
    pub(crate) fn last_hour(&self) -> (usize, usize) {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = noted.turns.iter().filter(|it| it.0.elapsed() < ERRORS_WINDOW);
        fresh.fold((0, 0), |(failed, all), it| (failed + usize::from(it.1), all + 1))
    }
}
