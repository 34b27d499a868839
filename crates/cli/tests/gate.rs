//! `lazaret` in the background: a gate with a socket, a session on pipes, and the agent that speaks with either.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fmt::Display;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::time::Duration;

use serde_json::Value;
use testkit::frames;
use testkit::program::{Run as _, end};

use crate::program::lazaret;

/// A command that serves until it is told to end.
pub(crate) struct Gate(Child);

impl Gate {
    /// Starts it, and waits until it says that it is there.
    pub(crate) fn start(command: &mut Command, says: &str) -> Self {
        let (child, line) = command.start_and_hear();
        let gate = Self(child);
        assert!(line.starts_with(says), "{line}");
        gate
    }

    /// The session `s`, on a socket.
    pub(crate) fn ipc(home: &Path) -> Self {
        let words = ["ipc", "--user", "me", "--agent", "main", "--session", "s"];
        Self::start(&mut lazaret(home, &words), "listening on ")
    }

    pub(crate) fn end(mut self) {
        end(&mut self.0);
    }
}

impl Drop for Gate {
    /// A test that fails leaves nobody behind.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The agent of the session `s`.
pub(crate) fn agent(home: &Path) -> UnixStream {
    let agent = UnixStream::connect(home.join("ipc/s.sock")).unwrap();
    agent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    agent
}

/// Sends a message to the gate; gives the answer.
pub(crate) fn ask(agent: &mut UnixStream, message: &Value) -> Value {
    agent.write_all(&frames::frame(message.to_string().as_bytes())).unwrap();
    frames::answer(agent)
}

/// `lazaret ipc --stdio`, and the agent that speaks with it.
pub(crate) struct Session {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    output: ChildStdout,
}

impl Session {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.start();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output }
    }

    pub(crate) fn send(&mut self, message: impl Display) {
        let frame = frames::frame(message.to_string().as_bytes());
        self.input.as_mut().unwrap().write_all(&frame).unwrap();
    }

    pub(crate) fn answer(&mut self) -> Value {
        frames::answer(&mut self.output)
    }

    pub(crate) fn ask(&mut self, message: impl Display) -> Value {
        self.send(message);
        self.answer()
    }

    /// Ends in order; gives what was said to the person.
    pub(crate) fn end(mut self) -> String {
        drop(self.input.take());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{said}");
        said
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
