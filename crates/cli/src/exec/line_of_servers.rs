//! MCP servers of an agent in a cage: they run outside, behind the gateway, as its user's own configuration says.
//!
//! Inside, `lazaret mcp` finds the line in the place of the daemon, hands over its ends and waits. What may be started is a line
//! of the configuration, word for word: whoever is in the cage chooses which of them, and nothing of what it says.
//!
//! INVARIANT (NothingOfTheirs): what the agent can change decides nothing of what runs outside. A server with no more than a cage of
//! its own starts in the agent's folder, which is all that it may change; every other one in an empty folder of its own, and only
//! if its line, its variables and the file that names it lead nowhere that the agent can change. No program is looked for there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
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
use host::workspace::Room;
use sandbox::Piped;
use sandbox::cage::Cage;
use serde_json::{Value, json};
use setup::{GatewayLine, Host, Surroundings};

use super::changeable::Changeable;
use crate::failure::{Exit, Failure};
use crate::mcp;

/// The door that leads to servers, as a connection begins.
pub(super) const DOOR: &str = "mcp-outside";
/// Servers of one cage at once.
const SERVERS_MAX: usize = 64;
/// The variable that says where programs are.
const PATH: &str = "PATH";
/// How often it is looked whether one has ended, or whoever asked for it has gone.
const LOOK: Duration = Duration::from_millis(50);

/// Where a server starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// In the agent's folder.
    InFolder,
    /// In an empty one.
    Apart,
}

/// The servers that an agent may have.
#[derive(Clone)]
pub(super) struct Servers {
    /// Where each line starts its server, or why it does not.
    lines: Vec<(GatewayLine, Result<Start, String>)>,
    changeable: Changeable,
    program: PathBuf,
    folder: PathBuf,
    running: Arc<AtomicUsize>,
}

impl Servers {
    /// Those that the agent's configuration sends through the gateway. They are looked at before the cage begins.
    pub(super) fn of(around: &Surroundings, host: Host, (cage, folder): (&Cage, &Path)) -> Self {
        let changeable = Changeable::of(cage);
        let lines = setup::gateway_lines(around, host).into_iter().map(|line| {
            let start = start_of(&line, around, (&changeable, folder));
            (line, start)
        });
        let lines = lines.collect();
        let (program, folder) = (around.lazaret.clone(), folder.to_owned());
        Self { lines, changeable, program, folder, running: Arc::default() }
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
        let (line, start) = self.lines.iter().find(|it| it.0.args == args).ok_or_else(|| {
            io::Error::other("the agent's configuration outside has no such server: `lazaret init`")
        })?;
        let ends = <[OwnedFd; 3]>::try_from(ends)
            .map_err(|_| io::Error::other("three ends are handed over"))?;
        let room = match start {
            Ok(Start::InFolder) => None,
            Ok(Start::Apart) => Some(Room::make()?),
            Err(why) => return Err(io::Error::other(why.clone())),
        };
        let folder = room.as_ref().map_or(self.folder.as_path(), Room::path);
        if room.is_some() && self.changeable.has(folder) {
            return Err(io::Error::other("there is no folder that the agent cannot change"));
        }
        let env = self.environment(line);
        let mut child = Piped::between(&self.program, &line.args, &env, folder, ends)?;
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

    /// Our own environment and what the line gives, without folders of programs that the agent can change.
    fn environment(&self, line: &GatewayLine) -> Vec<(OsString, OsString)> {
        let given = line.env.iter().map(|(name, value)| (name.into(), value.into()));
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().chain(given).collect();
        if let Some(path) = env.remove(OsStr::new(PATH)) {
            env.extend(self.changeable.without(&path).map(|it| (PATH.into(), it)));
        }
        env.into_iter().collect()
    }
}

/// Where a line starts its server, or why it does not.
fn start_of(
    line: &GatewayLine,
    around: &Surroundings,
    (changeable, folder): (&Changeable, &Path),
) -> Result<Start, String> {
    if [&line.file, &around.lazaret].into_iter().any(|it| changeable.has(it)) {
        return Err(
            "lazaret, or the configuration of this server, lies where the agent can change it"
                .to_owned(),
        );
    }
    let started = mcp::started_by(&line.args).ok_or("its line starts no server of one client")?;
    let words: Vec<&str> = started.words.iter().filter_map(|it| it.to_str()).collect();
    // A name alone is looked for where programs are.
    let program = words.first().map_or("", |it| *it);
    if program.contains('/') && changeable.has(&folder.join(program)) {
        return Err(format!("the agent can change `{program}`"));
    }
    // What the agent cannot change, a server of its may not, either.
    if started.is_plain && line.env.is_empty() && changeable.has(folder) {
        return Ok(Start::InFolder);
    }
    let values = line.env.iter().filter(|it| it.0 != PATH).map(|it| it.1.as_str());
    let named = words.into_iter().chain(values).find(|it| changeable.is_named_in(it, &around.home));
    if named.is_none() {
        return Ok(Start::Apart);
    }
    Err("its line or a variable of it names what the agent can change, and it has more than a cage of its own (--no-cage, --env, --secret, --network, --read, `env`): leave that out, and it starts in a cage, in the agent's folder".to_owned())
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
    let (input, output, said) = (io::stdin(), io::stdout(), io::stderr());
    let ends = [input.as_fd(), output.as_fd(), said.as_fd()];
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
