//! How a program ended, and how we end after it.

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::limits::CORE_BYTES;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// By itself, with this code.
    Exited(u8),
    /// By this signal.
    Killed(i32),
    /// Its time was up.
    TimedOut,
}

impl Ending {
    /// Ends this process as the program ended, if a signal ended it; otherwise the code to exit with.
    ///
    /// Whoever started us sees what it would have seen without us. Time that was up is 124, as `timeout` says.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::TimedOut => TIMED_OUT,
            Self::Killed(signal) => {
                // Our own memory is of no use to whoever looks for the cause.
                let none = Rlimit { current: Some(CORE_BYTES), maximum: Some(CORE_BYTES) };
                let _kept = setrlimit(Resource::Core, none);
                let _not_ended = signal_hook::low_level::emulate_default_handler(signal);
                u8::try_from(signal).map_or(u8::MAX, |it| it.saturating_add(BY_SIGNAL))
            }
        }
    }
}

/// The code for time that was up.
const TIMED_OUT: u8 = 124;
/// What shells add to the number of a signal.
const BY_SIGNAL: u8 = 128;
