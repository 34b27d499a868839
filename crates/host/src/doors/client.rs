//! The other side of the doors: a program of the same user that wants something of the daemon.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::Value;

use super::hello::Hello;
use super::{DOOR_BYTES_MAX, limits, socket_path};
use crate::ipc::socket::stranger;
use crate::ipc::{Ends, FrameError, Limits, Stop, Stopper, Unwaited, read, write};

/// A connection to the daemon.
pub struct Connection {
    wire: Ends<UnixStream, Unwaited<UnixStream>>,
    stream: UnixStream,
    _stopper: Stopper,
}

/// How long an answer may take that comes when something has ended.
const END_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

impl Connection {
    /// Connects to a door of the daemon on `home` and brings descriptors along; none if no daemon is there.
    ///
    /// # Errors
    /// If somebody else listens there, or the system does not let us.
    pub fn open(home: &Path, door: &str, bring: &[BorrowedFd<'_>]) -> io::Result<Option<Self>> {
        let stream = match UnixStream::connect(socket_path(home)) {
            Ok(stream) => stream,
            Err(error) if is_nobody(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(uid) = stranger(&stream)? {
            return Err(io::Error::other(FrameError::Stranger { uid }));
        }
        Hello::say(&stream, door, bring)?;
        Self::over(stream).map(Some)
    }

    /// Speaks over a connection that is there already.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn over(stream: UnixStream) -> io::Result<Self> {
        let (stopper, stop) = Stop::pair()?;
        let wire = Ends::of_socket(stream.try_clone()?, stream.try_clone()?, stop);
        Ok(Self { wire, stream, _stopper: stopper })
    }

    /// Returns the same connection once more: one may say while the other hears.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn again(&self) -> io::Result<Self> {
        Self::over(self.stream.try_clone()?)
    }

    /// Ends the connection, also for whoever hears on it.
    pub fn hang_up(&self) {
        // What has gone cannot be ended.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Says that nothing more comes, and waits until the daemon has ended what went on by this connection, or so long.
    pub fn hang_up_in_order(&mut self, at_most: Duration) {
        // What has gone has ended everything already.
        let _ = self.stream.shutdown(Shutdown::Write);
        let limits = Limits { idle: at_most, ..limits() };
        while self.hear_within(&limits).is_ok() {}
    }

    /// Says one frame.
    ///
    /// # Errors
    /// If it is not taken.
    pub fn say(&mut self, bytes: &[u8]) -> Result<(), FrameError> {
        write(&mut self.wire, bytes, &limits())
    }

    /// Hears the answer, in the daemon's usual time.
    ///
    /// # Errors
    /// If none comes.
    pub fn hear(&mut self) -> Result<Value, FrameError> {
        self.hear_within(&limits())
    }

    /// Waits until the daemon says that it is over, or `stop` is said here: then the daemon is told, and ends it.
    ///
    /// # Errors
    /// If the daemon has gone.
    pub fn wait(&mut self, stop: &Stop) -> Result<Value, FrameError> {
        loop {
            let mut fds = [
                PollFd::from_borrowed_fd(self.stream.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(FrameError::Io(error.into())),
            }
        }
        self.end()
    }

    /// Tells the daemon that it is enough, and hears how it ended.
    ///
    /// # Errors
    /// If the daemon has gone.
    pub fn end(&mut self) -> Result<Value, FrameError> {
        // What has gone cannot be told, and says so below.
        let _ = self.stream.shutdown(Shutdown::Write);
        self.hear_the_end()
    }

    /// Hears what is said next, however long that takes.
    ///
    /// # Errors
    /// If the daemon has gone.
    pub fn hear_whenever(&mut self) -> Result<Value, FrameError> {
        self.hear_the_end()
    }

    /// Hears what is said when something has ended, however long that takes.
    ///
    /// # Errors
    /// If the other side has gone.
    pub fn hear_the_end(&mut self) -> Result<Value, FrameError> {
        self.hear_within(&Limits { idle: END_MAX, bytes_max: DOOR_BYTES_MAX, ..limits() })
    }

    fn hear_within(&mut self, limits: &Limits) -> Result<Value, FrameError> {
        let answer = read(&mut self.wire, limits)?.ok_or(FrameError::Torn { bytes: 0 })?;
        serde_json::from_slice(&answer).map_err(|_| {
            let text = String::from_utf8_lossy(&answer).into_owned();
            FrameError::Io(io::Error::other(format!("the daemon said: {text}")))
        })
    }

    /// The process at the other end, as the system knows it.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::net::sockopt::socket_peercred(&self.stream).ok().map(|it| it.pid)
    }

    /// The process at the other end, where the system says it.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn pid(&self) -> Option<rustix::process::Pid> {
        None
    }

    /// The connection itself, to hear whether the daemon has gone.
    #[must_use]
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }
}

/// Has the other side gone?
fn is_over(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

/// Does nobody listen there? A name that is too long cannot have been bound either.
fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::InvalidInput
    )
}

/// What the daemon on `home` says of itself; none if none is there, or it has gone before it said a word.
///
/// # Errors
/// If somebody is there who does not answer.
pub fn status(home: &Path) -> Result<Option<Value>, FrameError> {
    match Connection::open(home, "status", &[])? {
        Some(mut connection) => match connection.hear() {
            Err(FrameError::Torn { bytes: 0 }) => Ok(None),
            Err(FrameError::Io(error)) if is_over(&error) => Ok(None),
            said => said.map(Some),
        },
        None => Ok(None),
    }
}
