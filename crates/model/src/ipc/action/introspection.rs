//! What an agent can ask about itself and about the moment.

use crate::ipc::declare::object;

object! {
    /// Tell the date and the time.
    CurrentTime {}
}

object! {
    /// Read the agent's own instructions.
    PromptRead {}
}

object! {
    /// List the agent's own tools.
    ToolsRead {}
}
