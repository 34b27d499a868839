//! Work that must not take long, whatever it is given.

use std::time::Duration;

use testkit::Stopwatch;

/// What linear work stays far below on a slow machine without optimization, and what quadratic work on the same text
/// takes several times over.
const TAKES_MAX: Duration = Duration::from_secs(60);

/// Does the work, and fails if that took too long.
#[track_caller]
pub(crate) fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begun = Stopwatch::start();
    let done = work();
    let took = begun.elapsed();
    assert!(took < TAKES_MAX, "`{what}` took {took:?}");
    done
}
