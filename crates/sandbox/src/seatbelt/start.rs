//! A cage behind a profile, before anything runs in it.

use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::launch::{self, PROGRAM, command_line};
use super::plan::Plan;
use super::running::Running;
use crate::cage::error::{CageError, Step};
use crate::cage::kept::Kept;
use crate::cage::{Cage, Fresh, Held, Inmate, Leave, Network};

/// How long the system may take to say whether it takes a profile.
const TRY_WITHIN: Duration = Duration::from_secs(10);
/// How often it is asked.
const TRY_PAUSE: Duration = Duration::from_millis(1);
/// What is run to find out. It does nothing.
const NOTHING: &str = "/usr/bin/true";
/// Bytes that are told of what the system says.
const SAID_BYTES_MAX: u64 = 1024;

/// What puts commands behind profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxExec {
    program: PathBuf,
}

impl Default for SandboxExec {
    /// The system's own.
    fn default() -> Self {
        Self { program: PathBuf::from(PROGRAM) }
    }
}

impl SandboxExec {
    /// Another program that takes the same arguments, for whoever tests this where there is no such kernel.
    #[must_use]
    pub fn played_by(program: PathBuf) -> Self {
        Self { program }
    }

    /// Where it is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Puts everything in place. Nothing of the program runs before [`Waiting::begin`].
    ///
    /// # Errors
    /// What is needed and does not hold, settings that make no sense, or a step that failed: nothing has run.
    pub fn put(
        &self,
        cage: &Cage,
        inmate: &Inmate,
        leave: impl FnOnce() -> Result<Leave, CageError> + Send,
    ) -> Result<Waiting, CageError> {
        self.make(cage, inmate, || leave()?.lets(inmate))
    }

    fn make(
        &self,
        cage: &Cage,
        inmate: &Inmate,
        meanwhile: impl FnOnce() -> Result<(), CageError>,
    ) -> Result<Waiting, CageError> {
        if let Err(error) = self.program.metadata() {
            let only = "only Linux and macOS have what a cage is made of";
            let shown = self.program.display();
            return Err(CageError::NoCage(format!("`{shown}`: {error}; {only}")));
        }
        let listener = match cage.network {
            Network::Proxy(_) => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).step("listen")?),
            Network::None => None,
        };
        let port = listener.as_ref().map(TcpListener::local_addr).transpose().step("listen")?;
        let port = port.and_then(|it| NonZeroU16::new(it.port()));
        let fresh = Fresh::make()?;
        let plan = Plan::of(cage, inmate, &fresh.path(), port)?;
        if let Some((rung, why)) = plan.held.lacks(&cage.needed) {
            return Err(CageError::Required { rung, why });
        }
        if !plan.held.is_a_cage() {
            return Err(CageError::NoCage(plan.held.to_string()));
        }
        // Apart from what the program may write.
        let beside = Fresh::make()?;
        let profile = launch::write(&beside.path(), "cage", &plan.profile);
        let profile = profile.step("write the profile")?;
        self.try_out(&profile)?;
        let kept = Kept::of(cage, plan.nested.clone());
        meanwhile()?;
        let line = command_line(&self.program, &profile, &plan.words);
        let held = plan.held.clone();
        let running = Running::new(cage, plan, line, kept, [fresh, beside]);
        Ok(Waiting { held, listener, running })
    }

    /// Does the system take this profile? Only then it holds.
    fn try_out(&self, profile: &Path) -> Result<(), CageError> {
        let line = command_line(&self.program, profile, &[NOTHING.into()]);
        let mut command = command(&line).ok_or_else(|| CageError::step("try", "nothing to run"))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().step("try the profile")?;
        let ended = within(&mut child, TRY_WITHIN).step("try the profile")?;
        if ended.is_some_and(|it| it.success()) {
            return Ok(());
        }
        let _gone = child.kill();
        let _gone = child.wait();
        let mut said = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            // What it could not say is not needed: it has failed.
            let _cut = stderr.take(SAID_BYTES_MAX).read_to_end(&mut said);
        }
        let said = String::from_utf8_lossy(&said);
        let said = if ended.is_none() { "it takes too long" } else { said.trim() };
        Err(CageError::NoCage(format!("the system does not take the profile: {said}")))
    }
}

/// A command from nothing: no environment, and the words as they are.
#[expect(clippy::disallowed_methods, reason = "this is where a process is started, in its cage")]
pub(super) fn command(line: &[std::ffi::OsString]) -> Option<Command> {
    let (program, rest) = line.split_first()?;
    let mut command = Command::new(program);
    command.args(rest).env_clear();
    Some(command)
}

fn within(child: &mut Child, time: Duration) -> std::io::Result<Option<ExitStatus>> {
    let until = Instant::now() + time;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if Instant::now() >= until => return Ok(None),
            None => std::thread::sleep(TRY_PAUSE),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Cage {
    /// Puts everything in place. Nothing of the program runs before [`Waiting::begin`].
    ///
    /// # Errors
    /// What is needed and does not hold, settings that make no sense, or a step that failed: nothing has run.
    pub fn put(
        &self,
        inmate: &Inmate,
        leave: impl FnOnce() -> Result<Leave, CageError> + Send,
    ) -> Result<Waiting, CageError> {
        SandboxExec::default().put(self, inmate, leave)
    }

    /// Makes a cage, takes it down and says what held. Nothing runs in it.
    ///
    /// # Errors
    /// As [`Cage::put`].
    pub fn trial(&self) -> Result<Held, CageError> {
        let nobody =
            Inmate { words: vec!["/bin/sh".into()], directory: "/".into(), ..Inmate::default() };
        SandboxExec::default().make(self, &nobody, || Ok(())).map(|it| it.held)
    }
}

/// A program behind its profile that has not begun yet.
pub struct Waiting {
    held: Held,
    listener: Option<TcpListener>,
    running: Running,
}

impl Waiting {
    /// What holds it.
    #[must_use]
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Where our proxy is asked from inside. Whoever takes it answers there.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// Lets the program run.
    ///
    /// # Errors
    /// It is not there, or cannot be run.
    pub fn begin(self) -> Result<Running, CageError> {
        let mut running = self.running;
        running.begin()?;
        Ok(running)
    }
}
