//! On whose word a program gets into a cage.

use std::ffi::OsString;

use monitor::terminal::Vetted;

use super::error::CageError;
use super::settings::Inmate;

/// Leave to run one command in a cage: a permit that was spent for it, or the word of the person at the terminal.
///
/// INVARIANT (OneGate): nothing begins in a cage without one, and it is for the very words that begin.
#[must_use]
#[derive(Debug)]
pub struct Leave {
    words: Vec<OsString>,
}

impl Leave {
    /// By the person at the terminal, for what she typed.
    pub fn of_person(vetted: Vetted) -> Self {
        Self { words: vetted.spend() }
    }

    /// By the host, which spends a permit before it tells its launcher what to run.
    pub(crate) fn of_host(inmate: &Inmate) -> Self {
        Self { words: inmate.words.clone() }
    }

    /// Is it for this one?
    pub(crate) fn lets(self, inmate: &Inmate) -> Result<(), CageError> {
        match self.words == inmate.words {
            true => Ok(()),
            false => Err(CageError::Settings("leave was given for another command".to_owned())),
        }
    }
}
