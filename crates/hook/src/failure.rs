//! What can fail on the way to an answer.

use std::fmt;

/// Why there is no answer from the daemon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing came in time.
    Deadline,
    /// The program itself broke.
    Broken,
    /// Standard input could not be read.
    Input,
    /// Standard input is too long.
    InputTooLong,
    /// It is not known where the state directory is.
    NoHome,
    /// The command line names a state directory that is not absolute.
    NotAbsolute,
    /// The state directory could not be made.
    NoDirectory,
    /// The state directory, or the socket in it, is not ours alone.
    NotPrivate(&'static str),
    /// The daemon is not running and its program was not found.
    NoProgram,
    /// The daemon's program could not be started.
    NotStarted,
    /// The socket could not be reached.
    Unreachable,
    /// The connection broke before the answer was complete.
    Cut,
    /// The connection broke before the answer began.
    Silent,
    /// The answer is too long.
    AnswerTooLong,
    /// The daemon speaks another version.
    OtherVersion,
    /// The answer cannot be understood.
    Rubbish,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deadline => "not in time",
            Self::Broken => "the hook itself failed",
            Self::Input => "the hook's input could not be read",
            Self::InputTooLong => "the hook's input is too long",
            Self::NoHome => "neither LAZARET_HOME nor HOME names an absolute path",
            Self::NotAbsolute => "--home is no absolute path: run `lazaret init` again",
            Self::NoDirectory => "its state directory could not be made",
            Self::NotPrivate(what) => what,
            Self::NoProgram => "it is not running and its program was not found",
            Self::NotStarted => "it is not running and could not be started",
            Self::Unreachable => "its socket could not be reached",
            Self::Cut | Self::Silent => "the connection broke",
            Self::AnswerTooLong => "its answer is too long",
            Self::OtherVersion => "it speaks another version",
            Self::Rubbish => "its answer cannot be understood",
        })
    }
}
