//! A program that runs behind its profile: signals go in, the end comes out, and its group of processes ends with it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use signal_hook::SigId;
use signal_hook::consts::SIGCHLD;

use super::plan::Plan;
use super::start::command;
use super::sys;
use crate::cage::error::{CageError, Step};
use crate::cage::kept::{Kept, LOOK_EVERY};
use crate::cage::signals::Signals;
use crate::cage::{Cage, Ending, Fresh, Limits, Rung, SetAside};

/// Where programs are looked for by who has no `PATH`.
const USUAL_PATH: &str = "/usr/bin:/bin";
/// As shells say: it is not there.
const NOT_THERE: u8 = 127;
/// As shells say: it cannot be run.
const NOT_RUN: u8 = 126;

/// A program behind its profile. When this goes, its group of processes is ended.
pub struct Running {
    plan: Plan,
    line: Vec<OsString>,
    limits: Option<Limits>,
    wall_time: Option<Duration>,
    /// As soon as there is something to read here, everything is to end.
    stop: Option<OwnedFd>,
    kept: Kept,
    /// Taken before the program begins, so that none is lost between: one that ended us would leave it behind.
    signals: Option<Signals>,
    child: Option<Child>,
    // Taken away when no process is left.
    _fresh: [Fresh; 2],
}

impl Running {
    pub(super) fn new(
        cage: &Cage,
        plan: Plan,
        line: Vec<OsString>,
        kept: Kept,
        fresh: [Fresh; 2],
    ) -> Self {
        let limits = (!cage.without.contains(&Rung::Limits)).then_some(cage.limits);
        let wall_time = cage.limits.wall_time;
        let (stop, signals, child) = (None, None, None);
        Self { plan, line, limits, wall_time, stop, kept, signals, child, _fresh: fresh }
    }

    pub(super) fn begin(&mut self) -> Result<(), CageError> {
        let Plan { words, directory, environment, .. } = &self.plan;
        let program = words.first().map(OsString::as_os_str).unwrap_or_default();
        // What confines would say so as well, but not by these codes.
        can_be_run(program, environment, directory)?;
        let step = "let the program run";
        let mut command = command(&self.line).ok_or_else(|| CageError::step(step, "no words"))?;
        command.current_dir(directory);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        sys::apart(&mut command, self.limits);
        self.signals = Some(Signals::take().step("take signals")?);
        self.child = Some(command.spawn().step(step)?);
        Ok(())
    }

    /// Ends everything as soon as there is something to read at `stop`, or its other side is gone.
    #[must_use]
    pub fn ending_with(mut self, stop: OwnedFd) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Follows the program to its end, passes signals on to it, and tells what it made where nobody may: that was set aside
    /// when everything had ended. If it could not be followed, its group of processes is ended all the same.
    pub fn wait(mut self) -> (Result<Ending, CageError>, Vec<SetAside>) {
        let ending = self.follow();
        self.end();
        let aside = self.kept.restore();
        (ending, aside)
    }

    fn follow(&mut self) -> Result<Ending, CageError> {
        let until = self.wall_time.and_then(|it| Instant::now().checked_add(it));
        let signals = self.signals.take();
        let signals = signals.ok_or_else(|| CageError::step("follow it", "it never began"))?;
        let ends = Ends::take().step("take signals")?;
        let group = self.group().ok_or_else(|| CageError::step("follow it", "it never began"))?;
        let mut looked = Instant::now();
        loop {
            if let Some(ending) = ended(group)? {
                return Ok(ending);
            }
            let left = until.map(|it| it.saturating_duration_since(Instant::now()));
            let left = match left {
                Some(left) if left.is_zero() => return Ok(Ending::TimedOut),
                left => Timespec::try_from(left.map_or(LOOK_EVERY, |it| it.min(LOOK_EVERY))).ok(),
            };
            let mut ready =
                vec![PollFd::new(&signals, PollFlags::IN), PollFd::new(&ends.came, PollFlags::IN)];
            ready.extend(self.stop.iter().map(|it| PollFd::new(it, PollFlags::IN)));
            match poll(&mut ready, left.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(CageError::step("follow the program", error)),
            }
            let is_ready =
                |i: usize| ready.get(i).is_some_and(|it: &PollFd<'_>| !it.revents().is_empty());
            let (signalled, stopped) = (is_ready(0), is_ready(2));
            drop(ready);
            ends.clear();
            if looked.elapsed() >= LOOK_EVERY {
                self.kept.look()?;
                looked = Instant::now();
            }
            if signalled {
                signals.each(|signal| {
                    pass_on(group, signal);
                    Ok::<_, CageError>(())
                })?;
            }
            if stopped && ended(group)?.is_none() {
                return Ok(Ending::Killed(Signal::KILL.as_raw()));
            }
        }
    }

    fn group(&self) -> Option<Pid> {
        let child = self.child.as_ref()?;
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    /// Ends the group, and only then lets its number go: until the first of it was waited for, nobody else gets it.
    fn end(&mut self) {
        if let Some(group) = self.group() {
            let _gone = kill_process_group(group, Signal::KILL);
        }
        if let Some(mut child) = self.child.take() {
            let _gone = child.wait();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        let _told_to_nobody = self.kept.restore();
    }
}

/// How the first of a group ended, if it did. It stays to be waited for.
fn ended(first: Pid) -> Result<Option<Ending>, CageError> {
    let asked = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let status = loop {
        match waitid(WaitId::Pid(first), asked) {
            Err(rustix::io::Errno::INTR) => {}
            status => break status.step("hear how it ended")?,
        }
    };
    Ok(status.map(|it| told(&it)))
}

fn told(status: &WaitIdStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, Some(signal)) => Ending::Killed(signal),
        (None, None) => Ending::Exited(u8::MAX),
    }
}

/// To the whole group, as a terminal does.
fn pass_on(group: Pid, number: i32) {
    if let Some(signal) = Signal::from_named_raw(number) {
        // It may have ended a moment ago.
        let _gone = kill_process_group(group, signal);
    }
}

/// Is there such a program, as a shell would find it?
fn can_be_run(
    program: &OsStr,
    environment: &[(OsString, OsString)],
    directory: &Path,
) -> Result<(), CageError> {
    let path = environment.iter().rev().find(|it| it.0 == "PATH").map(|it| it.1.as_os_str());
    let candidates: Vec<PathBuf> = match program.as_encoded_bytes().contains(&b'/') {
        true => vec![directory.join(program)],
        false => std::env::split_paths(path.unwrap_or(OsStr::new(USUAL_PATH)))
            .map(|it| directory.join(it).join(program))
            .collect(),
    };
    let files: Vec<fs::Metadata> =
        candidates.iter().filter_map(|it| fs::metadata(it).ok()).collect();
    let runs = |it: &fs::Metadata| it.is_file() && it.permissions().mode() & 0o111 != 0;
    let (why, code) = match files.is_empty() {
        _ if files.iter().any(runs) => return Ok(()),
        true => ("it is not there", NOT_THERE),
        false => ("it cannot be run", NOT_RUN),
    };
    let program = program.to_string_lossy().into_owned();
    Err(CageError::Program { program, why: why.to_owned(), code })
}

/// Wakes us when some process of ours has ended.
struct Ends {
    came: UnixStream,
    id: SigId,
}

impl Ends {
    fn take() -> io::Result<Self> {
        let (came, wake) = UnixStream::pair()?;
        came.set_nonblocking(true)?;
        Ok(Self { came, id: signal_hook::low_level::pipe::register(SIGCHLD, wake)? })
    }

    fn clear(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.came).read(&mut bytes), Ok(1..)) {}
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.id);
    }
}
