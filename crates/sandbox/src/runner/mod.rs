//! Runs commands of agents: each in a cage of its own, made by a process of its own.
//!
//! A cage must be made by a process with one thread, and the host has many. So the host starts a launcher, which is the
//! same program, tells it over a socket what to run, and hears over it what holds and how it ended. Nothing of that
//! stands in arguments or in an environment that others can read.

mod aside;
mod confined;
mod error;
mod form;
mod launcher;
mod process;
mod spoken;
mod text;
mod wire;

use std::ffi::OsString;
use std::net::TcpListener;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use model::ipc::ShellExec;
use monitor::Permit;

use crate::cage::{Cage, Ending, Held, Inmate};

pub use aside::Aside;
pub use confined::{Confined, Launched};
pub use error::RunError;
pub use launcher::launcher;
pub use spoken::{Asking, REQUEST_BYTES_MAX, Spoke, Spoken};
pub use text::clean;

/// The first argument by which a program is asked to be a launcher.
pub const LAUNCHER: &str = "__cage";
/// Bytes that are kept of what a command prints on stdout, and as many of stderr.
pub const PRINTED_BYTES_MAX: usize = 256 << 10;
/// How long a command may run if it does not say.
pub const WALL_TIME: Duration = Duration::from_secs(120);
/// Shells, in the order in which they are taken.
const SHELLS: &[&str] = &["/usr/bin/bash", "/bin/bash", "/bin/sh"];

/// Runs commands of agents.
#[derive(Clone, Debug)]
pub struct Runner {
    launcher: PathBuf,
}

/// Where a command runs, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Its cage. How long it may run is said by the command.
    pub cage: Cage,
    /// Where it starts.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Who is beside a command while it runs.
#[derive(Default)]
pub struct Beside<'a> {
    /// As soon as there is something to read here, the command is ended.
    pub stop: Option<BorrowedFd<'a>>,
    /// Takes the listener at which our proxy is asked from inside, before the command begins; needed if its cage has a
    /// way to the network. An error is a refusal: nothing runs.
    pub answer: Option<&'a mut dyn FnMut(TcpListener) -> Result<(), String>>,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub ending: Ending,
    /// What it made where it would be obeyed, and what became of that.
    pub aside: Aside,
    /// What held it.
    pub held: Held,
    /// What it printed.
    pub stdout: Printed,
    /// What it printed beside that.
    pub stderr: Printed,
    /// How long it took, with the making of the cage.
    pub took: Duration,
    /// It was ended because whoever was beside it wanted an end.
    pub stopped: bool,
}

/// What a command printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The beginning of it as text: what is no UTF-8 is replaced, and nothing in it steers a terminal.
    pub text: String,
    /// How many bytes there were.
    pub bytes: u64,
    /// How many of them are not in the text.
    pub dropped_bytes: u64,
}

impl Default for Runner {
    /// With this program as the launcher: it must call [`launcher`] if its first argument is [`LAUNCHER`].
    fn default() -> Self {
        let itself = match cfg!(target_os = "linux") {
            // The file that runs now, also if another one has its name by now.
            true => PathBuf::from("/proc/self/exe"),
            // Without a name nothing is started, and that is told.
            false => std::env::current_exe().unwrap_or_default(),
        };
        Self { launcher: itself }
    }
}

impl Runner {
    /// With another program as the launcher.
    #[must_use]
    pub fn with_launcher(launcher: PathBuf) -> Self {
        Self { launcher }
    }

    /// Runs the command that was permitted, and nothing else.
    ///
    /// INVARIANT (OneGate): no command of an agent runs without a permit, and what runs is what was judged.
    ///
    /// # Errors
    /// If there is no such cage here, or it broke. [`RunError::aside`] says whether anything ran.
    pub fn run(
        &self,
        permit: Permit<ShellExec>,
        around: Surroundings,
        mut beside: Beside<'_>,
    ) -> Result<Ran, RunError> {
        let asked = permit.spend();
        let Surroundings { mut cage, directory, environment } = around;
        let wall_time = asked.timeout_ms.map_or(WALL_TIME, |it| Duration::from_millis(it.get()));
        cage.limits.wall_time = Some(wall_time);
        let shell = SHELLS.iter().map(PathBuf::from).find(|it| it.exists());
        let shell = shell.ok_or_else(|| RunError::Refused("there is no shell here".to_owned()))?;
        let words =
            vec![shell.into(), OsString::from("-c"), OsString::from(asked.command.as_str())];
        let inmate = Inmate { words, directory, environment, terminal: false };
        let begun = Instant::now();
        let mut process = process::Process::start(&self.launcher)?;
        process.tell(&cage, &inmate)?;
        let heard = process.follow(wall_time, &mut beside, |_| false)?;
        let took = begun.elapsed();
        let process::Heard { ending, aside, held, stdout, stderr, stopped } = heard;
        let (stdout, stderr) = (stdout.told(), stderr.told());
        Ok(Ran { ending, aside, held, stdout, stderr, took, stopped })
    }
}
