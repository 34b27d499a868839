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
/// Bytes that are shown at a time: a pipe that takes something takes so much without waiting.
const SHOWN_BYTES_MAX: usize = 4096;

/// The two terminals. The person's is as it was when this goes.
pub(crate) struct Relay {
    inside: OwnedFd,
    before: Option<Termios>,
    input_is_open: bool,
    /// Nobody inside has the terminal open just now; somebody may open it again.
    is_hung_up: bool,
    /// What was typed and is not taken yet, and what was printed and is not shown yet. Neither is waited for: whoever
    /// follows the program has more to do.
    typed: Vec<u8>,
    printed: Vec<u8>,
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
        let (typed, printed) = (Vec::new(), Vec::new());
        Ok(Self { inside, before, input_is_open: true, is_hung_up: false, typed, printed })
    }

    /// What to wait for.
    pub(crate) fn wanted(&self) -> Vec<PollFd<'_>> {
        let mut of_inside = PollFlags::empty();
        of_inside.set(PollFlags::IN, self.printed.is_empty());
        of_inside.set(PollFlags::OUT, !self.typed.is_empty());
        let mut wanted = Vec::new();
        // Who has hung up would be told of again and again. It is asked anew when something else has come, or a moment
        // has passed.
        if !self.is_hung_up && !of_inside.is_empty() {
            wanted.push(PollFd::new(&self.inside, of_inside));
        }
        if self.takes_input() {
            wanted.push(PollFd::from_borrowed_fd(stdin(), PollFlags::IN));
        }
        if !self.printed.is_empty() {
            wanted.push(PollFd::from_borrowed_fd(stdout(), PollFlags::OUT));
        }
        wanted
    }

    fn takes_input(&self) -> bool {
        self.input_is_open && self.typed.is_empty()
    }

    /// Carries what is there, both ways, as far as it goes at once.
    pub(crate) fn carry(&mut self) -> io::Result<()> {
        self.outward()?;
        if self.takes_input() && is_ready(stdin(), PollFlags::IN) {
            let mut bytes = [0; PIECE_BYTES];
            let got = read(stdin(), &mut bytes)?;
            self.input_is_open = got > 0;
            self.typed.extend_from_slice(bytes.get(..got).unwrap_or_default());
            if got == 0 {
                // The end of the input, as a terminal says it.
                self.typed.push(END_OF_INPUT);
            }
        }
        if !self.typed.is_empty() {
            match write(&self.inside, &self.typed) {
                Ok(count) => drop(self.typed.drain(..count.min(self.typed.len()))),
                Err(Errno::AGAIN | Errno::INTR) => {}
                // Nobody reads it any more.
                Err(_) => self.typed.clear(),
            }
        }
        Ok(())
    }

    fn outward(&mut self) -> io::Result<()> {
        if self.printed.is_empty() {
            self.take_printed()?;
        }
        // So much fits in wherever there is room at all.
        if !self.printed.is_empty() && is_ready(stdout(), PollFlags::OUT) {
            let piece = self.printed.get(..SHOWN_BYTES_MAX).unwrap_or(&self.printed);
            match write(stdout(), piece) {
                Ok(count) => drop(self.printed.drain(..count.min(self.printed.len()))),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn take_printed(&mut self) -> io::Result<()> {
        let mut bytes = [0; PIECE_BYTES];
        let got = read(&self.inside, &mut bytes);
        self.is_hung_up = matches!(got, Ok(0) | Err(Errno::IO));
        match got {
            Ok(got) => self.printed.extend_from_slice(bytes.get(..got).unwrap_or_default()),
            Err(Errno::IO | Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What was written last. The program has ended: there is nothing else to do but to wait for whoever looks at it.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        loop {
            write_all(&std::mem::take(&mut self.printed))?;
            self.take_printed()?;
            if self.printed.is_empty() {
                return Ok(());
            }
        }
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

fn is_ready(fd: impl AsFd, wanted: PollFlags) -> bool {
    let mut it = [PollFd::new(&fd, wanted)];
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
