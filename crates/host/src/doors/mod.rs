//! The doors of the daemon: one socket, one protocol, many sessions at once. Each door turns what its callers say into
//! calls of the one gate; none has an opinion of its own about what is allowed.

mod agent;
mod before;
mod calls;
pub mod client;
pub mod hello;
pub mod hook;
pub mod mcp;
mod notify;
mod observing;
pub(crate) mod saying;
mod status;
pub mod talk;
mod verdict;
mod way_out;

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hooks::Host;
use serde_json::{Value, json};

use crate::gate::Gate;
use crate::ipc::serve::each_connection;
use crate::ipc::{Ends, FrameError, Limits, Socket, Stop, read, write};
use calls::Calls;
use hello::{Hello, HelloError, PROTOCOL};
use hook::{HookDoor, Lineage};

pub use agent::{AgentRequest, Handed};
pub use talk::Talks;

/// Connections to the daemon at once. Whoever comes then waits until another has gone.
pub const DOOR_CONNECTIONS_MAX: usize = 1000;
/// The longest frame of a door, in bytes: the result of a tool, in JSON.
pub const DOOR_BYTES_MAX: usize = 64 << 20;
/// How long a frame may take once it has begun, and its answer to be taken.
const FRAME_SECONDS_MAX: u64 = 10;

/// How long a client of servers may have nothing to ask.
const SILENT_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// Where the doors of the gate on the state directory `home` are.
#[must_use]
pub fn socket_path(home: &Path) -> PathBuf {
    home.join("doors.sock")
}

/// A server in the same process, which the doors can be asked about.
pub trait Served: Send + Sync {
    /// What goes on there.
    fn status(&self) -> Value;

    /// Does what these words say; the answer has `ok`.
    fn command(&self, words: &[&str]) -> Value;

    /// Says something to an agent, as the request says it, and waits for the answer; it has `ok`.
    fn send(&self, request: &[u8]) -> Value;
}

/// The doors.
pub struct Doors<'a> {
    gate: &'a Gate,
    home: &'a Path,
    hook: HookDoor<'a>,
    stop: Stop,
    began: Instant,
    seen: Mutex<Instant>,
    open: AtomicUsize,
    /// Calls that are under way.
    calls: Calls,
    answered: AtomicU64,
    /// Clients of servers that are connected.
    clients: AtomicUsize,
    /// Their sessions.
    shared: mcp::Shared,
    /// Programs that wanted out and that nobody had announced.
    strangers: Arc<AtomicU64>,
    served: Option<Arc<dyn Served>>,
    talks: Option<Arc<dyn Talks>>,
}

impl<'a> Doors<'a> {
    /// Doors to `gate` on the state directory `home`, which close when `stop` is said.
    #[must_use]
    pub fn new(gate: &'a Gate, home: &'a Path, user_home: Option<PathBuf>, stop: Stop) -> Self {
        let now = Instant::now();
        Self {
            gate,
            home,
            hook: HookDoor::new(gate, home, user_home),
            stop,
            began: now,
            seen: Mutex::new(now),
            open: AtomicUsize::new(0),
            calls: Calls::default(),
            answered: AtomicU64::new(0),
            clients: AtomicUsize::new(0),
            shared: mcp::Shared::default(),
            strangers: Arc::default(),
            served: None,
            talks: None,
        }
    }

    /// The same, beside a server.
    #[must_use]
    pub fn beside(self, served: Arc<dyn Served>) -> Self {
        Self { served: Some(served), ..self }
    }

    /// The same, beside somebody who runs agents.
    #[must_use]
    pub fn talking_by(self, talks: Arc<dyn Talks>) -> Self {
        Self { talks: Some(talks), ..self }
    }

    /// Serves every connection of `socket` until it is told to stop.
    ///
    /// # Errors
    /// If the socket cannot be waited for.
    pub fn serve(&self, socket: &Socket) -> io::Result<()> {
        let stranger = |error: &FrameError| self.hook.refused_frame(&error.to_string());
        each_connection(socket, DOOR_CONNECTIONS_MAX, &self.stop, stranger, |stream| {
            self.open.fetch_add(1, Ordering::AcqRel);
            self.connection(stream);
            self.touch();
            self.open.fetch_sub(1, Ordering::AcqRel);
        })
    }

    /// For how long nobody has wanted anything, and no call is under way.
    #[must_use]
    pub fn idle_for(&self) -> Duration {
        if self.open.load(Ordering::Acquire) > 0 || self.hook.waiting() > 0 {
            return Duration::ZERO;
        }
        self.seen.lock().map_or(Duration::ZERO, |it| it.elapsed())
    }

    /// Ends sessions of coding agents that are not there any more; to be called every few seconds.
    pub fn sweep(&self) {
        self.hook.sweep();
    }

    /// Is a call under way that is answered here?
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.calls.count() > 0
    }

    /// Takes nothing new on until no call is under way, for at most so long; true if none is, and then it stays so: end, and
    /// say [`Self::leave`]. Connections do not count, but for those that gave us their ends. Calls of hooks run elsewhere, and
    /// the next daemon knows them: `waits_for_hooks` says that they, too, should be over.
    #[must_use]
    pub fn rest(&self, at_most: Duration, waits_for_hooks: bool) -> bool {
        let waits = || waits_for_hooks && self.hook.waiting() > 0;
        self.calls.rest(at_most, || !(self.hook.is_watching() || waits()))
    }

    /// Nothing new is taken on any more: whoever waits to be asks the next daemon.
    pub fn leave(&self) {
        self.calls.over();
    }

    /// After the last connection: calls that are under way are written down for the next daemon.
    pub fn hand_on(&self) {
        self.hook.leave();
    }

    fn touch(&self) {
        if let Ok(mut seen) = self.seen.lock() {
            *seen = Instant::now();
        }
    }

    fn connection(&self, stream: UnixStream) {
        let hello = match Hello::read(&stream) {
            Ok(hello) => hello,
            Err(HelloError::Nothing) => return,
            Err(error) => {
                self.hook.refused_frame(&error.to_string());
                return self.say(&stream, format!("{PROTOCOL} no {error}").as_bytes());
            }
        };
        let Hello { words, descriptors } = hello;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["hook", host, event, rest @ ..] => {
                let speaks_for = rest.first().and_then(|it| it.parse().ok());
                let lineage = Lineage::of_peer(&stream, speaks_for);
                self.hooked(&stream, (host, event), &lineage);
            }
            ["ipc"] => {
                let Some(_under_way) = self.calls.begin() else { return };
                self.agent(&stream, descriptors);
            }
            ["mcp", session @ ..] => self.mcp(&stream, session),
            ["proxy"] => {
                let Some(_under_way) = self.calls.begin() else { return };
                self.way_out(&stream, descriptors);
            }
            ["serve-send"] => match (&self.served, self.hear(&stream)) {
                (Some(served), Some(request)) => self.say_json(&stream, &served.send(&request)),
                (None, _) => self.say_error(&stream, "refused", "no server runs in this daemon"),
                (Some(_), None) => {}
            },
            ["serve", words @ ..] => match &self.served {
                Some(served) => self.say_json(&stream, &served.command(words)),
                None => self.say_error(&stream, "refused", "no server runs in this daemon"),
            },
            ["talk"] => self.talk(&stream),
            ["status"] => self.say(&stream, self.status().to_string().as_bytes()),
            _ => self.say(&stream, format!("{PROTOCOL} no such door").as_bytes()),
        }
    }

    /// One hook, one answer.
    fn hooked(&self, stream: &UnixStream, (host, event): (&str, &str), lineage: &Lineage) {
        let Some(input) = self.hear(stream) else { return };
        let Some(host) = Host::parse(host) else {
            return self.say(stream, format!("{PROTOCOL} no such host").as_bytes());
        };
        // Without an answer it asks the next daemon.
        let Some(_under_way) = self.calls.begin() else { return };
        let answer = self.hook.answer_below(host, event, &input, lineage);
        self.answered.fetch_add(1, Ordering::Relaxed);
        let (out, err) = (&answer.stdout, &answer.stderr);
        let line = format!("{PROTOCOL} {} {} {}\n", answer.exit, out.len(), err.len());
        self.say(stream, &[line.as_bytes(), out, err].concat());
    }

    /// The next frame, if one comes in time.
    fn hear(&self, stream: &UnixStream) -> Option<Vec<u8>> {
        let mut wire = Ends::of_socket(stream, stream, self.stop.clone());
        let heard = read(&mut wire, &limits());
        heard.inspect_err(|error| self.hook.refused_frame(&error.to_string())).ok().flatten()
    }

    /// The next frame of a connection that may be silent for long.
    fn hear_long(&self, stream: &UnixStream) -> Option<Vec<u8>> {
        let mut wire = Ends::of_socket(stream, stream, self.stop.clone());
        let limits = Limits { idle: SILENT_MAX, ..limits() };
        read(&mut wire, &limits).ok().flatten()
    }

    /// One frame; whoever does not take it has gone.
    fn say(&self, stream: &UnixStream, bytes: &[u8]) {
        let _ = self.try_say(stream, bytes);
    }

    fn try_say(&self, stream: &UnixStream, bytes: &[u8]) -> Result<(), FrameError> {
        write(&mut Ends::of_socket(stream, stream, self.stop.clone()), bytes, &limits())
    }

    fn say_json(&self, stream: &UnixStream, value: &Value) {
        self.say(stream, value.to_string().as_bytes());
    }

    fn say_error(&self, stream: &UnixStream, kind: &str, why: &str) {
        self.say_json(stream, &json!({ "ok": false, "kind": kind, "error": why }));
    }
}

/// Everybody is on this machine, and quick.
fn limits() -> Limits {
    let at_most = Duration::from_secs(FRAME_SECONDS_MAX);
    Limits { idle: at_most, frame: at_most, answer: at_most, bytes_max: DOOR_BYTES_MAX }
}
