//! A worker of our own in a cage: this very program, with one socket and nothing else.
//!
//! INVARIANT (OneGate): nobody chooses what runs here. It is the file that runs now, with one word that says what it is
//! to be; so that no permit is needed, and none could be had, for it is there before anybody asked for anything.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::error::RunError;
use super::process::Process;
use super::wire::{self, Go, Report};
use super::{Runner, process};
use crate::cage::{Cage, Held, Inmate};

/// How long a cage may take to be made.
const MADE_WITHIN: Duration = Duration::from_secs(30);

/// A launcher that waits to be told. It ends with the thread that started it.
pub struct Launched {
    process: Process,
}

/// A worker in its cage. Dropped, everything in the cage is ended, and its process is gone.
pub struct Confined {
    _process: Process,
    held: Held,
}

impl Runner {
    /// Starts a launcher whose program will have `socket`, and no other descriptor that leads anywhere, in the place of
    /// its standard output.
    ///
    /// The kernel ends a launcher with the thread that started it: call this from one that stays.
    ///
    /// # Errors
    /// If the system gives no process.
    pub fn launch(&self, socket: UnixStream) -> Result<Launched, RunError> {
        let socket = Stdio::from(OwnedFd::from(socket));
        Ok(Launched { process: Process::start_with(&self.launcher, socket, Stdio::null())? })
    }
}

impl Launched {
    /// Puts this very program into `cage`, with `argument` as its only word and this environment, and lets it begin.
    ///
    /// # Errors
    /// If there is no such cage here; nothing has run.
    pub fn confine(
        mut self,
        mut cage: Cage,
        argument: &'static str,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Confined, RunError> {
        let program = itself()?;
        cage.readable.push(program.clone());
        let words = vec![program.into_os_string(), argument.into()];
        let inmate = Inmate { words, directory: "/tmp".into(), environment, terminal: false };
        self.process.tell(&cage, &inmate)?;
        let held = self.process.held(Instant::now() + MADE_WITHIN)?;
        wire::say(&mut self.process.socket, &Go).map_err(RunError::Launcher)?;
        Ok(Confined { _process: self.process, held })
    }
}

impl Confined {
    /// What holds it.
    #[must_use]
    pub fn held(&self) -> &Held {
        &self.held
    }
}

impl Process {
    /// Waits until the launcher has said what holds.
    fn held(&mut self, until: Instant) -> Result<Held, RunError> {
        let mut came = Vec::new();
        let mut piece = [0; process::PIECE_BYTES];
        loop {
            match wire::take(&mut came).map_err(RunError::Launcher)? {
                Some(Report::Held(held)) => return Ok(held),
                Some(Report::Refused(why)) => return Err(RunError::Refused(why)),
                Some(Report::Ended(_)) => return Err(RunError::broke("it ended before it began")),
                None => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(RunError::broke("it was not made in time"));
            }
            self.socket.set_read_timeout(Some(left)).map_err(RunError::Launcher)?;
            let read = wire::receive(&self.socket, &mut piece, &mut None);
            match read {
                Ok(0) => return Err(RunError::broke("the launcher ended and said nothing")),
                Ok(read) => came.extend_from_slice(piece.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(RunError::Launcher(error)),
            }
        }
    }
}

/// The file that runs now. If it was replaced meanwhile it has no name any more, and nothing is started.
fn itself() -> Result<PathBuf, RunError> {
    let gone =
        || RunError::Refused("the program was replaced while it runs: start it anew".to_owned());
    let path = std::env::current_exe().map_err(RunError::Launcher)?;
    crate::cage::real_file(&path).ok_or_else(gone)
}
