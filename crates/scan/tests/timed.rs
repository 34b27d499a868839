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

/// How many times longer the second text is.
const GROWTH: usize = 8;
/// What is too short to be compared.
const SHORT: Duration = Duration::from_millis(500);

/// Does the work with `bytes` of `piece` and with an eighth of that, and fails if the whole took more than thrice its share.
/// Quadratic work takes eight times its share.
#[track_caller]
pub(crate) fn grows_linearly<T>(piece: &str, bytes: usize, work: impl Fn(&str) -> T) {
    // Whatever is made at the first use is made now.
    drop(work(piece));
    let time = |bytes: usize| {
        let text = piece.repeat(bytes / piece.len());
        let begun = Stopwatch::start();
        drop(work(&text));
        begun.elapsed()
    };
    let (small, large) = (time(bytes / GROWTH), time(bytes));
    let most = SHORT + small * (GROWTH * 3) as u32;
    assert!(large < most, "`{piece}`: {small:?}, then {large:?}");
}
