//! A word to a model that has changed something: what was written is looked at before it is called done.

use crate::outcome::Fate;

/// What stands once in a turn behind the result of the first call that changed a file.
pub(crate) const REMINDER: &str = "[Before you say that this is done: look at what you changed, or run what tests it, and say plainly what you did not check.]";

/// Has this call changed a file?
pub(crate) fn changes(tool: &str, fate: Fate) -> bool {
    fate == Fate::Ran && matches!(tool, "file_write" | "file_edit")
}
