//! Processor time, for tests that nothing takes more than linear time: what else the machine does must
//! not fail them.

use std::time::{Duration, Instant};

/// The processor time of a piece of work on this thread; by the clock where the kernel does not tell.
pub struct Stopwatch {
    begun: Instant,
    spent: Option<Duration>,
}

impl Stopwatch {
    /// Starts at this moment.
    #[must_use]
    pub fn start() -> Self {
        Self { begun: Instant::now(), spent: spent() }
    }

    /// The time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match (self.spent, spent()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            (None, _) | (_, None) => self.begun.elapsed(),
        }
    }
}

/// Nanoseconds on a processor, the first of the three figures of `schedstat`.
fn spent() -> Option<Duration> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(line.split(' ').next()?.parse().ok()?))
}
