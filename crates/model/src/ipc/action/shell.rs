//! Commands that run in a cage.

use super::FilePath;
use crate::ipc::declare::object;
use crate::ipc::limits::{COMMAND_MS_MAX, COMMAND_MS_MIN, COMMAND_UNITS_MAX};
use crate::ipc::number::Whole;
use crate::ipc::text::Text;

object! {
    /// Run a command in a cage: it can change the workspace and nothing else.
    ShellExec {
        /// The command line, as a shell reads it.
        "command" command: Text<COMMAND_UNITS_MAX>,
        /// Where it starts, below the workspace; there itself if absent.
        "dir" dir: Option<FilePath>,
        /// When everything that it started is ended, in milliseconds.
        "timeoutMs" timeout_ms: Option<Whole<COMMAND_MS_MIN, COMMAND_MS_MAX>>,
    }
}
