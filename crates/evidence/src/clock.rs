//! Where the time comes from.

use std::time::{SystemTime, UNIX_EPOCH};

/// A source of time.
pub trait Clock: Send + Sync {
    /// Microseconds since 1970-01-01T00:00:00Z.
    fn unix_micros(&self) -> u64;

    /// Seconds since 1970-01-01T00:00:00Z.
    fn unix_seconds(&self) -> i64 {
        i64::try_from(self.unix_micros() / 1_000_000).unwrap_or(0)
    }
}

/// The system's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else takes")]
    fn unix_micros(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_micros()).unwrap_or(0)
    }
}
