//! The end of serving: one word that everybody who waits hears at once.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

/// Hears that serving is to end. Nobody takes the word away, so every clone hears it.
#[derive(Clone, Debug)]
pub struct Stop(Arc<UnixStream>);

/// Says that serving is to end; so does its loss.
#[derive(Debug)]
pub struct Stopper(UnixStream);

impl Stop {
    /// One who says it, and one who hears it.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn pair() -> io::Result<(Stopper, Self)> {
        let (says, hears) = UnixStream::pair()?;
        Ok((Stopper(says), Self(Arc::new(hears))))
    }

    /// Heard when somebody ends the process in order, by SIGTERM or SIGINT.
    ///
    /// # Errors
    /// If the signals cannot be taken over.
    pub fn on_signals() -> io::Result<Self> {
        let (stopper, stop) = Self::pair()?;
        pipe::register(SIGTERM, stopper.0.try_clone()?)?;
        pipe::register(SIGINT, stopper.0)?;
        Ok(stop)
    }

    /// Has the process exit with `status` as soon as it is to be ended while what is given back is set: whoever asks twice does not
    /// wait for what may never come. Once in a process.
    ///
    /// # Errors
    /// If the signals cannot be taken over.
    pub fn at_once(status: u8) -> io::Result<Arc<AtomicBool>> {
        let waits = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            flag::register_conditional_shutdown(signal, status.into(), Arc::clone(&waits))?;
        }
        Ok(waits)
    }

    /// Set whenever somebody wants the files to be read again, by SIGHUP.
    ///
    /// # Errors
    /// If the signal cannot be taken over.
    pub fn reload_on_hangup() -> io::Result<Arc<AtomicBool>> {
        let wanted = Arc::new(AtomicBool::new(false));
        flag::register(SIGHUP, Arc::clone(&wanted))?;
        Ok(wanted)
    }

    /// Waits for it at most so long; was it said?
    #[must_use]
    pub fn wait(&self, at_most: Duration) -> bool {
        let Ok(timeout) = Timespec::try_from(at_most) else { return true };
        let mut fds = [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => ready > 0,
            // Interrupted: whoever waits looks again.
            Err(_) => false,
        }
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Stopper {
    /// Says it.
    pub fn stop(&self) {
        // It fails only when nobody is there to hear it.
        let _ = (&self.0).write_all(b".");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_hears_it_and_a_lost_stopper_says_it_too() {
        let (stopper, stop) = Stop::pair().unwrap();
        let other = stop.clone();
        assert!(!stop.wait(Duration::ZERO));
        stopper.stop();
        assert!(stop.wait(Duration::ZERO) && other.wait(Duration::ZERO));
        let (stopper, stop) = Stop::pair().unwrap();
        drop(stopper);
        assert!(stop.wait(Duration::ZERO));
    }
}
