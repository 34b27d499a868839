//! Counts what looks like somebody trying values of a secret, and says when that is too much.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use monitor::{StateError, Tried, TriedCount, TriedSpan};

/// So many different values that are almost a secret may be in texts within [`WINDOW_SECONDS`].
pub const NEAR_MISSES_MAX: usize = 64;
/// So many different values that have the form of a secret that can be guessed.
pub const SHAPED_MAX: usize = 4096;
/// How long is counted together, and how long it lasts after too many.
const WINDOW_SECONDS: i64 = 3600;
/// So much of a value's number is kept: enough to tell some thousands apart, too little to know one by it that has more
/// than [`crate::GUESSABLE_BITS`].
const NUMBER_BITS: u32 = u32::BITS;

/// What was tried, by the name of the secret.
#[derive(Clone, Default)]
pub(crate) struct Guesses {
    kept: Kept,
}

/// Who keeps it.
#[derive(Clone)]
enum Kept {
    /// Whoever outlives the process.
    Beyond(Arc<dyn Tried>),
    /// This process.
    Here(Arc<Here>),
}

impl Default for Kept {
    fn default() -> Self {
        Self::Here(Arc::default())
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Almost the value.
    NearMiss,
    /// Of its form.
    Shaped,
}

impl Kind {
    fn most(self) -> usize {
        match self {
            Self::NearMiss => NEAR_MISSES_MAX,
            Self::Shaped => SHAPED_MAX,
        }
    }

    fn key(self, name: &str) -> String {
        match self {
            Self::NearMiss => format!("near {name}"),
            Self::Shaped => format!("shaped {name}"),
        }
    }
}

impl Guesses {
    /// Counted by somebody who goes on where another process stopped.
    pub(crate) fn kept_by(tried: Arc<dyn Tried>) -> Self {
        Self { kept: Kept::Beyond(tried) }
    }

    /// Counts values, each by the name of the secret and a number of its own. Gives the names of which there are too many
    /// since just now.
    ///
    /// # Errors
    /// If nobody knows how many there are.
    pub(crate) fn count<'a>(
        &self,
        kind: Kind,
        guesses: impl Iterator<Item = (&'a str, u64)>,
        now: i64,
    ) -> Result<Vec<String>, StateError> {
        let mut by_name: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (name, guess) in guesses {
            by_name.entry(name).or_default().insert(shortened(guess));
        }
        let mut over = Vec::new();
        for (name, numbers) in by_name {
            let numbers: Vec<u32> = numbers.into_iter().collect();
            let count = self.tried(kind, name, &numbers, now)?;
            if count.before <= kind.most() && count.after > kind.most() {
                over.push(name.to_owned());
            }
        }
        Ok(over)
    }

    /// Were there too many near misses of this secret? Yes, if nobody knows.
    pub(crate) fn is_over(&self, name: &str, now: i64) -> bool {
        let kind = Kind::NearMiss;
        self.tried(kind, name, &[], now).map_or(true, |it| it.after > kind.most())
    }

    fn tried(
        &self,
        kind: Kind,
        name: &str,
        numbers: &[u32],
        now: i64,
    ) -> Result<TriedCount, StateError> {
        let span = TriedSpan { since: now.saturating_sub(WINDOW_SECONDS), now };
        let key = kind.key(name);
        match &self.kept {
            Kept::Beyond(tried) => tried.tried(&key, numbers, span, kind.most()),
            Kept::Here(here) => here.tried(&key, numbers, span, kind.most()),
        }
    }
}

/// What was tried in this process: numbers and when, by what was tried.
#[derive(Default)]
struct Here(Mutex<HashMap<String, HashMap<u32, i64>>>);

impl Tried for Here {
    fn tried(
        &self,
        what: &str,
        numbers: &[u32],
        span: TriedSpan,
        most: usize,
    ) -> Result<TriedCount, StateError> {
        let mut all = self.lock();
        let seen = all.entry(what.to_owned()).or_default();
        seen.retain(|_, at| *at >= span.since);
        let before = seen.len();
        for number in numbers {
            if seen.len() > most {
                break;
            }
            seen.entry(*number).or_insert(span.now);
        }
        Ok(TriedCount { before, after: seen.len() })
    }
}

impl Here {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashMap<u32, i64>>> {
        // Nothing in here can panic half-way, so a poisoned lock guards sound data.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shortened(guess: u64) -> u32 {
    u32::try_from(guess >> (u64::BITS - NUMBER_BITS)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that stays what it is when it is shortened.
    fn long(number: u64) -> u64 {
        number << (u64::BITS - NUMBER_BITS)
    }

    fn check(guesses: &Guesses) {
        let near = |of: &'static str, all: std::ops::Range<u64>, now: i64| {
            guesses.count(Kind::NearMiss, all.map(move |it| (of, long(it))), now).unwrap()
        };
        for _ in 0..3 {
            assert!(near("A", 0..NEAR_MISSES_MAX as u64, 100).is_empty());
        }
        assert!(near("B", 0..10, 100).is_empty() && !guesses.is_over("A", 100));
        assert_eq!(near("A", 1000..1010, 200), ["A"]);
        assert!(near("A", 2000..2010, 200).is_empty(), "it was told");
        assert!(guesses.is_over("A", 200) && !guesses.is_over("B", 200));
        let shaped = (0..=SHAPED_MAX as u64).map(|it| ("B", long(it)));
        assert_eq!(guesses.count(Kind::Shaped, shaped, 200).unwrap(), ["B"]);
        assert!(!guesses.is_over("B", 200));
        // An hour later it begins anew.
        assert!(guesses.is_over("A", 100 + WINDOW_SECONDS));
        assert!(!guesses.is_over("A", 101 + WINDOW_SECONDS));
    }

    #[test]
    fn the_same_guess_counts_once_and_too_many_are_told_once() {
        check(&Guesses::default());
        check(&Guesses::kept_by(Arc::<Here>::default()));
    }
}
