//! MCP servers of an agent in a cage: they run outside, behind the gateway, as its user's own configuration says.
//!
//! Inside, `lazaret mcp` finds the line in the place of the daemon, hands over its ends and waits. What may be started is a line
//! of the configuration, word for word: whoever is in the cage chooses which of them, and nothing of what it says.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use host::doors::client::Connection;
use host::doors::hello::Hello;
use host::doors::socket_path;
use sandbox::Piped;
use serde_json::{Value, json};
use setup::{GatewayLine, Host, Surroundings};

use crate::failure::{Exit, Failure};

/// The door that leads to servers, as a connection begins.
pub(super) const DOOR: &str = "mcp-outside";
/// Servers of one cage at once.
const SERVERS_MAX: usize = 64;
/// How often it is looked whether one has ended, or whoever asked for it has gone.
const LOOK: Duration = Duration::from_millis(50);

/// The servers that an agent may have.
#[derive(Clone)]
pub(super) struct Servers {
    lines: Vec<GatewayLine>,
    program: PathBuf,
    folder: PathBuf,
    running: Arc<AtomicUsize>,
}

impl Servers {
    /// Those that the agent's configuration sends through the gateway.
    pub(super) fn of(around: &Surroundings, host: Host, folder: &Path) -> Self {
        let lines = setup::gateway_lines(around, host);
        let (program, folder) = (around.lazaret.clone(), folder.to_owned());
        Self { lines, program, folder, running: Arc::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Runs one between the ends that were handed over, until it ends or whoever asked has gone.
    pub(super) fn serve(
        &self,
        inside: &UnixStream,
        asked: &[u8],
        ends: Vec<OwnedFd>,
    ) -> io::Result<()> {
        let running = self.running.fetch_add(1, Ordering::AcqRel);
        let served = if running < SERVERS_MAX {
            self.run(inside, asked, ends)
        } else {
            Err(io::Error::other(format!("{SERVERS_MAX} servers run already")))
        };
        self.running.fetch_sub(1, Ordering::AcqRel);
        let answer = match served {
            Ok(status) => json!({ "status": status }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        let mut connection = Connection::over(inside.try_clone()?)?;
        connection.say(answer.to_string().as_bytes()).map_err(io::Error::other)
    }

    fn run(&self, inside: &UnixStream, asked: &[u8], ends: Vec<OwnedFd>) -> io::Result<i32> {
        let args: Vec<String> = serde_json::from_slice(asked)?;
        let line = self.lines.iter().find(|it| it.args == args).ok_or_else(|| {
            io::Error::other("the agent's configuration outside has no such server: `lazaret init`")
        })?;
        let [input, output] = <[OwnedFd; 2]>::try_from(ends)
            .map_err(|_| io::Error::other("two ends are handed over"))?;
        let given = line.env.iter().map(|(name, value)| (name.into(), value.into()));
        let env: Vec<(OsString, OsString)> = std::env::vars_os().chain(given).collect();
        let mut child =
            Piped::between(&self.program, &line.args, &env, &self.folder, (input, output))?;
        inside.set_nonblocking(true)?;
        loop {
            if let Some(status) = child.ended()? {
                inside.set_nonblocking(false)?;
                return Ok(status);
            }
            // Whoever asked says nothing more. Dropped, the server ends.
            if has_gone(inside) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            thread::sleep(LOOK);
        }
    }
}

fn has_gone(mut inside: &UnixStream) -> bool {
    match io::Read::read(&mut inside, &mut [0]) {
        Err(error) => {
            !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
        }
        // The end, or words that nobody asked for.
        Ok(_) => true,
    }
}

/// Whether this program runs in a cage of an agent, so that servers run outside: in its state directory there is the line alone.
pub(crate) fn is_inside(home: &Path) -> bool {
    let socket = socket_path(home);
    let alone = std::fs::read_dir(home).is_ok_and(|it| {
        let names: Vec<_> = it.map_while(Result::ok).map(|it| it.path()).take(2).collect();
        names == [socket.clone()]
    });
    // A socket that nobody listens at is one that was left behind.
    alone && UnixStream::connect(socket).is_ok()
}

/// Has the server of this command line run outside, between our ends.
///
/// # Errors
/// If it is not one of the agent's configuration, or the line has gone.
pub(crate) fn hand_over(home: &Path) -> Result<Exit, Failure> {
    let args: Option<Vec<String>> =
        std::env::args_os().skip(1).map(|it| it.into_string().ok()).collect();
    let args = args.ok_or_else(|| Failure::usage("the command line is no text"))?;
    let (input, output) = (io::stdin(), io::stdout());
    let ends = [input.as_fd(), output.as_fd()];
    // Whoever listens is outside and has no number in here; the socket was put there by the cage's maker.
    let stream = UnixStream::connect(socket_path(home)).map_err(Failure::unable)?;
    Hello::say(&stream, DOOR, &ends).map_err(Failure::unable)?;
    let mut connection = Connection::over(stream).map_err(Failure::unable)?;
    let words = json!(args).to_string();
    connection.say(words.as_bytes()).map_err(Failure::unable)?;
    let answer = connection.hear_the_end().map_err(Failure::unable)?;
    match answer.get("error").and_then(Value::as_str) {
        Some(why) => Err(Failure::unable(format!("outside of the cage: {why}"))),
        None if answer.get("status") == Some(&json!(0)) => Ok(Exit::Done),
        None => Err(Failure::unable("the gateway outside of the cage has ended with an error")),
    }
}
