//! What a worker has said and nobody has taken yet: bounded in number, in bytes and in speed. It waits as it came: what is
//! read takes many times the room.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent::FromWorker;
use serde::Deserialize;

use super::{
    MALFORMED_MAX, MESSAGE_BYTES_MAX, QUEUED_BYTES_MAX, QUEUED_MAX, RATE_OVER, RATE_PER_SECOND_MAX,
};

/// Where messages are taken from.
pub(super) struct Inbox {
    messages: Mutex<Receiver<Vec<u8>>>,
    bytes: Arc<AtomicUsize>,
    malformed: AtomicUsize,
}

/// Where they are put.
pub(super) struct Intake {
    to: SyncSender<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
    window: Option<Instant>,
    count: usize,
}

/// What there is to take.
pub(super) enum Next {
    /// A message.
    Message(FromWorker),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    Over,
    /// It is to be ended, for this reason.
    Spoilt(String),
}

/// An inbox, and the way into it.
pub(super) fn inbox() -> (Intake, Inbox) {
    let (to, messages) = mpsc::sync_channel(QUEUED_MAX);
    let bytes = Arc::new(AtomicUsize::new(0));
    let intake = Intake { to, bytes: Arc::clone(&bytes), window: None, count: 0 };
    (intake, Inbox { messages: Mutex::new(messages), bytes, malformed: AtomicUsize::new(0) })
}

impl Inbox {
    pub(super) fn next(&self, at_most: Duration) -> Next {
        let bytes = match self.take(at_most) {
            Ok(bytes) => bytes,
            Err(RecvTimeoutError::Timeout) => return Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => return Next::Over,
        };
        if let Ok(message) = FromWorker::read(&bytes) {
            return Next::Message(message);
        }
        let malformed = self.malformed.fetch_add(1, Ordering::AcqRel).saturating_add(1);
        match malformed > MALFORMED_MAX {
            true => Next::Spoilt(format!("it said {malformed} things that are no messages")),
            false => Next::Nothing,
        }
    }

    fn take(&self, at_most: Duration) -> Result<Vec<u8>, RecvTimeoutError> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = messages.recv_timeout(at_most)?;
        self.bytes.fetch_sub(bytes.len(), Ordering::AcqRel);
        Ok(bytes)
    }

    /// Forgets what was said and is not wanted, unread: what comes after a result belongs to no turn.
    pub(super) fn clear(&self) {
        while self.take(Duration::ZERO).is_ok() {}
    }
}

impl Intake {
    /// Takes what came in one frame.
    ///
    /// # Errors
    /// If the worker is to be ended for it.
    pub(super) fn take(&mut self, bytes: Vec<u8>, now: Instant) -> Result<(), String> {
        self.pace(now)?;
        let size = bytes.len();
        if size > MESSAGE_BYTES_MAX && !is_question(&bytes) {
            return Err(format!("a message of {size} bytes, at most {MESSAGE_BYTES_MAX} are read"));
        }
        if self.bytes.fetch_add(size, Ordering::AcqRel).saturating_add(size) > QUEUED_BYTES_MAX {
            return Err(format!("more than {QUEUED_BYTES_MAX} bytes of its messages wait"));
        }
        self.to.try_send(bytes).map_err(|error| match error {
            TrySendError::Full(_) => format!("more than {QUEUED_MAX} of its messages wait"),
            TrySendError::Disconnected(_) => "nobody listens to it any more".to_owned(),
        })
    }

    /// Counts in windows: a burst is nothing, a flood is.
    fn pace(&mut self, now: Instant) -> Result<(), String> {
        let begun = *self.window.get_or_insert(now);
        if now.saturating_duration_since(begun) >= RATE_OVER {
            (self.window, self.count) = (Some(now), 0);
        }
        self.count += 1;
        let seconds = usize::try_from(RATE_OVER.as_secs()).unwrap_or(1);
        match self.count > RATE_PER_SECOND_MAX.saturating_mul(seconds) {
            true => Err(format!("more than {RATE_PER_SECOND_MAX} messages a second")),
            false => Ok(()),
        }
    }
}

/// Is it a question to a model? Nothing but its name is kept of it.
fn is_question(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(rename = "type", borrow)]
        name: std::borrow::Cow<'a, str>,
    }
    serde_json::from_slice::<Named<'_>>(bytes).is_ok_and(|it| it.name == "ask")
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &[u8] = br#"{"type":"ready"}"#;

    #[test]
    fn a_flood_and_a_heap_of_nonsense_end_a_worker_and_a_burst_does_not() {
        let (mut intake, inbox) = inbox();
        let begun = Instant::now();
        for second in 0..20 {
            for _ in 0..900 {
                intake.take(READY.to_vec(), begun + Duration::from_secs(second)).unwrap();
                assert!(matches!(inbox.next(Duration::ZERO), Next::Message(_)));
            }
        }
        let later = begun + Duration::from_secs(100);
        let flood = (0..10_000).find_map(|_| {
            inbox.clear();
            intake.take(READY.to_vec(), later).err()
        });
        assert!(flood.is_some_and(|it| it.contains("messages a second")));
        let (mut intake, inbox) = super::inbox();
        let nonsense = (0..=MALFORMED_MAX).find_map(|_| {
            intake.take(b"{}".to_vec(), begun).unwrap();
            match inbox.next(Duration::ZERO) {
                Next::Spoilt(why) => Some(why),
                Next::Message(_) | Next::Nothing | Next::Over => None,
            }
        });
        assert!(nonsense.is_some_and(|it| it.contains("no messages")));
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_and_in_number() {
        let (mut intake, inbox) = inbox();
        let big = |name: &str, count| {
            format!(r#"{{"id":1,"x":"{}","type":"{name}"}}"#, "m".repeat(count)).into_bytes()
        };
        let now = Instant::now();
        let full = (0..20).find_map(|_| intake.take(big("ask", 9_000_000), now).err());
        assert!(full.is_some_and(|it| it.contains("bytes")));
        inbox.clear();
        let (mut intake, inbox) = super::inbox();
        let full = (0..20_000u64)
            .find_map(|it| intake.take(READY.to_vec(), now + Duration::from_millis(it * 2)).err());
        assert!(full.is_some_and(|it| it.contains("wait")));
        drop(intake);
        inbox.clear();
        assert!(matches!(inbox.next(Duration::ZERO), Next::Over));
        // Only a question may be long, whatever else is written in a message.
        let (mut intake, _inbox) = super::inbox();
        intake.take(big("error", MESSAGE_BYTES_MAX / 2), now).unwrap();
        for name in ["error", "call", "asks"] {
            let long = intake.take(big(name, MESSAGE_BYTES_MAX), now).err();
            assert!(long.is_some_and(|it| it.contains("at most")), "{name}");
        }
    }

    #[test]
    fn what_waits_takes_the_room_that_it_came_in() {
        // An array of arrays takes thirty times as much when it is read.
        let (mut intake, inbox) = inbox();
        let deep = format!(
            r#"{{"type":"call","id":1,"message":{{"a":[{}[]]}}}}"#,
            "[],".repeat(MESSAGE_BYTES_MAX / 3 - 100)
        );
        for _ in 0..8 {
            intake.take(deep.clone().into_bytes(), Instant::now()).unwrap();
        }
        assert_eq!(inbox.bytes.load(Ordering::Acquire), deep.len() * 8);
        let messages = inbox.messages.lock().unwrap();
        let room: usize = messages.try_iter().map(|it| it.capacity()).sum();
        assert!(room < deep.len() * 9, "{room}");
    }
}
