//! How long to wait before a messenger is asked again that failed.

use std::time::Duration;

/// The first wait.
pub const BACKOFF_FIRST: Duration = Duration::from_secs(5);
/// The longest.
pub const BACKOFF_MAX: Duration = Duration::from_secs(300);

/// Waits that double, until something goes well.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::from(BACKOFF_FIRST)
    }
}

impl From<Duration> for Backoff {
    fn from(first: Duration) -> Self {
        Self { first, next: first }
    }
}

impl Backoff {
    /// How long to wait now, at least as long as the messenger wants; the next time it is twice as long.
    pub fn wait(&mut self, wanted: Option<Duration>) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(BACKOFF_MAX);
        wanted.map_or(wait, |it| it.max(wait).min(BACKOFF_MAX))
    }

    /// It went well.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_five_minutes() {
        let mut backoff = Backoff::default();
        let waits: Vec<u64> = (0..9).map(|_| backoff.wait(None).as_secs()).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        backoff.reset();
        assert_eq!(backoff.wait(Some(Duration::from_secs(17))).as_secs(), 17);
        assert_eq!(backoff.wait(Some(Duration::from_secs(9999))), BACKOFF_MAX);
    }
}
