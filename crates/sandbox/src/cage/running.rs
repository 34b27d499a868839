//! A program that runs in its cage, seen from outside: signals go in, the end comes out, and nothing is left over.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Resource, Rlimit, Signal, WaitId, WaitIdOptions, pidfd_send_signal, setrlimit, waitid,
};

use super::cgroup::Group;
use super::channel::{Channel, Word};
use super::error::{CageError, Step};
use super::kept::{Kept, SetAside};
use super::limits::CORE_BYTES;
use super::signals::Signals;
use super::start::{Fresh, Terminal, Without};
use super::sys::Child;
use super::terminal::Relay;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A program in its cage. When this goes, everything inside is ended.
pub struct Running {
    child: Child,
    /// None only while this goes.
    outside: Option<Channel>,
    pub(crate) inner: Option<Channel>,
    pub(crate) terminal: Option<Terminal>,
    until: Option<Instant>,
    wall_time: Option<Duration>,
    /// As soon as there is something to read here, everything is to end.
    stop: Option<OwnedFd>,
    // Taken away in this order, when no process is left.
    group: Option<Group>,
    pub(crate) fresh: Option<Fresh>,
    /// There is no namespace that ends with the first process: it ends the others itself.
    pub(crate) ends_itself: bool,
    pub(crate) kept: Kept,
    is_over: bool,
}

impl Running {
    pub(crate) fn new(
        child: Child,
        outside: Channel,
        group: Option<Group>,
        wall_time: Option<Duration>,
    ) -> Self {
        Self {
            child,
            outside: Some(outside),
            inner: None,
            terminal: None,
            until: None,
            wall_time,
            stop: None,
            group,
            fresh: None,
            ends_itself: false,
            kept: Kept::default(),
            is_over: false,
        }
    }

    fn outside(&self) -> Result<&Channel, CageError> {
        self.outside.as_ref().ok_or_else(|| CageError::step("speak to the cage", "it is gone"))
    }

    pub(crate) fn say(&self, word: &Word) -> Result<(), CageError> {
        self.outside()?.say(word).step("speak to the cage")
    }

    /// The listener that the first process has made.
    pub(crate) fn listener(&self) -> Result<TcpListener, Without> {
        match self.outside()?.hear().step("take the listener")? {
            Some((Word::Listening, Some(fd))) => Ok(TcpListener::from(fd)),
            Some((Word::Failed { step, why }, _)) => Err(refused(step, why)),
            Some(_) | None => Err(Without::Failed(CageError::step("listen", "no listener came"))),
        }
    }

    /// Waits until the first process has done its part.
    pub(crate) fn settled(&self) -> Result<(), Without> {
        match self.outside()?.hear().step("settle")? {
            Some((Word::Settled, _)) => Ok(()),
            Some((Word::Failed { step, why }, _)) => Err(refused(step, why)),
            Some(_) | None => Err(Without::Failed(CageError::step("settle", "it is gone"))),
        }
    }

    /// Why the first process ended before there was a second.
    pub(crate) fn why_not(&self) -> Without {
        match self.outside().map(Channel::hear) {
            Ok(Ok(Some((Word::Failed { step, why }, _)))) => refused(step, why),
            Ok(_) | Err(_) => {
                Without::Failed(CageError::step("make a cage", "its first process ended"))
            }
        }
    }

    /// Ends everything as soon as there is something to read at `stop`, or its other side is gone.
    #[must_use]
    pub fn ending_with(mut self, stop: OwnedFd) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Follows the program to its end and passes signals on to it.
    ///
    /// # Errors
    ///
    /// It could not be run, or the cage broke. Everything inside is ended in any case.
    pub fn wait(self) -> Result<Ending, CageError> {
        self.wait_and_tell().0
    }

    /// The same, and what the program made where nobody may: it was set aside when everything had ended.
    pub fn wait_and_tell(mut self) -> (Result<Ending, CageError>, Vec<SetAside>) {
        let ending = self.follow();
        self.end();
        let aside = self.kept.restore();
        (ending, aside)
    }

    fn follow(&mut self) -> Result<Ending, CageError> {
        self.until = self.wall_time.and_then(|it| Instant::now().checked_add(it));
        let signals = Signals::take().step("take signals")?;
        let mut relay =
            self.terminal.take().map(Relay::begin).transpose().step("use the terminal")?;
        let mut looked = Instant::now();
        loop {
            let inner = self.inner.take();
            let mut ready = vec![
                PollFd::new(self.outside()?, PollFlags::IN),
                PollFd::new(&signals, PollFlags::IN),
            ];
            ready.extend(self.stop.iter().map(|it| PollFd::new(it, PollFlags::IN)));
            if let Some(relay) = &relay {
                ready.extend(relay.wanted());
            }
            if let Some(inner) = &inner {
                ready.push(PollFd::new(inner, PollFlags::IN));
            }
            let left = match self.left() {
                Some(left) if left.is_zero() => return Ok(Ending::TimedOut),
                left => Timespec::try_from(left.map_or(LOOK_EVERY, |it| it.min(LOOK_EVERY))).ok(),
            };
            match poll(&mut ready, left.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(CageError::step("follow the program", error)),
            }
            let is_ready =
                |i: usize| ready.get(i).is_some_and(|it: &PollFd<'_>| !it.revents().is_empty());
            let (ended, signalled) = (is_ready(0), is_ready(1));
            let stopped = self.stop.is_some() && is_ready(2);
            let said = inner.as_ref().is_some_and(|_| is_ready(ready.len() - 1));
            drop(ready);
            if let Some(relay) = &mut relay {
                relay.carry().step("use the terminal")?;
            }
            if let Some(inner) = inner {
                // The channel of the program closes when it runs; if it does not, it says why.
                match said {
                    true => not_run(&inner)?,
                    false => self.inner = Some(inner),
                }
            }
            if looked.elapsed() >= LOOK_EVERY {
                self.kept.look()?;
                looked = Instant::now();
            }
            if signalled {
                signals.each(|signal| {
                    if let Some(relay) = &relay {
                        relay.resize(signal);
                    }
                    self.say(&Word::Signal(signal))
                })?;
            }
            if stopped && !ended {
                return Ok(Ending::Killed(Signal::KILL.as_raw()));
            }
            if ended {
                if let Some(relay) = &mut relay {
                    relay.finish().step("use the terminal")?;
                }
                return self.ending();
            }
        }
    }

    fn left(&self) -> Option<Duration> {
        self.until.map(|it| it.saturating_duration_since(Instant::now()))
    }

    fn ending(&self) -> Result<Ending, CageError> {
        match self.outside()?.hear().step("hear how it ended")? {
            Some((Word::Exited(code), _)) => Ok(Ending::Exited(code)),
            Some((Word::Killed(signal), _)) => Ok(Ending::Killed(signal)),
            Some((Word::Failed { step, why }, _)) => Err(CageError::Step { step, why }),
            // What lies in fresh places is memory that no process holds: the kernel may end all of them for it.
            Some(_) | None if self.group.as_ref().is_some_and(Group::was_full) => {
                Ok(Ending::Killed(Signal::KILL.as_raw()))
            }
            Some(_) | None => Err(CageError::step("follow the program", "its cage is gone")),
        }
    }
}

/// A step that the system refuses to a cage with namespaces is a reason to try without.
fn refused(step: String, why: String) -> Without {
    Without::For(format!("{step}: {why}"))
}

fn not_run(inner: &Channel) -> Result<(), CageError> {
    match inner.hear().step("let the program run")? {
        Some((Word::NotRun { why, code }, _)) => {
            Err(CageError::Program { program: String::new(), why, code })
        }
        Some((Word::Failed { step, why }, _)) => Err(CageError::Step { step, why }),
        Some(_) | None => Ok(()),
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        let _told_to_nobody = self.kept.restore();
    }
}

impl Running {
    /// Ends everything inside.
    fn end(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        drop(self.outside.take());
        // With the first process the kernel ends all others of its namespace. Where there is none, it hears that we
        // are gone and ends them itself, and is ended by force only if that takes too long.
        if self.ends_itself {
            let mut gone = [PollFd::new(&self.child.handle, PollFlags::IN)];
            let _late = poll(&mut gone, Some(&END_WITHIN));
        }
        let _gone = pidfd_send_signal(&self.child.handle, Signal::KILL);
        let id = WaitId::PidFd(self.child.handle.as_fd());
        let _gone = waitid(id, WaitIdOptions::EXITED);
    }
}

/// How often we look whether something was made that somebody outside would obey.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long the first process has for ending all others.
const END_WITHIN: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
