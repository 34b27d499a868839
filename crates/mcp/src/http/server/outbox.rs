//! Streams of one session: what waits for its client, and for a while what it was sent already.
//!
//! Nothing here waits for a client. What nobody reads is bounded: the stream that reads slowest ends, and no other
//! notices.

use super::limits::{
    ENDED_STREAMS_MAX, KEPT_BYTES_MAX, KEPT_EVENTS_MAX, UNREAD_BYTES_MAX, UNREAD_EVENTS_MAX,
};
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::task::{Context, Poll, Waker};

/// The number of a stream within its session.
pub(super) type StreamId = u64;

/// An event: its number within the stream, and the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) line: Bytes,
    /// Whether the stream ends with it: of a request's stream, the answer.
    pub(super) is_last: bool,
}

/// All streams of a session.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    streams: BTreeMap<StreamId, Stream>,
    next: StreamId,
}

#[derive(Debug, Default)]
struct Stream {
    /// Those that were sent and are kept, then those that wait.
    events: VecDeque<Bytes>,
    /// The number of the first of them.
    first: u64,
    /// The number of the next one to be sent.
    sent: u64,
    is_ended: bool,
    /// Counts readers: an older one reads no more.
    reader: u64,
    is_read: bool,
    waker: Option<Waker>,
}

impl Stream {
    fn kept(&self) -> usize {
        usize::try_from(self.sent.saturating_sub(self.first)).unwrap_or(usize::MAX)
    }

    fn unread_bytes(&self) -> usize {
        self.events.iter().skip(self.kept()).map(Bytes::len).sum()
    }

    fn kept_bytes(&self) -> usize {
        self.events.iter().take(self.kept()).map(Bytes::len).sum()
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn drop_kept(&mut self) {
        if self.kept() > 0 && self.events.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// Throws away what is not read, and whoever does not read it.
    fn give_up(&mut self) {
        self.first += u64::try_from(self.events.len()).unwrap_or(0);
        self.sent = self.first;
        self.events.clear();
        self.reader += 1;
        self.is_read = false;
        self.wake();
    }
}

impl Outbox {
    /// Opens a stream, and returns its first reader.
    pub(super) fn open(&mut self) -> StreamId {
        self.next += 1;
        self.streams.insert(self.next, Stream::default());
        self.next
    }

    /// Adds a message to a stream; to one that is not there, or has ended, nothing.
    pub(super) fn push(&mut self, stream: StreamId, line: Bytes) {
        let Some(it) = self.streams.get_mut(&stream).filter(|it| !it.is_ended) else { return };
        it.events.push_back(line);
        while it.kept() > KEPT_EVENTS_MAX {
            it.drop_kept();
        }
        if it.events.len() - it.kept() > UNREAD_EVENTS_MAX {
            it.give_up();
        }
        it.wake();
        self.trim();
    }

    /// Ends a stream: what waits in it is still read.
    pub(super) fn end(&mut self, stream: StreamId) {
        if let Some(it) = self.streams.get_mut(&stream) {
            it.is_ended = true;
            it.wake();
        }
        let ended = self.streams.iter().filter(|(_, it)| it.is_ended && !it.is_read);
        let ended: Vec<StreamId> = ended.map(|(id, _)| *id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(ENDED_STREAMS_MAX)) {
            self.streams.remove(id);
        }
    }

    pub(super) fn end_all(&mut self) {
        for stream in self.streams.values_mut() {
            stream.is_ended = true;
            stream.wake();
        }
    }

    pub(super) fn remove(&mut self, stream: StreamId) {
        if let Some(mut it) = self.streams.remove(&stream) {
            it.wake();
        }
    }

    /// Begins to read a stream, in the place of whoever reads it now; behind the event `after`, if one is given.
    /// `None` where what comes behind it is no longer there.
    pub(super) fn attach(&mut self, stream: StreamId, after: Option<u64>) -> Option<u64> {
        let it = self.streams.get_mut(&stream)?;
        if let Some(after) = after {
            let next = after.checked_add(1)?;
            if next < it.first || next > it.sent {
                return None;
            }
            it.sent = next;
        }
        it.reader += 1;
        it.is_read = true;
        it.wake();
        Some(it.reader)
    }

    /// Stops reading, unless somebody else reads by now.
    pub(super) fn detach(&mut self, stream: StreamId, reader: u64) {
        if let Some(it) = self.streams.get_mut(&stream).filter(|it| it.reader == reader) {
            it.is_read = false;
            it.waker = None;
        }
    }

    pub(super) fn is_read(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_some_and(|it| it.is_read)
    }

    pub(super) fn is_any_read(&self) -> bool {
        self.streams.values().any(|it| it.is_read)
    }

    /// Takes the next event; `None` at the end, or when somebody else reads.
    pub(super) fn poll_next(
        &mut self,
        stream: StreamId,
        reader: u64,
        context: &Context<'_>,
    ) -> Poll<Option<Event>> {
        let Some(it) = self.streams.get_mut(&stream).filter(|it| it.reader == reader) else {
            return Poll::Ready(None);
        };
        let Some(line) = it.events.get(it.kept()).cloned() else {
            if it.is_ended {
                return Poll::Ready(None);
            }
            it.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        let number = it.sent;
        it.sent += 1;
        let is_last = it.is_ended && it.events.len() == it.kept();
        Poll::Ready(Some(Event { number, line, is_last }))
    }

    /// Keeps to what one session may hold: first goes what was sent already, the oldest first.
    fn trim(&mut self) {
        let mut kept: usize = self.streams.values().map(Stream::kept_bytes).sum();
        for stream in self.streams.values_mut() {
            while kept > KEPT_BYTES_MAX && stream.kept() > 0 {
                kept -= stream.events.front().map_or(0, Bytes::len);
                stream.drop_kept();
            }
        }
        let unread: usize = self.streams.values().map(Stream::unread_bytes).sum();
        if unread > UNREAD_BYTES_MAX
            && let Some(slowest) = self.streams.values_mut().max_by_key(|it| it.unread_bytes())
        {
            slowest.give_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(outbox: &mut Outbox, stream: StreamId, reader: u64) -> Poll<Option<(u64, Bytes)>> {
        let context = Context::from_waker(Waker::noop());
        outbox.poll_next(stream, reader, &context).map(|it| it.map(|it| (it.number, it.line)))
    }

    fn line(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[test]
    fn who_comes_back_gets_what_it_missed_and_whoever_read_before_reads_no_more() {
        let mut outbox = Outbox::default();
        let stream = outbox.open();
        let first = outbox.attach(stream, None).unwrap();
        for text in ["a", "b", "c"] {
            outbox.push(stream, line(text));
        }
        assert_eq!(next(&mut outbox, stream, first), Poll::Ready(Some((0, line("a")))));
        assert_eq!(next(&mut outbox, stream, first), Poll::Ready(Some((1, line("b")))));
        assert_eq!(outbox.attach(stream, Some(7)), None);
        let second = outbox.attach(stream, Some(0)).unwrap();
        assert_eq!(next(&mut outbox, stream, first), Poll::Ready(None));
        outbox.end(stream);
        assert_eq!(next(&mut outbox, stream, second), Poll::Ready(Some((1, line("b")))));
        assert_eq!(next(&mut outbox, stream, second), Poll::Ready(Some((2, line("c")))));
        assert_eq!(next(&mut outbox, stream, second), Poll::Ready(None));
    }

    #[test]
    fn the_stream_that_nobody_reads_ends_and_the_others_go_on() {
        let mut outbox = Outbox::default();
        let (slow, quick) = (outbox.open(), outbox.open());
        let (slow_reader, reader) =
            (outbox.attach(slow, None).unwrap(), outbox.attach(quick, None).unwrap());
        let big = Bytes::from(vec![b'x'; 1024 * 1024]);
        for _ in 0..40 {
            outbox.push(slow, big.clone());
            outbox.push(quick, big.clone());
            assert!(matches!(next(&mut outbox, quick, reader), Poll::Ready(Some(_))));
        }
        assert_eq!(next(&mut outbox, slow, slow_reader), Poll::Ready(None));
        let held: usize =
            outbox.streams.values().map(|it| it.unread_bytes() + it.kept_bytes()).sum();
        assert!(held <= UNREAD_BYTES_MAX + KEPT_BYTES_MAX, "{held}");
    }

    #[test]
    fn what_was_sent_is_kept_within_bounds() {
        let mut outbox = Outbox::default();
        let stream = outbox.open();
        let reader = outbox.attach(stream, None).unwrap();
        for _ in 0..1000 {
            outbox.push(stream, line("event"));
            assert!(matches!(next(&mut outbox, stream, reader), Poll::Ready(Some(_))));
        }
        assert_eq!(outbox.attach(stream, Some(3)), None, "too long ago");
        assert!(outbox.attach(stream, Some(990)).is_some());
        for _ in 0..100 {
            let it = outbox.open();
            outbox.end(it);
        }
        assert!(outbox.streams.len() <= ENDED_STREAMS_MAX + 1);
    }
}
