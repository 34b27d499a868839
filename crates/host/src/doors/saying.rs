//! What an agent says where a door only hears of it: it is judged like an answer that the gate is asked to let out.

use model::{Caller, Effect};
use monitor::{Asked, Executor, Output, Permit, Refusal};
use serde_json::json;

use crate::gate::Gate;

/// The longest piece that is judged at once, in bytes; a longer answer is judged piece by piece, and remembered across.
const PIECE_BYTES_MAX: usize = 256 * 1024;

/// Whoever speaks shows it: there is nothing to carry out here.
struct Shown;

impl Executor for Shown {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        drop(permit.spend());
        Output::text("{}")
    }
}

/// Judges what `who` says, and records it.
pub(crate) fn say(gate: &Gate, who: &Caller, text: &str) -> Result<(), Refusal> {
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, next) =
            rest.split_at_checked(rest.floor_char_boundary(PIECE_BYTES_MAX)).unwrap_or((rest, ""));
        let message =
            json!({ "action": "message_out", "text": piece.replace('\0', " ") }).to_string();
        gate.monitor.run(who, &Asked::Message(message.as_bytes()), &Shown)?;
        rest = next;
    }
    Ok(())
}
