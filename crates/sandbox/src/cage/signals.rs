//! Signals that come to the one outside and are meant for the one inside.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{
    SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH,
};

/// What is passed on. Whoever is stopped hears of what comes after it goes on.
const PASSED_ON: &[i32] =
    &[SIGTSTP, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH];
/// Stops the program, as a terminal asks for.
pub(crate) const STOP: i32 = SIGTSTP;

/// Signals that have come, to wait for and to ask about.
pub(crate) struct Signals {
    came: UnixStream,
    flags: Vec<(i32, Arc<AtomicBool>)>,
    ids: Vec<SigId>,
}

impl Signals {
    pub(crate) fn take() -> io::Result<Self> {
        let (came, wake) = UnixStream::pair()?;
        came.set_nonblocking(true)?;
        let (mut flags, mut ids) = (Vec::new(), Vec::new());
        for signal in PASSED_ON {
            let flag = Arc::new(AtomicBool::new(false));
            ids.push(signal_hook::flag::register(*signal, Arc::clone(&flag))?);
            ids.push(signal_hook::low_level::pipe::register(*signal, wake.try_clone()?)?);
            flags.push((*signal, flag));
        }
        Ok(Self { came, flags, ids })
    }

    /// Does something with each signal that has come since.
    pub(crate) fn each<E>(&self, mut act: impl FnMut(i32) -> Result<(), E>) -> Result<(), E> {
        let mut bytes = [0; 64];
        while matches!((&self.came).read(&mut bytes), Ok(1..)) {}
        for (signal, flag) in &self.flags {
            if flag.swap(false, Ordering::SeqCst) {
                act(*signal)?;
            }
        }
        Ok(())
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.came.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
