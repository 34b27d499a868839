//! What an agent says to its user.

use crate::ipc::declare::object;
use crate::ipc::limits::ANSWER_UNITS_MAX;
use crate::ipc::text::Text;

object! {
    /// Say something to the user. Whoever runs the agent shows it once this is answered with `ok`, and not before.
    MessageOut {
        /// The words, or the next piece of them.
        "text" text: Text<ANSWER_UNITS_MAX>,
    }
}
