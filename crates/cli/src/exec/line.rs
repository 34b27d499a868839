//! The way of an agent's hooks and MCP servers out of its cage: hooks are answered by the daemon outside, which knows the session,
//! the folders that are trusted and the questions that wait, and servers run outside, behind the gateway.
//!
//! Inside there is a socket in the place of the daemon's. What comes by it is passed on, if it is the call of a hook or asks for a
//! server that the user's own configuration names: no other door of the daemon is open to whoever is in a cage, and the socket
//! of the person is not there at all.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::doors::{self, DOOR_BYTES_MAX, hello::Hello, hello::PROTOCOL};
use host::ipc::pid_of_peer;
use sandbox::cage::{Cage, Line};
use setup::{Host, Wiring};

use super::line_of_servers::{self, Servers};
use super::presets::Preset;
use crate::daemon;
use crate::failure::Failure;
use crate::home::Home;
use crate::wire;

/// The door that is open, as a connection begins.
const DOOR: &str = "hook";
/// Hooks that are passed on at once; whoever comes then is not answered, and asks again.
const AT_ONCE_MAX: usize = 64;
/// How long a hook may take to say what it wants, and the daemon to answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Bytes of the length that a frame begins with.
const HEADER_BYTES: usize = 4;
/// The most bytes of an answer, with its header: a result may come back changed, and JSON may double it.
const ANSWER_BYTES_MAX: u64 = 80 << 20;
/// How long a daemon that does not answer is asked again: less than a hook waits.
const AGAIN_MAX: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(20);

/// A socket that is found inside, and the daemon outside.
pub(crate) struct Outside {
    home: PathBuf,
    servers: Servers,
    listener: UnixListener,
    /// Its name outside, which goes when the cage has it.
    dir: PathBuf,
}

impl Outside {
    /// A way out for the hooks of this agent, if it has some of ours; the cage is told of it, and the daemon is started.
    pub(crate) fn of(
        preset: &Preset,
        named: &Home,
        home: &Path,
        (cage, folder): (&mut Cage, &Path),
    ) -> Result<Option<Self>, Failure> {
        let around = wire::surroundings(named, None).ok();
        let Some((host, around)) = Host::parse(preset.name).zip(around) else { return Ok(None) };
        let servers = Servers::of(&around, host, (cage, folder));
        if setup::wiring(&around, host) == Wiring::NotInstalled && servers.is_empty() {
            return Ok(None);
        }
        // Before the network: it goes by the daemon, too, which has the journal.
        daemon::start(home)?;
        let dir = home.join("exec").join(format!("line-{}", std::process::id()));
        let unable = |error: io::Error| Failure::unable(format!("`{}`: {error}", dir.display()));
        let _left_behind = fs::remove_dir_all(&dir);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(unable)?;
        let from = dir.join("doors.sock");
        let listener = UnixListener::bind(&from).map_err(unable)?;
        let from = files::resolved(&from).map_err(unable)?;
        // Where it is found by what is wired.
        cage.lines.push(Line { from, at: doors::socket_path(&around.state) });
        let hook = files::resolved(&around.hook).map_err(Failure::unable)?;
        let ours = (!servers.is_empty()).then(|| around.lazaret.clone());
        for program in std::iter::once(hook).chain(ours) {
            if !cage.readable.iter().any(|it| program.starts_with(it)) {
                cage.readable.push(program);
            }
        }
        Ok(Some(Self { home: home.to_owned(), servers, listener, dir }))
    }

    /// Passes on what comes, until this process ends.
    pub(crate) fn serve(self) -> Result<(), Failure> {
        let listener = self.listener.try_clone().map_err(Failure::unable)?;
        let home = self.home.clone();
        let servers = Arc::new(self.servers.clone());
        let open = Arc::new(AtomicUsize::new(0));
        let serve = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if open.load(Ordering::Acquire) >= AT_ONCE_MAX {
                    continue;
                }
                open.fetch_add(1, Ordering::AcqRel);
                let (home, busy) = (home.clone(), Busy(Arc::clone(&open)));
                let servers = Arc::clone(&servers);
                // A hook that gets no answer denies.
                let pass = move || drop(pass_on(&home, &servers, &stream, busy));
                drop(thread::Builder::new().name("line".to_owned()).spawn(pass));
            }
        };
        let thread = thread::Builder::new().name("lines".to_owned());
        thread.spawn(serve).map(drop).map_err(Failure::unable)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // The cage holds the socket itself; nobody outside has to find it.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A short connection that is served. Dropped, there is room for another.
struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One connection: a hook, there and back, or a server for as long as it runs.
fn pass_on(home: &Path, servers: &Servers, inside: &UnixStream, busy: Busy) -> io::Result<()> {
    let hello = Hello::read(inside).map_err(io::Error::other)?;
    inside.set_read_timeout(Some(ANSWER_MAX))?;
    inside.set_write_timeout(Some(ANSWER_MAX))?;
    // The number that a hook says of itself is one in there.
    let way = way_of(&hello.words, pid_of_peer(inside))
        .ok_or_else(|| io::Error::other("another door"))?;
    let asked = frame(inside, DOOR_BYTES_MAX)?;
    match way {
        To::Daemon(first) => hook(home, inside, &[first, asked].concat()),
        To::Server => {
            drop(busy);
            let line = asked.get(HEADER_BYTES..).unwrap_or_default();
            servers.serve(inside, line, hello.descriptors)
        }
    }
}

/// Where a connection leads.
#[derive(Debug, PartialEq)]
enum To {
    /// To the daemon, with this first frame.
    Daemon(Vec<u8>),
    /// To a server.
    Server,
}

/// Where a connection with these first words leads, if it leads anywhere; of a hook, the number of its process as it is outside.
fn way_of(words: &[String], pid: Option<i32>) -> Option<To> {
    match words.first().map(String::as_str) {
        Some(DOOR) => {
            let mut words: Vec<&str> = words.iter().take(3).map(String::as_str).collect();
            let pid = pid.map(|it| it.to_string());
            words.extend(pid.as_deref());
            let text = format!("{PROTOCOL} {}\n", words.join(" "));
            let length = u32::try_from(text.len()).ok()?.to_be_bytes();
            Some(To::Daemon([&length[..], text.as_bytes()].concat()))
        }
        Some(line_of_servers::DOOR) if words.len() == 1 => Some(To::Server),
        Some(_) | None => None,
    }
}

/// One call of a hook, there and back. A daemon that goes before it has said a word is asked again, as the next one.
fn hook(home: &Path, mut inside: &UnixStream, asked: &[u8]) -> io::Result<()> {
    let end = Instant::now() + AGAIN_MAX;
    loop {
        match ask(home, asked) {
            Ok(answer) if !answer.is_empty() => return inside.write_all(&answer),
            Ok(_) | Err(_) if Instant::now() < end => thread::sleep(PAUSE),
            Ok(_) => return Err(io::Error::other("no answer")),
            Err(error) => return Err(error),
        }
    }
}

/// What the daemon answers, as it came; it is started again if it has gone.
fn ask(home: &Path, asked: &[u8]) -> io::Result<Vec<u8>> {
    let socket = doors::socket_path(home);
    let mut daemon = UnixStream::connect(&socket).or_else(|_| {
        daemon::start(home).map_err(|failure| io::Error::other(failure.message().to_owned()))?;
        UnixStream::connect(&socket)
    })?;
    daemon.set_read_timeout(Some(ANSWER_MAX))?;
    daemon.set_write_timeout(Some(ANSWER_MAX))?;
    daemon.write_all(asked)?;
    let mut answer = Vec::new();
    daemon.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(answer)
}

/// A frame with its header, as it came.
fn frame(mut inside: &UnixStream, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    inside.read_exact(&mut header)?;
    let length = usize::try_from(u32::from_be_bytes(header)).map_err(io::Error::other)?;
    if length > bytes_max {
        return Err(io::Error::other("too long a frame"));
    }
    // Grows as bytes come: a length alone costs no memory.
    let mut frame = header.to_vec();
    let read = inside.take(length as u64).read_to_end(&mut frame)?;
    if read == length { Ok(frame) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_and_servers_get_out_and_nobody_else() {
        let words = |it: &str| it.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let way = |it: &str| way_of(&words(it), Some(7));
        let expected = b"\0\0\0\x23lazaret/1 hook claude PreToolUse 7\n".to_vec();
        assert_eq!(way("hook claude PreToolUse 1 x"), Some(To::Daemon(expected)));
        assert_eq!(way("mcp-outside"), Some(To::Server));
        for other in ["ipc", "serve stop", "mcp", "mcp-outside x", "status", "proxy", ""] {
            assert_eq!(way(other), None, "{other}");
        }
        assert_eq!(way_of(&[], None), None);
    }
}
