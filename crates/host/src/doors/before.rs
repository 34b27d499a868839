//! A conversation that goes on under a name that is new here brings along what nobody saw.

use model::{Caller, Source};
use monitor::Heard;

use crate::gate::Gate;

/// What stands for a conversation that nobody saw.
const BEFORE: &str = "What was said and read before this session is not known.";

/// Labels a session of a conversation that has gone on for a while, if nothing is known of it.
pub(super) fn hear_of(gate: &Gate, who: &Caller) -> Result<(), String> {
    let known = gate.monitor.summary(who).map_err(|error| error.to_string())?;
    if known.calls != 0 || known.tainted_tokens != 0 || known.clean_tokens != 0 {
        return Ok(());
    }
    let heard = Heard { source: Source::Tool, origin: "the conversation before", text: BEFORE };
    gate.monitor.hear(who, &heard).map(drop).map_err(|error| error.to_string())
}
