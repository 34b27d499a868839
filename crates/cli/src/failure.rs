//! How the program ends, and why a command did not come to its end. It knows no command: commands use it, and the
//! dispatcher stands on top of them.

/// How the program ends.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    /// Verification failed, or the request was understood and refused.
    Refused = 1,
    Usage = 2,
    Unable = 3,
}

/// Why a command did not come to its end.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Could it work at another time?
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.exit, Exit::Unable)
    }

    pub(crate) fn refused(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Refused, message: message.to_string() }
    }

    pub(crate) fn usage(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string() }
    }

    pub(crate) fn unable(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Unable, message: message.to_string() }
    }
}
