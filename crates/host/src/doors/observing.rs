//! What a door does with a question while a person only watches: the call passes, on record, and its result is taken in
//! like any other's.

use std::path::Path;

use evidence::{Clock as _, SystemClock};
use model::Caller;
use monitor::{Asked, Begun, Verdict};

use crate::gate::Gate;
use crate::observe::Observe;

/// Lets a call through that was stopped to be asked about, if somebody only watches now. None if it stays stopped: then it
/// is asked about as always. A denial stays one.
pub(super) fn let_through(
    gate: &Gate,
    home: &Path,
    who: &Caller,
    stopped: (&Asked<'_>, &Verdict),
) -> Option<Begun> {
    let watch = Observe::in_force(home, SystemClock.unix_seconds())?;
    // What cannot be recorded does not pass.
    let may = gate.monitor.observe_call(who, stopped, watch.to_json());
    if !may.is_ok_and(|it| it) {
        return None;
    }
    // Judged again: what has come up since is a question again.
    let (permit, begun) = gate.monitor.begin(who, stopped.0).ok()?;
    drop(permit);
    Some(begun)
}
