//! Values as columns hold them. What cannot be read back was changed by somebody else: an error,
//! never a guess.

use model::Taint;

use crate::error::Broken;

/// Counts saturate: SQLite has no unsigned 64-bit numbers.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count as it was kept.
pub(super) fn unsigned(column: i64) -> Result<u64, Broken> {
    u64::try_from(column).map_err(|_| unreadable("count", &column))
}

/// Taint as it was kept.
pub(super) fn taint(column: i64) -> Result<Taint, Broken> {
    let bits = u32::try_from(column).ok();
    bits.and_then(Taint::from_bits).ok_or_else(|| unreadable("taint", &column))
}

/// A column that holds what nobody here wrote.
pub(super) fn unreadable(what: &str, found: &dyn std::fmt::Display) -> Broken {
    Broken::new(format_args!("it holds the {what} `{found}`, which nobody here wrote"))
}
