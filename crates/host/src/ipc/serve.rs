//! Serving one session: every frame that comes by its socket, or by stdin, gets its answer.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use model::Caller;
use model::ipc::{Answer, MESSAGE_BYTES_MAX};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::door::Door;
use super::frame::{self, FrameError, Limits};
use super::socket::Socket;
use super::stop::Stop;
use super::wire::{Ends, Wire};

/// How many connections a session has at once. Whoever comes then waits until another has gone.
pub const CONNECTIONS_MAX: usize = 16;
/// How often it is looked whether one has gone, or the system has room again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What answers the frames of a connection.
pub(crate) trait Serves: Sync {
    /// The answer to one message.
    fn answer(&self, message: &[u8]) -> Vec<u8>;

    /// Something else came than a frame.
    fn no_frame(&self, error: &FrameError);
}

/// The door, speaking with one session.
struct Speaking<'a> {
    door: &'a Door,
    who: &'a Caller,
}

impl Serves for Speaking<'_> {
    fn answer(&self, message: &[u8]) -> Vec<u8> {
        as_bytes(&self.door.answer(self.who, message))
    }

    fn no_frame(&self, error: &FrameError) {
        self.door.no_frame(self.who, error);
    }
}

/// Serves the connections of `socket` until `stop` is said. All of them speak for `who`.
///
/// # Errors
/// If the socket cannot be waited for.
pub fn serve_socket(
    door: &Door,
    who: &Caller,
    socket: &Socket,
    limits: &Limits,
    stop: &Stop,
) -> io::Result<()> {
    connections(&Speaking { door, who }, socket, limits, stop)
}

/// Answers every frame that comes by `wire`, until its other side ends.
///
/// # Errors
/// If it does not end in order. What was no frame has been recorded.
pub fn serve_wire(
    door: &Door,
    who: &Caller,
    wire: &mut impl Wire,
    limits: &Limits,
) -> Result<(), FrameError> {
    frames(&Speaking { door, who }, wire, limits)
}

/// Serves the connections of `socket` until `stop` is said.
pub(crate) fn connections(
    served: &impl Serves,
    socket: &Socket,
    limits: &Limits,
    stop: &Stop,
) -> io::Result<()> {
    let stranger = |error: &FrameError| served.no_frame(error);
    each_connection(socket, CONNECTIONS_MAX, stop, stranger, |stream| {
        let Ok(input) = stream.try_clone() else { return };
        // How a connection ends is recorded where it matters, and the others go on.
        let _ = frames(served, &mut Ends::new(input, stream, stop.clone()), limits);
    })
}

/// Does `serve` with each connection of `socket`, at most so many at once, each in a thread of its own, until `stop` is
/// said. Connections of other users are told to `stranger` and closed.
pub(crate) fn each_connection(
    socket: &Socket,
    at_once: usize,
    stop: &Stop,
    stranger: impl Fn(&FrameError),
    serve: impl Fn(UnixStream) + Sync,
) -> io::Result<()> {
    let open = AtomicUsize::new(0);
    thread::scope(|scope| {
        loop {
            if open.load(Ordering::Acquire) >= at_once {
                if stop.wait(LOOK_AGAIN) {
                    return Ok(());
                }
                continue;
            }
            if !somebody_came(socket, stop)? {
                return Ok(());
            }
            let stream = match socket.accept() {
                Ok(Ok(stream)) => stream,
                Ok(Err(uid)) => {
                    stranger(&FrameError::Stranger { uid });
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                // Gone again, or the system has no descriptors left.
                Err(_) => {
                    if stop.wait(LOOK_AGAIN) {
                        return Ok(());
                    }
                    continue;
                }
            };
            open.fetch_add(1, Ordering::AcqRel);
            let (serve, open) = (&serve, &open);
            let served = move || {
                serve(stream);
                open.fetch_sub(1, Ordering::AcqRel);
            };
            let thread = thread::Builder::new().name("door".to_owned());
            if thread.spawn_scoped(scope, served).is_err() {
                open.fetch_sub(1, Ordering::AcqRel);
            }
        }
    })
}

fn frames(served: &impl Serves, wire: &mut impl Wire, limits: &Limits) -> Result<(), FrameError> {
    loop {
        let message = frame::read(wire, limits);
        let message = message.inspect_err(|error| served.no_frame(error))?;
        let Some(message) = message else { return Ok(()) };
        let answer = served.answer(&message);
        drop(message);
        frame::write(wire, &answer, limits)?;
    }
}

/// An answer fits into a frame, as a message does.
fn as_bytes(answer: &Answer) -> Vec<u8> {
    let bytes = answer.to_value().to_string().into_bytes();
    if bytes.len() <= MESSAGE_BYTES_MAX {
        return bytes;
    }
    let message = format!("the answer has {} bytes, ask for less at a time", bytes.len());
    Answer::Failed { message }.to_value().to_string().into_bytes()
}

/// Waits for a connection; `false` if serving is to end.
fn somebody_came(socket: &Socket, stop: &Stop) -> io::Result<bool> {
    loop {
        let mut fds = [
            PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) => return Ok(fds.first().is_none_or(|it| it.revents().is_empty())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn an_answer_is_no_longer_than_a_message_may_be() {
        let text = |length: usize| {
            let fields = [("text".to_owned(), "x".repeat(length).into())];
            as_bytes(&Answer::Done(Map::from_iter(fields)))
        };
        let around = br#"{"ok":true,"text":""}"#.len();
        assert_eq!(text(MESSAGE_BYTES_MAX - around).len(), MESSAGE_BYTES_MAX);
        let longer = String::from_utf8(text(MESSAGE_BYTES_MAX - around + 1)).unwrap();
        assert!(
            longer.contains("the answer has 10000001 bytes, ask for less at a time"),
            "{longer}"
        );
    }
}
