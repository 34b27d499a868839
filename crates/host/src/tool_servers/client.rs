//! The client's side of the session with one server: requests, and answers for whoever waits.

use std::collections::HashMap;
use std::io::{self, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ::mcp::Gate as Judge;
use ::mcp::era::LEGACY_VERSION;
use ::mcp::frame::{self, Frame};
use ::mcp::limits::PAGES_MAX;
use ::mcp::message::{Body, Id, METHOD_NOT_FOUND, Message};
use ::mcp::stdio::{self, Naming, Pipe, Server};
use serde_json::{Value, json};

use crate::ipc::Stop;

/// Time for the handshake and the list of tools together: a session waits for it before its first turn.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// Time for one call.
const CALL_TIME: Duration = Duration::from_secs(60);
/// How often it is looked whether nobody wants an answer any more.
const LOOK: Duration = Duration::from_millis(50);

/// A client of one server.
pub(super) struct Client {
    to: Mutex<UnixStream>,
    waiting: Arc<Mutex<Waiting>>,
    next: AtomicI64,
    stop: Stop,
    /// When it must have listed its tools.
    ready_by: Instant,
    session: Option<JoinHandle<()>>,
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum Answer {
    /// A result.
    Result(Value),
    /// An error, in the server's words.
    Error(String),
    /// Nothing, and why.
    Nothing(&'static str),
}

#[derive(Default)]
struct Waiting {
    open: HashMap<i64, Sender<Answer>>,
    is_over: bool,
}

impl Client {
    /// Begins a session with this server, as `judge` has it.
    pub(super) fn start(judge: Arc<dyn Judge>, server: Server, stop: Stop) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let output = Pipe::new(theirs.try_clone()?);
        let run = move || {
            // How it ends is seen by whoever waits for an answer.
            let _ = stdio::run(judge, vec![server], Naming::Plain, theirs, output);
        };
        let session = thread::Builder::new().name("mcp-session".to_owned()).spawn(run)?;
        let waiting: Arc<Mutex<Waiting>> = Arc::default();
        let (from, answers) = (ours.try_clone()?, Arc::clone(&waiting));
        let reply = ours.try_clone()?;
        let read = move || {
            let mut from = BufReader::new(from);
            while let Ok(Some(frame)) = frame::read(&mut from) {
                take(&frame, &answers, &reply);
            }
            let mut waiting = held(&answers);
            waiting.is_over = true;
            waiting.open.clear();
        };
        thread::Builder::new().name("mcp-answers".to_owned()).spawn(read)?;
        let ready_by = Instant::now() + READY_WITHIN;
        let (to, next, session) = (Mutex::new(ours), AtomicI64::new(1), Some(session));
        Ok(Self { to, waiting, next, stop, ready_by, session })
    }

    /// Greets the server. Nothing is declared that it could ask for.
    pub(super) fn greet(&self) -> Result<(), String> {
        let params = json!({
            "protocolVersion": LEGACY_VERSION, "capabilities": {},
            "clientInfo": { "name": "lazaret", "version": env!("CARGO_PKG_VERSION") },
        });
        said(self.ask("initialize", &params, self.ready_by))?;
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .map_err(|error| error.to_string())
    }

    /// The definitions of its tools that the agent may see.
    pub(super) fn list(&self) -> Result<Vec<Value>, String> {
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let params = cursor.map_or_else(|| json!({}), |it: Value| json!({ "cursor": it }));
            let mut page = said(self.ask("tools/list", &params, self.ready_by))?;
            if let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) {
                all.extend(tools);
            }
            cursor = page.get_mut("nextCursor").map(Value::take).filter(Value::is_string);
            if cursor.is_none() {
                return Ok(all);
            }
        }
        Err(format!("its list of tools has more than {PAGES_MAX} pages"))
    }

    /// Calls a tool, and waits for what comes of it.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Answer {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", &params, Instant::now() + CALL_TIME)
    }

    /// Ends the session; the server's pipes are closed then.
    pub(super) fn end(&mut self) {
        // It may have ended already.
        let _ = self.to.lock().unwrap_or_else(PoisonError::into_inner).shutdown(Shutdown::Write);
        if let Some(session) = self.session.take() {
            let _ = session.join();
        }
    }

    fn ask(&self, method: &str, params: &Value, until: Instant) -> Answer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answers, answer) = mpsc::channel();
        {
            let mut waiting = held(&self.waiting);
            if waiting.is_over {
                return Answer::Nothing("the server is gone");
            }
            waiting.open.insert(id, answers);
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let outcome = match self.say(&request) {
            Ok(()) => self.wait(&answer, until),
            Err(_) => Answer::Nothing("the server is gone"),
        };
        if held(&self.waiting).open.remove(&id).is_some() {
            let params = json!({ "requestId": id });
            let method = "notifications/cancelled";
            // Whoever is gone needs not be told.
            let _ = self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
        outcome
    }

    fn wait(&self, answer: &Receiver<Answer>, until: Instant) -> Answer {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match answer.recv_timeout(LOOK.min(left)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => {
                    return Answer::Nothing("the server is gone");
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Answer::Nothing("the server did not answer in time");
                }
                Err(RecvTimeoutError::Timeout) if self.stop.wait(Duration::ZERO) => {
                    return Answer::Nothing(
                        "the session is ending, and nobody waited for the server",
                    );
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn say(&self, message: &Value) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.to.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }
}

/// Hands an answer to whoever waits. What the session asks in the server's place is not done here.
fn take(frame: &Frame, waiting: &Mutex<Waiting>, mut reply: &UnixStream) {
    let Frame::Line(line) = frame else { return };
    let Ok(mut message) = Message::parse(line) else { return };
    match message.body {
        Body::Response { id: Id::Number(id), failed } => {
            let outcome = message.value.get_mut(if failed { "error" } else { "result" });
            let outcome = outcome.map(Value::take).unwrap_or_default();
            let answer = match failed {
                false => Answer::Result(outcome),
                true => Answer::Error(
                    outcome.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
                ),
            };
            if let Some(waits) = held(waiting).open.remove(&id) {
                // Whoever waited may have gone.
                let _ = waits.send(answer);
            }
        }
        Body::Request { id, .. } => {
            let error = json!({ "code": METHOD_NOT_FOUND, "message": "this is not done here" });
            let line = json!({ "jsonrpc": "2.0", "id": id.to_value(), "error": error });
            // It waits for no answer of ours if it is gone.
            let _ = reply.write_all(format!("{line}\n").as_bytes());
        }
        Body::Response { id: Id::Text(_), .. } | Body::Notification { .. } => {}
    }
}

fn said(answer: Answer) -> Result<Value, String> {
    match answer {
        Answer::Result(value) => Ok(value),
        Answer::Error(why) => Err(::mcp::shown::log_value(&why)),
        Answer::Nothing(why) => Err(why.to_owned()),
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
