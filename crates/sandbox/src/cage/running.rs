//! A program that runs in its cage, seen from outside: signals go in, the end comes out, and nothing is left over.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_send_signal, waitid,
};

use super::cgroup::Group;
use super::channel::{Channel, Word};
use super::ending::Ending;
use super::error::{CageError, Step};
use super::fresh::Fresh;
use super::kept::{Kept, LOOK_EVERY, SetAside};
use super::signals::{self, Signals};
use super::start::{Terminal, Without};
use super::sys::Child;
use super::terminal::Relay;

/// A program in its cage. When this goes, everything inside is ended.
pub struct Running {
    child: Child,
    /// None only while this goes.
    outside: Option<Channel>,
    pub(crate) inner: Option<Channel>,
    /// Taken before the program begins, so that none is lost between.
    pub(crate) signals: Option<Signals>,
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
    /// What was covered beside what the view says.
    pub(crate) closed: Vec<PathBuf>,
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
            signals: None,
            terminal: None,
            until: None,
            wall_time,
            stop: None,
            group,
            fresh: None,
            ends_itself: false,
            kept: Kept::default(),
            closed: Vec::new(),
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

    /// Why nobody says what holds.
    pub(crate) fn why_not(&self) -> Without {
        self.outside().map_or_else(Without::Failed, why_silent)
    }

    /// Ends everything as soon as there is something to read at `stop`, or its other side is gone.
    #[must_use]
    pub fn ending_with(mut self, stop: OwnedFd) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Follows the program to its end and passes signals on to it. Tells how it ended, which is an error if it could not
    /// be run or the cage broke, and what it made where nobody may: that was set aside when everything had ended.
    pub fn wait(mut self) -> (Result<Ending, CageError>, Vec<SetAside>) {
        let ending = self.follow();
        let ended = self.end();
        let aside = self.kept.restore();
        (ending.and_then(|it| ended.map(|()| it)), aside)
    }

    fn follow(&mut self) -> Result<Ending, CageError> {
        self.until = self.wall_time.and_then(|it| Instant::now().checked_add(it));
        let signals = self.signals.take();
        let signals = signals.ok_or_else(|| CageError::step("follow it", "it never began"))?;
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
                    self.pass_on(signal)
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

    fn pass_on(&self, signal: i32) -> Result<(), CageError> {
        if signal != signals::STOP {
            return self.say(&Word::Signal(signal));
        }
        // What a terminal sends means nothing to a program in a session of its own, so it is stopped by force; and so are
        // we, until somebody lets us go on.
        self.say(&Word::Signal(Signal::STOP.as_raw()))?;
        kill_process(getpid(), Signal::STOP).step("stop")
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

/// Which process ended, and how, before anybody said what holds. The first one tells of the second.
fn why_silent(outside: &Channel) -> Without {
    const TREE: &str = "put the file tree together and give up rights";
    let ended = |step: &str, why: String| Without::Failed(CageError::step(step, why));
    loop {
        return match outside.hear() {
            Ok(Some((Word::Failed { step, why }, _))) => refused(step, why),
            // It has done its part, and follows the second one.
            Ok(Some((Word::Settled | Word::Listening, _))) => continue,
            Ok(Some((Word::Exited(code), _))) => ended(
                TREE,
                format!("the second process of the cage ended with {code} and said nothing"),
            ),
            Ok(Some((Word::Killed(signal), _))) => {
                ended(TREE, format!("the second process of the cage was ended by signal {signal}"))
            }
            Ok(_) | Err(_) => {
                ended("make a cage", "its first process ended and said nothing".to_owned())
            }
        };
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
        let _told_to_nobody = self.end();
        let _told_to_nobody = self.kept.restore();
    }
}

impl Running {
    /// Ends everything inside.
    ///
    /// # Errors
    ///
    /// Nobody knows whether everything has ended.
    fn end(&mut self) -> Result<(), CageError> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let mut ended = Ok(());
        drop(self.outside.take());
        // With the first process the kernel ends all others of its namespace. Where there is none, it hears that we
        // are gone and ends them itself, and is ended by force only if that takes too long.
        if self.ends_itself {
            let mut gone = [PollFd::new(&self.child.handle, PollFlags::IN)];
            if poll(&mut gone, Some(&END_WITHIN)) == Ok(0) {
                ended = Err(CageError::step("end everything", "it takes too long"));
            }
        }
        let _gone = pidfd_send_signal(&self.child.handle, Signal::KILL);
        // In a namespace it is gone when all others are.
        let id = WaitId::PidFd(self.child.handle.as_fd());
        let _gone = waitid(id, WaitIdOptions::EXITED);
        ended
    }
}

/// How long the first process has for ending all others.
const END_WITHIN: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told after the first process has said this.
    fn told(words: &[Word]) -> String {
        let (outside, first) = Channel::pair().unwrap();
        words.iter().for_each(|it| first.say(it).unwrap());
        drop(first);
        match why_silent(&outside) {
            Without::For(why) => why,
            Without::Failed(error) => error.to_string(),
        }
    }

    #[test]
    fn who_ended_before_it_was_said_what_holds_is_told() {
        let second = told(&[Word::Settled, Word::Killed(9)]);
        assert!(second.contains("file tree") && second.contains("second process"), "{second}");
        assert!(second.contains("signal 9"), "{second}");
        assert!(
            told(&[Word::Listening, Word::Settled, Word::Exited(1)]).contains("second process")
        );
        assert!(told(&[]).contains("first process"));
        assert!(told(&[Word::Settled]).contains("first process"));
        let (step, why) = ("name the host".to_owned(), "no".to_owned());
        assert_eq!(told(&[Word::Failed { step, why }]), "name the host: no");
    }
}
