//! What a worker has said and nobody has taken yet: bounded in number, in bytes and in speed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent::FromWorker;

use super::{MALFORMED_MAX, QUEUED_BYTES_MAX, QUEUED_MAX, RATE_OVER, RATE_PER_SECOND_MAX};

/// Where messages are taken from.
pub(super) struct Inbox {
    messages: Mutex<Receiver<(FromWorker, usize)>>,
    bytes: Arc<AtomicUsize>,
}

/// Where they are put.
pub(super) struct Intake {
    to: SyncSender<(FromWorker, usize)>,
    bytes: Arc<AtomicUsize>,
    window: Option<Instant>,
    count: usize,
    malformed: usize,
}

/// What there is to take.
pub(super) enum Next {
    /// A message.
    Message(FromWorker),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    Over,
}

/// An inbox, and the way into it.
pub(super) fn inbox() -> (Intake, Inbox) {
    let (to, messages) = mpsc::sync_channel(QUEUED_MAX);
    let bytes = Arc::new(AtomicUsize::new(0));
    let intake = Intake { to, bytes: Arc::clone(&bytes), window: None, count: 0, malformed: 0 };
    (intake, Inbox { messages: Mutex::new(messages), bytes })
}

impl Inbox {
    pub(super) fn next(&self, at_most: Duration) -> Next {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        match messages.recv_timeout(at_most) {
            Ok((message, size)) => {
                self.bytes.fetch_sub(size, Ordering::AcqRel);
                Next::Message(message)
            }
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::Over,
        }
    }

    /// Forgets what was said and is not wanted: what comes after a result belongs to no turn.
    pub(super) fn clear(&self) {
        while let Next::Message(_) = self.next(Duration::ZERO) {}
    }
}

impl Intake {
    /// Takes what came in one frame.
    ///
    /// # Errors
    /// If the worker is to be ended for it.
    pub(super) fn take(&mut self, bytes: &[u8], now: Instant) -> Result<(), String> {
        self.pace(now)?;
        let Ok(message) = FromWorker::read(bytes) else {
            self.malformed += 1;
            return match self.malformed > MALFORMED_MAX {
                true => Err(format!("it said {} things that are no messages", self.malformed)),
                false => Ok(()),
            };
        };
        let size = bytes.len();
        if self.bytes.fetch_add(size, Ordering::AcqRel).saturating_add(size) > QUEUED_BYTES_MAX {
            return Err(format!("more than {QUEUED_BYTES_MAX} bytes of its messages wait"));
        }
        self.to.try_send((message, size)).map_err(|error| match error {
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
                intake.take(READY, begun + Duration::from_secs(second)).unwrap();
                assert!(matches!(inbox.next(Duration::ZERO), Next::Message(_)));
            }
        }
        let later = begun + Duration::from_secs(100);
        let flood = (0..10_000).find_map(|_| {
            inbox.clear();
            intake.take(READY, later).err()
        });
        assert!(flood.is_some_and(|it| it.contains("messages a second")));
        let (mut intake, _inbox) = super::inbox();
        let nonsense = (0..=MALFORMED_MAX).find_map(|_| intake.take(b"{}", begun).err());
        assert!(nonsense.is_some_and(|it| it.contains("no messages")));
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_and_in_number() {
        let (mut intake, inbox) = inbox();
        let big = format!(r#"{{"type":"error","code":"x","message":"{}"}}"#, "m".repeat(9_000_000));
        let now = Instant::now();
        let full = (0..20).find_map(|_| intake.take(big.as_bytes(), now).err());
        assert!(full.is_some_and(|it| it.contains("bytes")));
        inbox.clear();
        let (mut intake, inbox) = super::inbox();
        let full = (0..20_000u64)
            .find_map(|it| intake.take(READY, now + Duration::from_millis(it * 2)).err());
        assert!(full.is_some_and(|it| it.contains("wait")));
        drop(intake);
        inbox.clear();
        assert!(matches!(inbox.next(Duration::ZERO), Next::Over));
    }
}
