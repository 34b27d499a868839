//! Counts what looks like somebody trying values of a secret, and says when that is too much.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many different values that are almost a secret may be in texts within [`WINDOW`].
pub const NEAR_MISSES_MAX: usize = 64;
/// So many different values that have the form of a secret that can be guessed.
pub const SHAPED_MAX: usize = 4096;
/// How long is counted together, and how long it lasts after too many.
const WINDOW: Duration = Duration::from_secs(3600);

/// What was tried, by the name of the secret.
#[derive(Default)]
pub(crate) struct Guesses(Mutex<HashMap<(Kind, String), Count>>);

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Almost the value.
    NearMiss,
    /// Of its form.
    Shaped,
}

struct Count {
    since: Instant,
    seen: HashSet<u64>,
}

impl Kind {
    fn most(self) -> usize {
        match self {
            Self::NearMiss => NEAR_MISSES_MAX,
            Self::Shaped => SHAPED_MAX,
        }
    }
}

impl Guesses {
    /// Counts values, each by the name of the secret and a number of its own. Gives the names of which there are too many
    /// since just now.
    pub(crate) fn count<'a>(
        &self,
        kind: Kind,
        guesses: impl Iterator<Item = (&'a str, u64)>,
    ) -> Vec<String> {
        let mut counts = self.lock();
        let mut over = Vec::new();
        for (name, guess) in guesses {
            let count = counts.entry((kind, name.to_owned())).or_insert_with(Count::new);
            if count.since.elapsed() >= WINDOW {
                *count = Count::new();
            }
            let new = count.seen.len() <= kind.most() && count.seen.insert(guess);
            if new && count.seen.len() > kind.most() {
                over.push(name.to_owned());
            }
        }
        over
    }

    /// Were there too many near misses of this secret?
    pub(crate) fn is_over(&self, name: &str) -> bool {
        let counts = self.lock();
        let count = counts.get(&(Kind::NearMiss, name.to_owned()));
        count.is_some_and(|it| it.since.elapsed() < WINDOW && it.seen.len() > NEAR_MISSES_MAX)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Kind, String), Count>> {
        // Nothing in here can panic half-way, so a poisoned lock guards sound data.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Count {
    fn new() -> Self {
        Self { since: Instant::now(), seen: HashSet::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_guess_counts_once_and_too_many_are_told_once() {
        let guesses = Guesses::default();
        let near = |of: &'static str, all: std::ops::Range<u64>| {
            guesses.count(Kind::NearMiss, all.map(move |it| (of, it)))
        };
        for _ in 0..3 {
            assert!(near("A", 0..NEAR_MISSES_MAX as u64).is_empty());
        }
        assert!(near("B", 0..10).is_empty() && !guesses.is_over("A"));
        assert_eq!(near("A", 1000..1010), ["A"]);
        assert!(near("A", 2000..2010).is_empty(), "it was told");
        assert!(guesses.is_over("A") && !guesses.is_over("B"));
        let shaped = (0..=SHAPED_MAX as u64).map(|it| ("B", it));
        assert_eq!(guesses.count(Kind::Shaped, shaped), ["B"]);
        assert!(!guesses.is_over("B"));
    }
}
