//! What is said back to a host.

/// A decision about an event, in no host's form yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Nothing to object: the host's own rules go on. No permission is granted.
    Pass,
    /// The call, prompt or result is refused.
    Deny {
        /// One sentence for the model and the person, with the next step.
        reason: String,
    },
    /// A person must be asked.
    Ask {
        /// One sentence that also says how to approve: on most hosts this becomes a denial.
        reason: String,
    },
    /// The event goes on and the model is told something.
    Context {
        /// What it is told.
        text: String,
    },
    /// The tool's result is replaced.
    Replace {
        /// What the model reads instead.
        text: String,
    },
    /// The tool's result is kept from the model.
    Withhold {
        /// Why, and what can be done.
        reason: String,
    },
}

/// What `lazaret-hook` prints and how it exits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit status.
    pub exit: u8,
    /// The bytes for standard output.
    pub stdout: Vec<u8>,
    /// The bytes for standard error.
    pub stderr: Vec<u8>,
}
