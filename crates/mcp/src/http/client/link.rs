//! One server with an address: what is sent to it, and what comes of it.

use super::limits::{EXCHANGES_MAX, FAREWELL_WAIT, NOTIFICATION_WAIT, WAITING_MESSAGES_MAX};
use super::pipe::{Input, Output};
use super::session::Conversation;
use super::{Request, Verb, Web, WebError, leave};
use crate::era::Era;
use crate::message::{self, Body, Id, Message, SERVER_UNAVAILABLE};
use crate::stdio::Server;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A server with an address, while it is driven.
#[derive(Clone)]
pub struct Remote {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) web: Arc<dyn Web>,
    pub(super) conversation: Mutex<Conversation>,
    /// Requests under way, by their id.
    open: Mutex<HashMap<Id, Open>>,
    out: Mutex<Option<SyncSender<Vec<u8>>>>,
    /// Held by who makes a handshake again.
    pub(super) greeting: Mutex<()>,
    pub(super) has_ended: AtomicBool,
}

struct Open {
    is_cancelled: Arc<AtomicBool>,
    era: Era,
}

impl Remote {
    /// Makes a server of this name that is reached by `web`. Nothing is sent before the session says something.
    #[must_use]
    pub fn start(name: &str, web: Arc<dyn Web>) -> (Self, Server) {
        let (out, lines) = sync_channel(WAITING_MESSAGES_MAX);
        let remote = Self {
            shared: Arc::new(Shared {
                web,
                conversation: Mutex::default(),
                open: Mutex::default(),
                out: Mutex::new(Some(out)),
                greeting: Mutex::default(),
                has_ended: AtomicBool::new(false),
            }),
        };
        let input = Input { remote: remote.clone(), line: Vec::new() };
        let output = Output { lines, current: Vec::new(), at: 0 };
        let server =
            Server { name: name.to_owned(), input: Box::new(input), output: Box::new(output) };
        (remote, server)
    }

    /// Ends: whatever is under way is given up, and a legacy server is told that its session is over.
    pub fn end(&self) {
        let shared = &self.shared;
        shared.has_ended.store(true, Ordering::SeqCst);
        for open in lock(&shared.open).values() {
            open.is_cancelled.store(true, Ordering::SeqCst);
        }
        lock(&shared.out).take();
        let conversation = shared.conversation();
        if !conversation.has_session() {
            return;
        }
        let headers = conversation.legacy();
        drop(conversation);
        let request = Request {
            verb: Verb::Delete,
            headers,
            parameters: Vec::new(),
            body: Vec::new(),
            wait: FAREWELL_WAIT,
        };
        // A server that does not care forgets it by itself.
        let _ = shared.web.send(&request, &AtomicBool::new(false));
    }

    /// Takes a line of the session for the server. Requests are asked beside each other; whatever is no request goes
    /// before anything that comes after it.
    pub(super) fn take(&self, line: &[u8]) {
        let Ok(message) = Message::parse(line) else { return };
        match &message.body {
            Body::Request { id, .. } => {
                let id = id.clone();
                self.ask(&id, message);
            }
            Body::Notification { method } if method == "notifications/cancelled" => {
                self.cancel(&message);
            }
            Body::Notification { method } => {
                let is_greeting = method == "notifications/initialized";
                let told = self.shared.tell(&message);
                if is_greeting && told.is_ok() {
                    self.shared.stand();
                }
            }
            Body::Response { .. } => drop(self.shared.tell(&message)),
        }
    }

    fn ask(&self, id: &Id, message: Message) {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let mut open = lock(&self.shared.open);
        if open.len() >= EXCHANGES_MAX {
            drop(open);
            let why = format!("{EXCHANGES_MAX} requests to it are under way already");
            return self.shared.fail(id, &why);
        }
        let era = self.shared.conversation().era_of(&message);
        open.insert(id.clone(), Open { is_cancelled: Arc::clone(&is_cancelled), era });
        drop(open);
        let (shared, of) = (Arc::clone(&self.shared), id.clone());
        let work = move || {
            let outcome = match message.method() {
                "subscriptions/listen" => shared.subscribe(&of, &message, &is_cancelled),
                _ => shared.exchange(&of, &message, &is_cancelled),
            };
            lock(&shared.open).remove(&of);
            if let Err(error) = outcome
                && !is_cancelled.load(Ordering::SeqCst)
            {
                shared.fail(&of, &error.0);
            }
        };
        if thread::Builder::new().name("mcp-http-ask".to_owned()).spawn(work).is_err() {
            lock(&self.shared.open).remove(id);
            self.shared.fail(id, "the system gives no thread for it");
        }
    }

    /// In the modern era to stop reading is to cancel; a legacy server is told.
    fn cancel(&self, message: &Message) {
        let id = message.params().get("requestId").and_then(Id::parse);
        let open = lock(&self.shared.open);
        let found =
            id.and_then(|id| open.get(&id).map(|it| (Arc::clone(&it.is_cancelled), it.era)));
        drop(open);
        let is_modern = matches!(found, Some((_, Era::Modern)));
        if let Some((is_cancelled, _)) = found {
            is_cancelled.store(true, Ordering::SeqCst);
        }
        if !is_modern && self.shared.conversation().era == Some(Era::Legacy) {
            drop(self.shared.tell(message));
        }
    }
}

impl Shared {
    pub(super) fn conversation(&self) -> MutexGuard<'_, Conversation> {
        lock(&self.conversation)
    }

    /// Sends what is not answered.
    pub(super) fn tell(&self, message: &Message) -> Result<(), WebError> {
        let (fields, _) = self.conversation().fields(message);
        let request = Request {
            verb: Verb::Post,
            headers: fields.fixed,
            parameters: fields.parameters,
            body: message.clone().into_line(),
            wait: NOTIFICATION_WAIT,
        };
        let mut answer = self.web.send(&request, &self.has_ended)?;
        leave(&mut *answer.body);
        match answer.status {
            200..=299 => Ok(()),
            status => Err(WebError(format!("it answered a notification with HTTP {status}"))),
        }
    }

    /// Hands a message of the server to the session; `false` where nobody reads any more.
    pub(super) fn hand_over(&self, message: &[u8]) -> bool {
        let Some(out) = lock(&self.out).clone() else { return false };
        // A line end within JSON is a blank, for there is none within its texts.
        let blank = |&byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte };
        let mut line: Vec<u8> = message.iter().map(blank).collect();
        line.push(b'\n');
        out.send(line).is_ok()
    }

    fn fail(&self, id: &Id, why: &str) {
        self.hand_over(&message::error(Some(id), SERVER_UNAVAILABLE, why));
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
