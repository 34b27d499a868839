//! Questions to the daemon over one connection: many are under way at once, and answered in the order in which they were
//! asked. If it breaks, another goes on with the same session: what was read stays read.
//!
//! Whoever asks writes; one thread reads and hands each answer to whoever waits for it. INVARIANT (AnsweredOnce): every
//! question that was put is answered, once: by the daemon or, where there is none, by an error.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use ::mcp::GateError;
use aegx::Digest;
use host::doors::DOOR_BYTES_MAX;
use host::doors::client::Connection;
use host::doors::mcp::{self, Numbered, Request, Tools};
use host::ipc::FrameError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::daemon;

/// How long an answer may take: the daemon never waits for a person.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// How long the daemon may take to hear what it was told last.
const END_WAIT: Duration = Duration::from_secs(2);

/// Questions that wait for an answer at once: more than a client has under way.
const WAITING_MAX: usize = 2048;

/// Bytes of these questions: two of the longest.
const WAITING_BYTES_MAX: usize = 2 * DOOR_BYTES_MAX;

/// Whoever waits for an answer.
pub(super) type Then = Box<dyn FnOnce(Result<Value, GateError>) + Send>;

/// A conversation with the daemon. Dropped, it ends.
pub(super) struct Exchange {
    line: Arc<Line>,
}

struct Line {
    home: PathBuf,
    /// The session's name, on each connection.
    session: String,
    /// The end that is written to. Held while one question is written, so that they are in one order.
    speaker: Mutex<Option<Connection>>,
    state: Mutex<State>,
    /// Something was asked, or nothing waits any more.
    asked: Condvar,
    /// The thread that reads answers.
    reader: OnceLock<ThreadId>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// The number of the newest question.
    newest: u64,
    /// By which line servers were started or reached, for a daemon that was started anew: it trusts no name alone.
    started: BTreeMap<String, Vec<u8>>,
    /// What servers listed last, for one, too.
    listed: BTreeMap<String, List>,
    /// Whether the daemon has answered anything yet.
    is_begun: bool,
    is_over: bool,
}

/// A list of tools that the daemon has judged.
struct List {
    digest: Digest,
    question: Vec<u8>,
}

struct Waiting {
    question: Vec<u8>,
    number: u64,
    since: Instant,
    /// Whether it was asked of a daemon that has gone.
    is_repeated: bool,
    then: Then,
}

impl Exchange {
    /// Connects, where a daemon is there; else the first question starts one.
    pub(super) fn start(home: PathBuf) -> io::Result<Self> {
        let session = mcp::new_name()?;
        let speaker = Connection::open(&home, &mcp::door(&session, false), &[])?;
        let hearer = speaker.as_ref().map(Connection::again).transpose()?;
        let (state, asked) = (Mutex::default(), Condvar::new());
        let (speaker, reader) = (Mutex::new(speaker), OnceLock::new());
        let line = Arc::new(Line { home, session, speaker, state, asked, reader });
        let reading = Arc::clone(&line);
        let read = move || reading.read(hearer);
        let thread = thread::Builder::new().name("mcp-gate".to_owned()).spawn(read)?;
        line.reader.get_or_init(|| thread.thread().id());
        Ok(Self { line })
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(&self, request: &impl Serialize) -> Result<Value, GateError> {
        let (sender, answer) = channel();
        // Whoever asks is here until it is answered.
        self.put(request, Box::new(move |it| drop(sender.send(it))));
        answer.recv().unwrap_or_else(|_| Err(GateError("the daemon is not there".to_owned())))
    }

    /// Asks; `then` gets the answer, on a thread that must not wait.
    pub(super) fn put(&self, request: &impl Serialize, then: Then) {
        self.line.put(request, then);
    }

    /// Tells something to which no answer matters. It waits for nobody, so that whoever brings answers may say it, too.
    pub(super) fn tell(&self, request: &Request) {
        self.put(request, Box::new(drop));
    }

    /// Keeps a list of tools that was judged, for a daemon that is started anew.
    pub(super) fn remember(&self, list: &Tools<'_>, digest: Digest) {
        if let Ok(question) = serde_json::to_vec(list) {
            let listed = &mut self.line.state().listed;
            listed.insert(list.server.to_owned(), List { digest, question });
        }
    }

    /// Keeps by which line a server was started or reached, for a daemon that is started anew.
    pub(super) fn started(&self, server: &str, line: &str) {
        let request = Request::Lifecycle {
            server: server.to_owned(),
            event: mcp::GOES_ON.to_owned(),
            detail: json!({ mcp::LINE: line }),
        };
        if let Ok(question) = serde_json::to_vec(&request) {
            self.line.state().started.insert(server.to_owned(), question);
        }
    }

    /// Is this the list of the server that was judged last?
    pub(super) fn is_last(&self, server: &str, digest: Digest) -> bool {
        self.line.state().listed.get(server).is_some_and(|it| it.digest == digest)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.line.wait_until_heard();
        self.line.state().is_over = true;
        self.line.asked.notify_all();
        if let Some(speaker) = &*self.line.speaker() {
            speaker.hang_up();
        }
    }
}

impl State {
    /// Whether there is room for one more question. The daemon takes no longer ones, and no connection is given up for one:
    /// a server can make it so long.
    fn check_room(&self, bytes: usize) -> Result<(), GateError> {
        if bytes > DOOR_BYTES_MAX {
            return Err(GateError(format!("{bytes} bytes, at most {DOOR_BYTES_MAX} are read")));
        }
        let waiting: usize = self.waiting.iter().map(|it| it.question.len()).sum();
        if self.waiting.len() >= WAITING_MAX || waiting + bytes > WAITING_BYTES_MAX {
            return Err(GateError("too many questions wait for the daemon".to_owned()));
        }
        Ok(())
    }
}

impl Line {
    fn put(&self, request: &impl Serialize, then: Then) {
        let mut speaker = self.speaker();
        let number = self.state().newest + 1;
        let question = serde_json::to_vec(&Numbered { number: Some(number), question: request });
        let question = question.map_err(|error| GateError(error.to_string()));
        let room = |it: Vec<u8>| self.state().check_room(it.len()).map(|()| it);
        let question = match question.and_then(room) {
            Ok(question) => question,
            Err(error) => {
                drop(speaker);
                return then(Err(error));
            }
        };
        let (since, is_repeated) = (Instant::now(), false);
        let waiting = Waiting { question: question.clone(), number, since, is_repeated, then };
        let mut state = self.state();
        state.newest = number;
        state.waiting.push_back(waiting);
        drop(state);
        self.asked.notify_all();
        if let Some(connection) = &mut *speaker
            && connection.say(&question).is_err()
        {
            // Whoever reads hears that it has ended, and asks again.
            connection.hang_up();
        }
    }

    /// Reads answers until nobody can ask any more.
    fn read(&self, mut hearer: Option<Connection>) {
        while self.wait_for_question(hearer.is_some()) {
            let Some(connection) = &mut hearer else {
                match self.reconnect() {
                    Ok(connection) => hearer = Some(connection),
                    Err(error) => self.fail_all(&error),
                }
                continue;
            };
            let goes_on = match connection.hear() {
                Ok(answer) => self.answered(answer),
                Err(FrameError::Idle) => !self.is_late(),
                Err(_) => false,
            };
            if !goes_on {
                connection.hang_up();
                hearer = None;
                *self.speaker() = None;
                self.give_up_repeated();
            }
        }
        self.fail_all(&GateError("the session has ended".to_owned()));
    }

    /// Waits until there is something to do; `false` at the end. On a connection answers are waited for at once.
    fn wait_for_question(&self, is_connected: bool) -> bool {
        let mut state = self.state();
        while !state.is_over && !is_connected && state.waiting.is_empty() {
            state = self.asked.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_over
    }

    /// Hands an answer to whoever waits for it; says whether it is the one that is next.
    fn answered(&self, mut answer: Value) -> bool {
        let number = answer.as_object_mut().and_then(|it| it.remove("number"));
        let mut state = self.state();
        let is_next = |it: &mut Waiting| number == Some(it.number.into());
        let Some(waiting) = state.waiting.pop_front_if(is_next) else {
            drop(state);
            // A daemon that takes nobody in says why, and not to whom.
            let why = answer.get("error").and_then(Value::as_str);
            if let Some(why) = why.filter(|_| number.is_none()) {
                self.fail_all(&GateError(why.to_owned()));
            }
            return false;
        };
        state.is_begun = true;
        if state.waiting.is_empty() {
            self.asked.notify_all();
        }
        drop(state);
        (waiting.then)(Ok(answer));
        true
    }

    /// Waits a moment until the daemon has heard what it was told. Whoever reads its answers cannot wait for them.
    fn wait_until_heard(&self) {
        if self.reader.get() == Some(&thread::current().id()) {
            return;
        }
        let mut state = self.state();
        let deadline = Instant::now() + END_WAIT;
        while !state.waiting.is_empty() && Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            let waited = self.asked.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn is_late(&self) -> bool {
        self.state().waiting.front().is_some_and(|it| it.since.elapsed() >= ANSWER_MAX)
    }

    /// Starts the daemon if it has to be, goes on with the session, tells it which servers run and what they listed, and asks anew what was not
    /// answered: a question can be asked of the next daemon; a call that was under way is not known there.
    fn reconnect(&self) -> Result<Connection, GateError> {
        let failed = |why: &dyn std::fmt::Display| GateError(why.to_string());
        daemon::start(&self.home).map_err(|error| failed(&error.message()))?;
        let mut speaker = self.speaker();
        let door = mcp::door(&self.session, self.state().is_begun);
        let connection = Connection::open(&self.home, &door, &[]).map_err(|it| failed(&it))?;
        let mut connection = connection.ok_or_else(|| failed(&"the daemon is not there"))?;
        let mut hearer = connection.again().map_err(|error| failed(&error))?;
        let said: Vec<Vec<u8>> = {
            let state = self.state();
            let listed = state.listed.values().map(|it| it.question.clone());
            state.started.values().cloned().chain(listed).collect()
        };
        for it in said {
            let told = connection.say(&it).and_then(|()| hearer.hear());
            told.map_err(|error| failed(&error))?;
        }
        let questions: Vec<Vec<u8>> = {
            let mut state = self.state();
            state.waiting.iter_mut().for_each(|it| it.since = Instant::now());
            state.waiting.iter().map(|it| it.question.clone()).collect()
        };
        for question in questions {
            connection.say(&question).map_err(|error| failed(&error))?;
        }
        *speaker = Some(connection);
        Ok(hearer)
    }

    /// A question that two daemons did not answer is not asked of a third.
    fn give_up_repeated(&self) {
        let mut given_up = Vec::new();
        let mut state = self.state();
        for mut waiting in std::mem::take(&mut state.waiting) {
            if waiting.is_repeated {
                given_up.push(waiting.then);
            } else {
                waiting.is_repeated = true;
                state.waiting.push_back(waiting);
            }
        }
        drop(state);
        let error = GateError("the daemon has gone".to_owned());
        given_up.into_iter().for_each(|then| then(Err(error.clone())));
    }

    fn fail_all(&self, error: &GateError) {
        let waiting = std::mem::take(&mut self.state().waiting);
        waiting.into_iter().for_each(|it| (it.then)(Err(error.clone())));
    }

    fn speaker(&self) -> MutexGuard<'_, Option<Connection>> {
        self.speaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
