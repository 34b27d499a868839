//! A session over pipes: one thread reads for each peer, and one writes what a peer has no room for, so that nobody waits for
//! anybody else.
//!
//! What waits to be written is bounded. A server that does not read what it is sent counts as gone; a client that does
//! not read makes its servers wait, and at last ends the session.

mod pipe;
mod queue;

pub use pipe::{Pipe, Sink};

use crate::frame::{self, Frame};
use crate::gate::Gate;
use crate::limits::QUEUE_BYTES_CALM;
use crate::session::{Outgoing, Peer, Question, Reply, Session, SessionError};
use queue::Queue;
use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// A server, by the ends of its pipes that are ours.
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its standard input.
    pub input: Box<dyn Sink>,
    /// Its standard output.
    pub output: Box<dyn Read + Send>,
}

/// Names of tools as the client sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// As the server calls them; for one server.
    Plain,
    /// `server__tool`.
    Prefixed,
}

/// A failure to run a session.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The session could not be made.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A thread could not be started.
    #[error("no thread could be started for a peer: {0}")]
    Thread(#[from] io::Error),
    /// Several servers, whose names would clash.
    #[error("{0} servers need names with prefixes")]
    Naming(usize),
}

/// Runs a session until the client closes its input, and whatever it still waits for has come or takes too long. Says which servers
/// had closed their output before that.
///
/// Threads of a server end when its pipes close: whoever started the server ends it afterwards.
pub fn run(
    gate: Arc<dyn Gate>,
    servers: Vec<Server>,
    naming: Naming,
    client_input: impl Read + Send + 'static,
    client_output: impl Sink + 'static,
) -> Result<Vec<String>, RunError> {
    let names: Vec<&str> = servers.iter().map(|it| it.name.as_str()).collect();
    let session = match (naming, names.as_slice()) {
        (Naming::Plain, [name]) => Session::single(Arc::clone(&gate), name, Instant::now())?,
        (Naming::Plain, names) => return Err(RunError::Naming(names.len())),
        (Naming::Prefixed, names) => Session::aggregate(Arc::clone(&gate), names, Instant::now())?,
    };
    let mut inputs = Vec::with_capacity(servers.len());
    let (names, outputs): (Vec<_>, Vec<_>) = servers
        .into_iter()
        .map(|it| {
            inputs.push(it.input);
            (it.name, it.output)
        })
        .unzip();
    let driver = Arc::new(Driver {
        gate,
        session: Mutex::new(session),
        replies: Mutex::default(),
        client: Arc::new(Queue::new(Box::new(client_output))),
        servers: inputs.into_iter().map(|it| Arc::new(Queue::new(it))).collect(),
        has_client_ended: AtomicBool::new(false),
        gone: Mutex::default(),
    });
    start_writer("mcp-client-out", Arc::clone(&driver.client))?;
    for queue in &driver.servers {
        start_writer("mcp-server-out", Arc::clone(queue))?;
    }
    for (index, output) in outputs.into_iter().enumerate() {
        let driver = Arc::clone(&driver);
        let read = move || driver.read_server(index, output);
        thread::Builder::new().name("mcp-server-in".to_owned()).spawn(read)?;
    }
    driver.step(|session, now| session.start(now));
    let reader = Arc::clone(&driver);
    let read = move || reader.read_client(client_input);
    thread::Builder::new().name("mcp-client-in".to_owned()).spawn(read)?;
    driver.wait_until_done();
    let gone = std::mem::take(&mut *driver.gone());
    Ok(gone.into_iter().filter_map(|it| names.get(it).cloned()).collect())
}

struct Driver {
    gate: Arc<dyn Gate>,
    session: Mutex<Session>,
    /// Answers of the gate that the session has not taken yet.
    replies: Mutex<VecDeque<Reply>>,
    client: Arc<Queue>,
    servers: Vec<Arc<Queue>>,
    has_client_ended: AtomicBool,
    /// Servers that ended before the client did.
    gone: Mutex<Vec<usize>>,
}

impl Driver {
    /// Takes one step of the session and queues what it says. The queues never wait, so the order is the session's. What the
    /// gate is asked then, it is asked without the session: others go on.
    fn step(self: &Arc<Self>, step: impl FnOnce(&mut Session, Instant) -> Vec<Outgoing>) {
        let mut session = self.lock();
        let outgoing = step(&mut session, Instant::now());
        self.queue(&mut session, outgoing);
        let questions = session.take_questions();
        drop(session);
        self.put(questions);
        self.take_replies();
    }

    fn put(self: &Arc<Self>, questions: Vec<Question>) {
        for question in questions {
            let driver = Arc::clone(self);
            question.put(&*self.gate, move |reply| {
                driver.replies().push_back(reply);
                driver.take_replies();
            });
        }
    }

    /// Gives answers of the gate to the session. Whoever brings one never waits for the session: who has it takes the answer
    /// along before, or after, it lets go of it. So a step that waits for the gate itself cannot wait for ever.
    fn take_replies(self: &Arc<Self>) {
        while !self.replies().is_empty() {
            let mut session = match self.session.try_lock() {
                Ok(session) => session,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            while let Some(reply) = self.next_reply() {
                let outgoing = session.take_reply(reply, Instant::now());
                self.queue(&mut session, outgoing);
            }
            let questions = session.take_questions();
            drop(session);
            self.put(questions);
        }
    }

    fn queue(&self, session: &mut Session, mut outgoing: Vec<Outgoing>) {
        while !outgoing.is_empty() {
            let mut stuck = Vec::new();
            for Outgoing { to, line } in outgoing {
                match to {
                    Peer::Client => {
                        if !self.client.push(line) {
                            self.end();
                        }
                    }
                    Peer::Server(server) => {
                        let queue = self.servers.get(server);
                        if queue.is_some_and(|queue| !queue.push(line)) && !stuck.contains(&server)
                        {
                            stuck.push(server);
                        }
                    }
                }
            }
            outgoing = Vec::new();
            for server in stuck {
                let reason = "it does not read what it is sent";
                if let Some(queue) = self.servers.get(server) {
                    queue.abandon();
                }
                outgoing.extend(session.server_gone(server, reason, Instant::now()));
            }
        }
    }

    fn next_reply(&self) -> Option<Reply> {
        self.replies().pop_front()
    }

    fn replies(&self) -> MutexGuard<'_, VecDeque<Reply>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_client(self: &Arc<Self>, input: impl Read) {
        let mut input = BufReader::with_capacity(READ_BYTES, input);
        while let Ok(Some(frame)) = frame::read(&mut input) {
            if self.has_ended() {
                return;
            }
            self.step(|session, now| session.take_client(&frame, now));
        }
        self.end();
    }

    fn read_server(self: &Arc<Self>, server: usize, output: impl Read) {
        let mut output = BufReader::with_capacity(READ_BYTES, output);
        let reason = loop {
            self.client.wait_below(QUEUE_BYTES_CALM);
            match frame::read(&mut output) {
                Ok(Some(frame)) => self.take(server, &frame),
                Ok(None) => break "it has ended".to_owned(),
                Err(error) => break format!("its output cannot be read ({error})"),
            }
        };
        if !self.has_ended() {
            self.gone().push(server);
        }
        self.step(|session, now| session.server_gone(server, &reason, now));
        if let Some(queue) = self.servers.get(server) {
            queue.close();
        }
    }

    fn take(self: &Arc<Self>, server: usize, frame: &Frame) {
        self.step(|session, now| session.take_server(server, frame, now));
    }

    /// Lets time pass until the client has ended and nothing is under way.
    fn wait_until_done(self: &Arc<Self>) {
        let mut deadline = None;
        loop {
            thread::sleep(if self.has_ended() { TICK / 10 } else { TICK });
            self.step(|session, now| session.tick(now));
            if !self.has_ended() {
                continue;
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + CLOSE_WAIT);
            let is_idle = self.lock().is_idle();
            if is_idle || Instant::now() >= deadline {
                break;
            }
        }
        self.lock().close();
        self.servers.iter().for_each(|queue| queue.close());
        self.client.close();
        self.client.wait_written(CLOSE_WAIT);
    }

    fn end(&self) {
        self.has_client_ended.store(true, Ordering::SeqCst);
    }

    fn has_ended(&self) -> bool {
        self.has_client_ended.load(Ordering::SeqCst)
    }

    fn gone(&self) -> MutexGuard<'_, Vec<usize>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the thread that writes what a peer has no room for.
fn start_writer(name: &str, queue: Arc<Queue>) -> io::Result<()> {
    let write = move || {
        while let Some(line) = queue.pop() {
            if queue.write(&line).is_err() {
                break;
            }
        }
        queue.close();
        queue.mark_written();
    };
    thread::Builder::new().name(name.to_owned()).spawn(write).map(|_| ())
}

/// Bytes that are read at one time.
const READ_BYTES: usize = 64 * 1024;
/// Time between two looks at what took too long.
const TICK: Duration = Duration::from_millis(100);
/// Time for what is under way when the client has closed its input.
const CLOSE_WAIT: Duration = Duration::from_secs(2);
