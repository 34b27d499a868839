//! The risk of a session as it was kept, for people who look: nothing is decided by it.

use super::{Level, Risk, Tuning};
use crate::change::Change;

/// The level that the changes of a session come to, the newest of which says it.
///
/// # Errors
/// If one of them is not understood.
pub fn kept(changes: &[Vec<u8>], tuning: Tuning) -> Result<Level, String> {
    for change in changes.iter().rev() {
        let change: Change = serde_json::from_slice(change).map_err(|error| error.to_string())?;
        if let Some(snapshot) = change.risk {
            return Ok(Risk::restore(tuning, snapshot).level());
        }
    }
    Ok(Level::Calm)
}
