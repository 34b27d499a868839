//! Carries bytes between the person's terminal and the cage's own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{
    OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize,
};
use signal_hook::consts::SIGWINCH;

/// Bytes that are carried at a time.
const PIECE_BYTES: usize = 16 * 1024;

/// The two terminals. The person's is as it was when this goes.
pub(crate) struct Relay {
    inside: OwnedFd,
    before: Option<Termios>,
    input_is_open: bool,
}

impl Relay {
    pub(crate) fn begin(inside: OwnedFd) -> io::Result<Self> {
        let mut before = None;
        if isatty(stdin()) {
            let now = tcgetattr(stdin())?;
            let mut raw = now.clone();
            raw.make_raw();
            tcsetattr(stdin(), OptionalActions::Now, &raw)?;
            before = Some(now);
        }
        let flags = fcntl_getfl(&inside)?;
        fcntl_setfl(&inside, flags | OFlags::NONBLOCK)?;
        // It may have changed since the program began, before anybody listened.
        same_size(&inside);
        Ok(Self { inside, before, input_is_open: true })
    }

    /// What to wait for.
    pub(crate) fn wanted(&self) -> Vec<PollFd<'_>> {
        let mut wanted = vec![PollFd::new(&self.inside, PollFlags::IN)];
        if self.input_is_open {
            wanted.push(PollFd::from_borrowed_fd(stdin(), PollFlags::IN));
        }
        wanted
    }

    /// Carries what is there, both ways.
    pub(crate) fn carry(&mut self) -> io::Result<()> {
        self.outward()?;
        if self.input_is_open && ready(stdin()) {
            let mut bytes = [0; PIECE_BYTES];
            let got = read(stdin(), &mut bytes)?;
            self.input_is_open = got > 0;
            let mut left = bytes.get(..got).unwrap_or_default();
            while !left.is_empty() {
                match write(&self.inside, left) {
                    Ok(count) => left = left.get(count..).unwrap_or_default(),
                    Err(Errno::AGAIN) => self.outward()?,
                    // Nobody reads it any more.
                    Err(_) => break,
                }
            }
            if got == 0 {
                // The end of the input, as a terminal says it.
                let _gone = write(&self.inside, &[END_OF_INPUT]);
            }
        }
        Ok(())
    }

    fn outward(&self) -> io::Result<()> {
        let mut bytes = [0; PIECE_BYTES];
        while ready(self.inside.as_fd()) {
            match read(&self.inside, &mut bytes) {
                Ok(0) | Err(Errno::IO | Errno::AGAIN) => break,
                Ok(got) => write_all(bytes.get(..got).unwrap_or_default())?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// What was written last.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.outward()
    }

    /// The cage's terminal is as large as the person's.
    pub(crate) fn resize(&self, signal: i32) {
        if signal == SIGWINCH {
            same_size(&self.inside);
        }
    }
}

/// Gives the cage's terminal the size of the person's, if there is one. Before the program begins: it may ask at once.
pub(crate) fn same_size(inside: &OwnedFd) {
    if let Ok(size) = tcgetwinsize(stdin()) {
        let _kept = tcsetwinsize(inside, size);
    }
}

/// What a terminal sends at the end of the input.
const END_OF_INPUT: u8 = 4;

fn ready(fd: impl AsFd) -> bool {
    let mut it = [PollFd::new(&fd, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut it, Some(&now)).is_ok_and(|count| count > 0)
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(stdout(), bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl Drop for Relay {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _gone = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}
