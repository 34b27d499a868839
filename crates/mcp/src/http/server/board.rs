//! What a session's client waits for, and where each message of the session goes.
//!
//! Requests get ids and progress tokens of our own on their way in, and have their client's back on the way out: clients
//! of one session need not know of each other, and no answer finds another's request.

use super::outbox::{Outbox, StreamId};
use super::params::Declared;
use super::splice::{at, envelope, find, replace};
use crate::era::{Era, META_LOG_LEVEL, META_SUBSCRIPTION};
use crate::message::{Id, Message};
use bytes::Bytes;
use std::collections::HashMap;

/// The requests and streams of one session.
pub(super) struct Board {
    pub(super) era: Era,
    pub(super) outbox: Outbox,
    /// The stream for what belongs to no request.
    pub(super) common: StreamId,
    pub(super) declared: Declared,
    requests: HashMap<i64, Request>,
    next: i64,
}

/// A request under way.
struct Request {
    stream: StreamId,
    id: Id,
    /// The id and the token, as the client wrote them.
    id_text: Vec<u8>,
    token_text: Option<Vec<u8>>,
    wants_log: bool,
    is_list: bool,
    /// Whether the client takes anything but the answer.
    takes_events: bool,
}

impl Board {
    pub(super) fn new(era: Era) -> Self {
        let mut outbox = Outbox::default();
        let common = outbox.open();
        let declared = Declared::default();
        Self { era, outbox, common, declared, requests: HashMap::new(), next: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether a request has no answer yet.
    pub(super) fn is_open(&self, number: i64) -> bool {
        self.requests.contains_key(&number)
    }

    /// Takes a request in: returns its number, its stream, and the line for the session.
    pub(super) fn take(
        &mut self,
        id: &Id,
        message: Message,
        takes_events: bool,
    ) -> Option<(i64, StreamId, Vec<u8>)> {
        let wants_log =
            message.params().get("_meta").is_some_and(|it| it.get(META_LOG_LEVEL).is_some());
        let is_list = message.method() == "tools/list";
        let line = message.into_line();
        self.next += 1;
        let number = self.next;
        let own = number.to_string().into_bytes();
        let place = find(&line, &["id"])?;
        let id_text = at(&line, &place).to_vec();
        let mut line = replace(&line, &place, &own);
        let mut token_text = None;
        if let Some(place) = find(&line, &TOKEN_IN_REQUEST) {
            token_text = Some(at(&line, &place).to_vec());
            line = replace(&line, &place, &own);
        }
        let stream = self.outbox.open();
        let id = id.clone();
        let request = Request { stream, id, id_text, token_text, wants_log, is_list, takes_events };
        self.requests.insert(number, request);
        Some((number, stream, line))
    }

    /// Forgets a request; says whether it was open.
    pub(super) fn forget(&mut self, number: i64) -> bool {
        let Some(request) = self.requests.remove(&number) else { return false };
        self.outbox.remove(request.stream);
        true
    }

    /// Translates a legacy client's cancellation; `None` where no such request is open.
    pub(super) fn cancel(&mut self, message: Message) -> Option<Vec<u8>> {
        let id = message.params().get("requestId").and_then(Id::parse)?;
        let number = *self.requests.iter().find(|(_, it)| it.id == id)?.0;
        let request = self.requests.remove(&number)?;
        self.outbox.end(request.stream);
        let line = message.into_line();
        let place = find(&line, &["params", "requestId"])?;
        Some(replace(&line, &place, number.to_string().as_bytes()))
    }

    /// Brings a message of the session to where it belongs.
    pub(super) fn deliver(&mut self, line: &[u8]) {
        match envelope(line) {
            (Some(place), None) => {
                let Some(request) =
                    number(at(line, &place)).and_then(|it| self.requests.remove(&it))
                else {
                    return;
                };
                if request.is_list && self.era == Era::Modern {
                    self.declared.learn(line);
                }
                let answer = replace(line, &place, &request.id_text);
                self.outbox.push(request.stream, answer.into());
                self.outbox.end(request.stream);
            }
            (Some(_), Some(_)) => self.push_common(line.to_vec()),
            (None, Some(method)) => self.notify(at(line, &method), line),
            (None, None) => {}
        }
    }

    fn notify(&mut self, method: &[u8], line: &[u8]) {
        if let Some(place) = find(line, &SUBSCRIPTION)
            && let Some(request) = number(at(line, &place)).and_then(|it| self.requests.get(&it))
        {
            let line = replace(line, &place, &request.id_text);
            return self.outbox.push(request.stream, line.into());
        }
        if method == br#""notifications/progress""# {
            return self.progress(line);
        }
        match self.era {
            Era::Legacy => self.push_common(line.to_vec()),
            // Nobody asked for it, or it cannot be told who: the protocol has no stream for such.
            Era::Modern => {
                let mut wanting =
                    self.requests.values().filter(|it| it.wants_log && it.takes_events);
                let only = wanting.next().filter(|_| wanting.next().is_none()).map(|it| it.stream);
                if let Some(stream) = only.filter(|_| method == br#""notifications/message""#) {
                    self.outbox.push(stream, line.to_vec().into());
                }
            }
        }
    }

    fn progress(&mut self, line: &[u8]) {
        let Some(place) = find(line, &TOKEN_IN_PROGRESS) else { return };
        let request = number(at(line, &place)).and_then(|it| self.requests.get(&it));
        if let Some(request) = request
            && request.takes_events
            && let Some(token) = &request.token_text
        {
            let line = replace(line, &place, token);
            self.outbox.push(request.stream, line.into());
        }
    }

    /// To the stream that the client keeps open for this; else to that of its newest request; else it waits.
    fn push_common(&mut self, line: Vec<u8>) {
        let newest = self
            .requests
            .iter()
            .filter(|(_, it)| it.takes_events && self.outbox.is_read(it.stream));
        let newest = newest.max_by_key(|(number, _)| **number).map(|(_, it)| it.stream);
        let is_kept_open = self.outbox.is_read(self.common);
        let stream = newest.filter(|_| !is_kept_open).unwrap_or(self.common);
        self.outbox.push(stream, Bytes::from(line));
    }
}

/// A number of ours.
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

const TOKEN_IN_REQUEST: [&str; 3] = ["params", "_meta", "progressToken"];
const TOKEN_IN_PROGRESS: [&str; 2] = ["params", "progressToken"];
const SUBSCRIPTION: [&str; 3] = ["params", "_meta", META_SUBSCRIPTION];
