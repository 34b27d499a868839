//! The sockets that are open: whose they are, and how they are ended from outside.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

use crate::directory::Known;

/// A frame for one socket, as text.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    /// Its number, where it was said in a session to all who listen.
    pub(crate) number: Option<u64>,
    pub(crate) text: Arc<str>,
}

impl Outgoing {
    /// One that is for this socket alone.
    pub(crate) fn aside(text: String) -> Self {
        Self { number: None, text: text.into() }
    }
}

/// Why the server closes a socket: the code and the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// No token, or a wrong one.
    Unauthorised,
    /// The token was taken back.
    Revoked,
    /// The user has too many sockets.
    TooMany,
    /// Nothing was said for long.
    Idle,
    /// The server ends.
    Shutdown,
    /// A message is too long.
    TooLong,
    /// A message is no text.
    NotText,
    /// It does not take what it is sent.
    Slow,
    /// Not a message of the protocol.
    Protocol,
}

impl Closing {
    /// Its code and its reason.
    pub(crate) const fn code(self) -> (u16, &'static str) {
        match self {
            Self::Unauthorised => (4001, "unauthorised"),
            Self::Revoked => (4003, "token revoked"),
            Self::TooMany => (4008, "connection limit"),
            Self::Idle => (4009, "idle"),
            Self::Shutdown => (1001, "shutting down"),
            Self::TooLong => (1009, "message too large"),
            Self::NotText => (1007, "not UTF-8"),
            Self::Slow => (1013, "frames were not taken"),
            Self::Protocol => (1002, "protocol error"),
        }
    }
}

/// All sockets that are open.
#[derive(Default)]
pub(crate) struct Sockets {
    next: AtomicU64,
    open: Mutex<HashMap<u64, Socket>>,
}

struct Socket {
    known: Known,
    to: Sender<Outgoing>,
    closing: watch::Sender<Option<Closing>>,
}

/// A socket's place among the others, until it is dropped.
pub(crate) struct Seat {
    sockets: Arc<Sockets>,
    pub(crate) id: u64,
    pub(crate) closing: watch::Receiver<Option<Closing>>,
}

impl Sockets {
    /// Takes a socket in, unless the user has `most` of them.
    pub(crate) fn enter(
        self: &Arc<Self>,
        known: &Known,
        to: Sender<Outgoing>,
        most: usize,
    ) -> Option<Seat> {
        let mut open = self.lock();
        if open.values().filter(|it| it.known.name() == known.name()).count() >= most {
            return None;
        }
        Some(self.seat(&mut open, known, to))
    }

    /// Takes somebody in who is looked at again when files change, and counts as no socket.
    pub(crate) fn sit(self: &Arc<Self>, known: &Known, to: Sender<Outgoing>) -> Seat {
        self.seat(&mut self.lock(), known, to)
    }

    fn seat(
        self: &Arc<Self>,
        open: &mut HashMap<u64, Socket>,
        known: &Known,
        to: Sender<Outgoing>,
    ) -> Seat {
        let id = self.number();
        let (closing, hears) = watch::channel(None);
        open.insert(id, Socket { known: known.clone(), to, closing });
        Seat { sockets: Arc::clone(self), id, closing: hears }
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Who holds a socket, as they were last known.
    pub(crate) fn known(&self, id: u64) -> Option<Known> {
        self.lock().get(&id).map(|it| it.known.clone())
    }

    /// Looks at everybody again: who is none any more is closed.
    pub(crate) fn again(&self, look: impl Fn(&Known) -> Option<Known>) {
        for socket in self.lock().values_mut() {
            match look(&socket.known) {
                Some(known) => socket.known = known,
                None => {
                    socket.closing.send_replace(Some(Closing::Revoked));
                }
            }
        }
    }

    /// Says something to every socket, made for whoever holds it.
    pub(crate) fn say(&self, make: impl Fn(&Known) -> String) {
        for socket in self.lock().values() {
            let frame = Outgoing::aside(make(&socket.known));
            // Whoever does not keep up hears of it when it comes back.
            let _ = socket.to.try_send(frame);
        }
    }

    /// Closes one of them.
    pub(crate) fn close(&self, id: u64, why: Closing) {
        if let Some(socket) = self.lock().get(&id) {
            socket.closing.send_replace(Some(why));
        }
    }

    /// A number that no socket has.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Closes all of them.
    pub(crate) fn close_all(&self, why: Closing) {
        for socket in self.lock().values() {
            socket.closing.send_replace(Some(why));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Socket>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.sockets.lock().remove(&self.id);
    }
}
