//! The program's only look at the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as the format writes times.
#[expect(clippy::disallowed_methods, reason = "the edge of the program, where the clock is read")]
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    aegx::timestamp::from_unix(i64::try_from(since.as_secs()).unwrap_or(0))
}
