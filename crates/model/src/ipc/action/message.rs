//! What an agent says to its user.

use crate::ipc::declare::object;
use crate::ipc::limits::{ANSWER_UNITS_MAX, PLACE_UNITS_MAX};
use crate::ipc::text::Text;

object! {
    /// Say something to the user. Whoever runs the agent shows it once this is answered with `ok`, and not before.
    MessageOut {
        /// The words, or the next piece of them.
        "text" text: Text<ANSWER_UNITS_MAX>,
        /// Where on a messenger: for the host alone, which knows who is there. Of an agent it is not carried out.
        "to" to: Option<Text<PLACE_UNITS_MAX>>,
    }
}
