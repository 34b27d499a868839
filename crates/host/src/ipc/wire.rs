//! One connection: bytes in and out, and nobody waits for them for ever.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::stop::Stop;

/// How much is written at once. So much always fits where there is room at all, so that a write
/// does not wait for a reader after the deadline.
const WRITE_BYTES_MAX: usize = 4096;

/// How much is written at once to a socket, which takes what it has room for.
const SEND_BYTES_MAX: usize = 64 * 1024;

/// Bytes in and out, with a deadline.
pub trait Wire {
    /// Reads some bytes; none where the other side has ended.
    ///
    /// # Errors
    /// If none came in time, or serving is to end.
    fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<usize, WireError>;

    /// Writes all of `bytes`, even if serving is to end: it is the answer to what was done.
    ///
    /// # Errors
    /// If they were not taken in time.
    fn write_all(&mut self, bytes: &[u8], deadline: Instant) -> Result<(), WireError>;
}

/// Why there is nothing more to read or write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The deadline has passed.
    #[error("the other side took too long")]
    TooLate,
    /// Serving is to end.
    #[error("stopped")]
    Stopped,
    /// The system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A connection of two ends: a socket twice, or stdin and stdout.
#[derive(Debug)]
pub struct Ends<I, O> {
    input: I,
    output: O,
    stop: Stop,
    /// Whether a write takes what there is room for, and never waits.
    never_waits: bool,
}

/// A socket that is written to without waiting.
#[derive(Debug)]
pub struct Unwaited<S>(S);

impl<S: AsFd> AsFd for Unwaited<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<S: AsFd> Write for Unwaited<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(&self.0, bytes, SendFlags::DONTWAIT)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Read + AsFd> Ends<S, Unwaited<S>> {
    /// A socket, twice.
    pub fn of_socket(input: S, output: S, stop: Stop) -> Self {
        Self { input, output: Unwaited(output), stop, never_waits: true }
    }
}

impl<I: Read + AsFd, O: Write + AsFd> Ends<I, O> {
    /// What comes in by `input` is answered by `output`. Neither may keep bytes in a buffer of its
    /// own: whether there are any is asked of the system.
    pub fn new(input: I, output: O, stop: Stop) -> Self {
        Self { input, output, stop, never_waits: false }
    }
}

impl<I: Read + AsFd, O: Write + AsFd> Wire for Ends<I, O> {
    fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<usize, WireError> {
        loop {
            wait(self.input.as_fd(), PollFlags::IN, Some(&self.stop), deadline)?;
            match self.input.read(buffer) {
                Err(error) if is_passing(&error) => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    fn write_all(&mut self, bytes: &[u8], deadline: Instant) -> Result<(), WireError> {
        let at_once = if self.never_waits { SEND_BYTES_MAX } else { WRITE_BYTES_MAX };
        let mut has_to_wait = !self.never_waits;
        for mut chunk in bytes.chunks(at_once) {
            while !chunk.is_empty() {
                if has_to_wait {
                    wait(self.output.as_fd(), PollFlags::OUT, None, deadline)?;
                }
                match self.output.write(chunk) {
                    Err(error) if is_passing(&error) => has_to_wait = true,
                    Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                    outcome => {
                        chunk = chunk.get(outcome?..).unwrap_or_default();
                        has_to_wait = !self.never_waits;
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

/// Waits until something can be done with `fd`, be it only to learn that it was closed.
fn wait(
    fd: BorrowedFd<'_>,
    flags: PollFlags,
    stop: Option<&Stop>,
    deadline: Instant,
) -> Result<(), WireError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut fds = vec![PollFd::from_borrowed_fd(fd, flags)];
        fds.extend(stop.map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)));
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => return Err(WireError::TooLate),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(io::Error::from(error).into()),
        }
        if fds.iter().skip(1).any(|it| !it.revents().is_empty()) {
            return Err(WireError::Stopped);
        }
        return Ok(());
    }
}
