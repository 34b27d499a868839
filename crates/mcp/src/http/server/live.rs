//! A session that runs: its servers, its gate, and the client that comes and goes by HTTP.
//!
//! It is the session over pipes ([`crate::stdio`]) with pipes of our own: whatever holds there holds here.

use super::auth::Principal;
use super::board::Board;
use super::headers::Problem;
use super::limits::{INBOX_BYTES_MAX, INBOX_MESSAGES_MAX, REQUESTS_MAX};
use super::outbox::{Event, StreamId};
use crate::era::Era;
use crate::gate::Gate;
use crate::message::{self, Body, Message};
use crate::stdio::{self, Naming, Server, Sink};
use hyper::HeaderMap;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::Instant;

/// Whoever starts the servers of a session, and knows its gate.
pub trait Backend: Send + Sync {
    /// Starts servers for a client. The gate is the session's own: what one client reads never labels another.
    ///
    /// # Errors
    /// If they cannot be started, in one sentence for the operator.
    fn start(&self, client: &Principal) -> Result<Started, String>;
}

/// Servers that were started.
pub struct Started {
    /// The gate.
    pub gate: Arc<dyn Gate>,
    /// The servers.
    pub servers: Vec<Server>,
    /// The names of their tools.
    pub naming: Naming,
    /// What ends them.
    pub end: Box<dyn FnOnce() + Send>,
}

/// A session that runs.
pub(super) struct Live {
    pub(super) client: Principal,
    era: Era,
    board: Arc<Mutex<Board>>,
    inbox: Mutex<Option<SyncSender<Vec<u8>>>>,
    inbox_bytes: Arc<AtomicUsize>,
    /// A server is gone.
    is_broken: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    /// Its servers have ended, too.
    has_ended: Arc<AtomicBool>,
    pub(super) started: Instant,
    used: Mutex<Instant>,
}

/// A refusal to take a message in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Full {
    #[error("too much of this session waits for an answer; wait for one")]
    Busy,
    #[error("the session has ended; begin a new one")]
    Over,
}

impl Live {
    /// Starts servers and the session before them. It waits for processes: not for a thread that serves others.
    pub(super) fn start(
        backend: &dyn Backend,
        client: &Principal,
        era: Era,
    ) -> Result<Arc<Self>, String> {
        let Started { gate, mut servers, naming, end } = backend.start(client)?;
        for name in servers.iter().map(|it| it.name.as_str()).take(1) {
            gate.lifecycle(name, "http_client", &json!({"client": client.as_str()}));
        }
        let is_broken = Arc::new(AtomicBool::new(false));
        for server in &mut servers {
            let output = std::mem::replace(&mut server.output, Box::new(io::empty()));
            let is_broken = Arc::clone(&is_broken);
            server.output = Box::new(Watched { output, is_broken });
        }
        let (inbox, messages) = sync_channel(INBOX_MESSAGES_MAX);
        let inbox_bytes = Arc::new(AtomicUsize::new(0));
        let board = Arc::new(Mutex::new(Board::new(era)));
        let is_over = Arc::new(AtomicBool::new(false));
        let input = Input { messages, bytes: Arc::clone(&inbox_bytes), line: Vec::new(), read: 0 };
        let output = Output { board: Arc::clone(&board), part: Vec::new() };
        let has_ended = Arc::new(AtomicBool::new(false));
        let (over, ended) = (Arc::clone(&is_over), Arc::clone(&has_ended));
        let run = move || {
            let board = Arc::clone(&output.board);
            // Why a session could not be made is told to whoever waits for it: the end.
            let _ended = stdio::run(gate, servers, naming, input, output);
            over.store(true, Ordering::SeqCst);
            lock(&board).outbox.end_all();
            end();
            ended.store(true, Ordering::SeqCst);
        };
        let thread = thread::Builder::new().name("mcp-http-session".to_owned()).spawn(run);
        thread.map_err(|error| format!("no thread could be started for the session: {error}"))?;
        let now = Instant::now();
        Ok(Arc::new(Self {
            client: client.clone(),
            era,
            board,
            inbox: Mutex::new(Some(inbox)),
            inbox_bytes,
            is_broken,
            is_over,
            has_ended,
            started: now,
            used: Mutex::new(now),
        }))
    }

    /// Takes a request in; what comes back is read by whoever gets the reader.
    pub(super) fn request(
        self: &Arc<Self>,
        message: Message,
        takes_events: bool,
    ) -> Result<Reader, Full> {
        let Body::Request { id, .. } = message.body.clone() else { return Err(Full::Busy) };
        self.touch();
        let mut board = lock(&self.board);
        if board.len() >= REQUESTS_MAX {
            return Err(Full::Busy);
        }
        let (number, stream, line) = board.take(&id, message, takes_events).ok_or(Full::Busy)?;
        let reader = board.outbox.attach(stream, None).ok_or(Full::Over)?;
        drop(board);
        let reader = Reader::new(self, stream, reader, Some(number));
        match self.send(line) {
            Ok(()) => Ok(reader),
            Err(full) => {
                lock(&self.board).forget(number);
                Err(full)
            }
        }
    }

    /// Checks the fields that a called tool declares.
    pub(super) fn check_params(
        &self,
        headers: &HeaderMap,
        message: &Message,
    ) -> Result<(), Problem> {
        let name = message.params().get("name").and_then(Value::as_str);
        match name.filter(|_| message.method() == "tools/call") {
            Some(name) => {
                let arguments = message.params().get("arguments");
                lock(&self.board).declared.check(headers, name, arguments)
            }
            None => Ok(()),
        }
    }

    /// Takes in what has no answer: a notification, or an answer of the client's.
    pub(super) fn tell(&self, message: Message) -> Result<(), Full> {
        self.touch();
        if matches!(&message.body, Body::Notification { method } if method == "notifications/cancelled")
        {
            let line = lock(&self.board).cancel(message);
            return line.map_or(Ok(()), |line| self.send(line));
        }
        self.send(message.into_line())
    }

    /// Reads what belongs to no request, in the place of whoever read it before.
    pub(super) fn listen(self: &Arc<Self>) -> Option<Reader> {
        let stream = lock(&self.board).common;
        self.resume(stream, None)
    }

    /// Reads a stream on, behind this event.
    pub(super) fn resume(self: &Arc<Self>, stream: StreamId, after: Option<u64>) -> Option<Reader> {
        self.touch();
        let reader = lock(&self.board).outbox.attach(stream, after)?;
        let mut reader = Reader::new(self, stream, reader, None);
        reader.is_streaming = true;
        Some(reader)
    }

    /// Ends the session: servers get a moment, and whoever waits is told.
    pub(super) fn end(&self) {
        drop(self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    /// When it was used last; now, where somebody reads.
    pub(super) fn used(&self) -> Instant {
        if lock(&self.board).outbox.is_any_read() {
            self.touch();
        }
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn send(&self, mut line: Vec<u8>) -> Result<(), Full> {
        line.push(b'\n');
        let bytes = line.len();
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        let inbox = inbox.as_ref().ok_or(Full::Over)?;
        if self.inbox_bytes.fetch_add(bytes, Ordering::SeqCst) + bytes > INBOX_BYTES_MAX {
            self.inbox_bytes.fetch_sub(bytes, Ordering::SeqCst);
            return Err(Full::Busy);
        }
        inbox.try_send(line).map_err(|error| {
            self.inbox_bytes.fetch_sub(bytes, Ordering::SeqCst);
            match error {
                TrySendError::Full(_) => Full::Busy,
                TrySendError::Disconnected(_) => Full::Over,
            }
        })
    }

    /// A client that has gone takes its request back; in the era of sessions it may come back for the answer.
    fn gone(&self, reader: &Reader) {
        let mut board = lock(&self.board);
        board.outbox.detach(reader.stream, reader.reader);
        let open = reader.request.filter(|it| board.is_open(*it));
        match (self.era, open) {
            (Era::Modern, Some(number)) => {
                board.forget(number);
                drop(board);
                let line = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"requestId": number, "reason": "the client has gone"}});
                // A session that has ended needs no word.
                let _ended = self.send(message::encode(&line));
            }
            (Era::Modern, None) => board.outbox.remove(reader.stream),
            (Era::Legacy, _) => {
                if !reader.is_streaming {
                    board.outbox.remove(reader.stream);
                }
            }
        }
    }
}

/// A reader of one stream. Dropped, it reads no more.
pub(super) struct Reader {
    live: Arc<Live>,
    pub(super) stream: StreamId,
    reader: u64,
    request: Option<i64>,
    /// Whether the client was told numbers of events, so that it can come back for others.
    pub(super) is_streaming: bool,
}

impl Reader {
    fn new(live: &Arc<Live>, stream: StreamId, reader: u64, request: Option<i64>) -> Self {
        Self { live: Arc::clone(live), stream, reader, request, is_streaming: false }
    }

    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Event>> {
        lock(&self.live.board).outbox.poll_next(self.stream, self.reader, context)
    }

    /// Whether the client may come back for events.
    pub(super) fn is_resumable(&self) -> bool {
        self.live.era == Era::Legacy
    }

    pub(super) fn is_over(&self) -> bool {
        self.live.is_over()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.live.gone(self);
    }
}

/// The session's input.
struct Input {
    messages: Receiver<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
    line: Vec<u8>,
    read: usize,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read >= self.line.len() {
            let Ok(line) = self.messages.recv() else { return Ok(0) };
            self.bytes.fetch_sub(line.len(), Ordering::SeqCst);
            self.line = line;
            self.read = 0;
        }
        let count = self.line.get(self.read..).unwrap_or_default().read(buffer)?;
        self.read += count;
        Ok(count)
    }
}

/// The session's output: whole lines, which never wait for a client.
struct Output {
    board: Arc<Mutex<Board>>,
    part: Vec<u8>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.last() == Some(&b'\n') {
            self.part.pop();
            lock(&self.board).deliver(&self.part);
            self.part.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Output {
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write(bytes)
    }
}

/// A server's output, whose end is noticed.
struct Watched {
    output: Box<dyn Read + Send>,
    is_broken: Arc<AtomicBool>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.output.read(buffer);
        let is_end = match &read {
            Ok(count) => *count == 0,
            Err(error) => error.kind() != io::ErrorKind::Interrupted,
        };
        if is_end {
            self.is_broken.store(true, Ordering::SeqCst);
        }
        read
    }
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
