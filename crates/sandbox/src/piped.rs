//! A program of the user's own choice, whose standard input and output are ours: a server that speaks over them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take to end by itself once nobody speaks to it.
const END_MAX: Duration = Duration::from_secs(3);
/// The status of one that a signal has ended.
const KILLED: i32 = 128;
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(5);

/// A program that runs. Dropped, it is ended.
pub struct Piped {
    child: Child,
}

/// Where what a program says on stderr goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Where ours goes.
    WithOurs,
    /// Nowhere.
    Nowhere,
}

/// The ends of its pipes.
pub struct Pipes {
    /// Its standard input.
    pub input: ChildStdin,
    /// Its standard output.
    pub output: ChildStdout,
}

impl Piped {
    /// Starts `program` with exactly this environment. What it says on stderr goes where `said` says.
    ///
    /// # Errors
    /// If it cannot be started.
    #[expect(
        clippy::disallowed_methods,
        reason = "servers of MCP are started here, and nothing else"
    )]
    pub fn start(
        program: &OsStr,
        args: &[OsString],
        env: &[(String, OsString)],
        said: Said,
    ) -> io::Result<(Self, Pipes)> {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match said {
            Said::WithOurs => Stdio::inherit(),
            Said::Nowhere => Stdio::null(),
        });
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let piped = Self { child };
        let (input, output) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((piped, Pipes { input, output }))
    }

    /// Starts `program` with exactly this environment, in `folder`, between ends that somebody else has: of its standard input, of its
    /// standard output, and for what it says on stderr.
    ///
    /// # Errors
    /// If it cannot be started.
    #[expect(
        clippy::disallowed_methods,
        reason = "our own gateway is started here for an agent in a cage, and nothing else"
    )]
    pub fn between(
        program: &Path,
        args: &[String],
        env: &[(OsString, OsString)],
        folder: &Path,
        [input, output, said]: [OwnedFd; 3],
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.current_dir(folder).stdin(input).stdout(output).stderr(said);
        Ok(Self { child: command.spawn()? })
    }

    /// Whether it has ended, and with which status.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn ended(&mut self) -> io::Result<Option<i32>> {
        Ok(self.child.try_wait()?.map(|it| it.code().unwrap_or(KILLED)))
    }

    /// Waits until it ends by itself, for a moment, and says with which status; else ends it.
    pub fn end(mut self) -> Option<i32> {
        let until = Instant::now() + END_MAX;
        while Instant::now() < until {
            match self.ended() {
                Ok(None) => std::thread::sleep(LOOK),
                found => return found.ok().flatten(),
            }
        }
        None
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
