//! A state directory, a copy of the program and a daemon that does what a test wants.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests")]

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use tempfile::TempDir;

/// The reason that every denial gives, up to its cause.
pub(crate) const DENIED: &str = "Lazaret's daemon did not answer (";

pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for folder in [world.home(), world.path("bin"), world.path("work")] {
            std::fs::create_dir(&folder).unwrap();
            std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        }
        // A copy: beside the one that was built there may be a real `lazaret`.
        world
            .write("bin/lazaret-hook", &std::fs::read(env!("CARGO_BIN_EXE_lazaret-hook")).unwrap());
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn listen(&self) -> UnixListener {
        UnixListener::bind(self.home().join("doors.sock")).unwrap()
    }

    /// Serves connections one after the other, each with the next of these.
    pub(crate) fn serve<F>(&self, serves: Vec<F>) -> JoinHandle<Vec<Heard>>
    where
        F: FnOnce(&mut UnixStream) + Send + 'static,
    {
        let listener = self.listen();
        std::thread::spawn(move || {
            let mut heard = Vec::new();
            for serve in serves {
                let (mut stream, _) = listener.accept().unwrap();
                heard.push(Heard::from(&mut stream));
                serve(&mut stream);
            }
            heard
        })
    }

    /// Writes an executable script.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        self.write(name, format!("#!/bin/sh\n{text}\n").as_bytes());
        self.path(name)
    }

    /// Writes a program, by another process: while this one has it open for writing, a child that another test
    /// starts would keep it open too, and it could not be run.
    fn write(&self, name: &str, bytes: &[u8]) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", r#"cat > "$1" && chmod 700 "$1""#, "sh"]).arg(self.path(name));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        assert!(child.wait().unwrap().success());
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/lazaret-hook"));
        command.args(arguments).env_clear().env("LAZARET_HOME", self.home());
        command.env("PATH", "/usr/bin:/bin").current_dir(self.path("work"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a Codex hook, whose denials are pure JSON on standard output.
    pub(crate) fn hook(&self, input: &[u8]) -> Ran {
        Ran::of(self.command(&["codex", "PreToolUse"]), input)
    }
}

/// What came in on one connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) hello: String,
    pub(crate) input: Vec<u8>,
}

impl Heard {
    fn from(stream: &mut UnixStream) -> Self {
        Self { hello: String::from_utf8(frame(stream)).unwrap(), input: frame(stream) }
    }
}

fn frame(stream: &mut UnixStream) -> Vec<u8> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut bytes = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap()];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// Sends one frame; a client that has gone is of no interest.
pub(crate) fn reply(stream: &mut UnixStream, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap();
    let _ = stream.write_all(&[&length.to_be_bytes(), bytes].concat());
}

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(mut command: Command, input: &[u8]) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // It need not read to the end.
        let writing = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let ran = Self::ended(child);
        writing.join().unwrap();
        ran
    }

    pub(crate) fn ended(child: Child) -> Self {
        Self::from(child.wait_with_output().unwrap())
    }

    /// Asserts that it is Codex's denial of a call, for this reason.
    pub(crate) fn assert_denied(&self, why: &str) {
        let start = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":""#;
        let reason = format!("{start}{DENIED}{why}), so nothing is let through. Next step: ");
        assert_eq!((self.exit, self.stderr.as_str()), (0, ""), "{self:?}");
        assert!(self.stdout.starts_with(&reason), "{why}: {self:?}");
        assert!(self.stdout.ends_with("\"}}"), "{self:?}");
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
