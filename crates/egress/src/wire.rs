//! A connection as the bytes that come over it: how many may, and when nobody needs it any more.
//!
//! A server speaks when it is asked. What it sends otherwise, and what it sends beside an answer, as the
//! frames by which HTTP/2 speaks of itself, is bounded here, whatever it is.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

/// What may come while nobody asks, in bytes. It is more than the first piece of an answer, which may be
/// here before its exchange is counted.
const UNASKED_BYTES_MAX: u64 = 1 << 20;

/// What is known of one connection.
#[derive(Debug)]
pub(crate) struct Wire {
    state: Mutex<State>,
    /// What may come for one exchange, with its framing, in bytes.
    per_exchange: u64,
}

#[derive(Debug)]
struct State {
    /// Exchanges that are under way.
    exchanges: usize,
    /// Several may be at a time.
    shared: bool,
    /// What may still come, in bytes.
    left: u64,
    /// An exchange did not end well: the last one under way takes the connection along.
    spoilt: bool,
    /// Something has come.
    heard: bool,
    /// What happened since the last exchange ended, if one has: until then the connection is new.
    since: Option<Since>,
    cut: Option<io::ErrorKind>,
    reader: Option<Waker>,
}

/// What happened on a connection that was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Since {
    /// Something has come.
    pub(crate) heard: bool,
    /// Something has gone.
    pub(crate) sent: bool,
}

/// One exchange that is under way. Dropped before it has ended well, it spoils the connection.
pub(crate) struct Exchange {
    wire: Arc<Wire>,
    ended_well: bool,
}

impl Wire {
    /// `answer_bytes`: the longest answer as it travels.
    pub(crate) fn new(answer_bytes: u64) -> Arc<Self> {
        let per_exchange = answer_bytes.saturating_add(UNASKED_BYTES_MAX);
        let state = State {
            exchanges: 0,
            shared: false,
            left: UNASKED_BYTES_MAX,
            spoilt: false,
            heard: false,
            since: None,
            cut: None,
            reader: None,
        };
        Arc::new(Self { state: Mutex::new(state), per_exchange })
    }

    /// Counts an exchange.
    pub(crate) fn begin(self: &Arc<Self>) -> Exchange {
        let mut state = self.lock();
        // Where they come one after the other, the one before is over, though it has not been counted yet. What of this one
        // went before it was counted is not known.
        if state.exchanges > 0 && !state.shared {
            state.since = Some(Since { heard: false, sent: true });
        }
        state.exchanges = state.exchanges.saturating_add(1);
        state.left = state.left.saturating_add(self.per_exchange);
        drop(state);
        Exchange { wire: Arc::clone(self), ended_well: false }
    }

    /// Several exchanges may be under way at a time from now on, as HTTP/2 has it.
    pub(crate) fn share(&self) {
        self.lock().shared = true;
    }

    /// May anything more be read? Who reads is woken when not.
    pub(crate) fn check(&self, reader: &Context<'_>) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(kind) = state.cut {
            return Err(kind.into());
        }
        match &mut state.reader {
            Some(waker) => waker.clone_from(reader.waker()),
            none => *none = Some(reader.waker().clone()),
        }
        Ok(())
    }

    /// So many bytes more have come.
    pub(crate) fn came(&self, bytes: usize) -> io::Result<()> {
        let mut state = self.lock();
        state.heard |= bytes > 0;
        if let Some(since) = &mut state.since {
            since.heard |= bytes > 0;
        }
        if let Some(left) = state.left.checked_sub(bytes as u64) {
            state.left = left;
            return Ok(());
        }
        state.cut = Some(io::ErrorKind::QuotaExceeded);
        Err(io::ErrorKind::QuotaExceeded.into())
    }

    /// So many bytes more have gone.
    pub(crate) fn went(&self, bytes: usize) {
        if let Some(since) = &mut self.lock().since {
            since.sent |= bytes > 0;
        }
    }

    /// What happened since it was kept; none for a connection that is new.
    pub(crate) fn since_kept(&self) -> Option<Since> {
        self.lock().since
    }

    /// Has nothing ever come over it, handshakes aside?
    pub(crate) fn is_silent(&self) -> bool {
        !self.lock().heard
    }

    fn end(&self, well: bool) {
        let mut state = self.lock();
        state.exchanges = state.exchanges.saturating_sub(1);
        state.spoilt |= !well;
        if state.exchanges > 0 {
            return;
        }
        state.left = UNASKED_BYTES_MAX;
        if !state.spoilt {
            state.since = Some(Since::default());
        }
        if state.spoilt {
            state.cut = state.cut.or(Some(io::ErrorKind::ConnectionAborted));
            let reader = state.reader.take();
            drop(state);
            reader.into_iter().for_each(Waker::wake);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchange {
    pub(crate) fn is_over(&self, wire: &Arc<Wire>) -> bool {
        Arc::ptr_eq(&self.wire, wire)
    }

    /// The connection may serve others.
    pub(crate) fn ended_well(mut self) {
        self.ended_well = true;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.wire.end(self.ended_well);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    fn reads(wire: &Wire) -> bool {
        wire.check(&Context::from_waker(Waker::noop())).is_ok()
    }

    #[test]
    fn a_connection_goes_with_the_last_exchange_after_one_went_wrong() {
        let wire = Wire::new(100);
        wire.begin().ended_well();
        assert!(reads(&wire));
        let (one, other) = (wire.begin(), wire.begin());
        drop(one);
        assert!(reads(&wire), "somebody else still needs it");
        other.ended_well();
        assert!(!reads(&wire));
    }

    #[test]
    fn who_reads_is_woken_when_the_connection_is_cut_and_told_why_it_was() {
        struct Woken(AtomicUsize);
        impl Wake for Woken {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let new = || Arc::new(Woken(AtomicUsize::new(0)));
        let (before, last) = (new(), new());
        let wire = Wire::new(100);
        let exchange = wire.begin();
        for reader in [&before, &last] {
            wire.check(&Context::from_waker(&Waker::from(Arc::clone(reader)))).unwrap();
        }
        drop(exchange);
        assert_eq!((before.0.load(Ordering::SeqCst), last.0.load(Ordering::SeqCst)), (0, 1));
        let why = |wire: &Wire| wire.check(&Context::from_waker(Waker::noop())).unwrap_err().kind();
        assert_eq!(why(&wire), io::ErrorKind::ConnectionAborted);
        // What was wrong first stays.
        let wire = Wire::new(100);
        let exchange = wire.begin();
        assert_eq!(wire.came(1 << 30).unwrap_err().kind(), io::ErrorKind::QuotaExceeded);
        drop(exchange);
        assert_eq!(why(&wire), io::ErrorKind::QuotaExceeded);
    }

    #[test]
    fn each_exchange_brings_room_of_its_own_and_the_last_takes_it_away() {
        let unasked = usize::try_from(UNASKED_BYTES_MAX).unwrap();
        let wire = Wire::new(100);
        let (one, other) = (wire.begin(), wire.begin());
        wire.came(200 + 2 * unasked).unwrap();
        one.ended_well();
        // What is left is for the other.
        wire.came(unasked).unwrap();
        other.ended_well();
        wire.came(unasked).unwrap();
        assert!(wire.came(1).is_err());
        let (wire, other) = (Wire::new(1), Wire::new(1));
        let exchange = wire.begin();
        assert!(exchange.is_over(&wire) && !exchange.is_over(&other));
        exchange.ended_well();
    }

    #[test]
    fn what_happened_is_counted_from_the_end_of_the_last_exchange() {
        let wire = Wire::new(100);
        wire.share();
        let (one, other) = (wire.begin(), wire.begin());
        wire.went(1);
        wire.came(1).unwrap();
        one.ended_well();
        assert_eq!(wire.since_kept(), None, "it is new until all have ended");
        other.ended_well();
        assert_eq!(wire.since_kept(), Some(Since { heard: false, sent: false }));
        let next = wire.begin();
        wire.went(0);
        wire.came(0).unwrap();
        assert_eq!(wire.since_kept(), Some(Since { heard: false, sent: false }));
        wire.went(1);
        assert_eq!(wire.since_kept(), Some(Since { heard: false, sent: true }));
        wire.came(1).unwrap();
        assert_eq!(wire.since_kept(), Some(Since { heard: true, sent: true }));
        next.ended_well();
        assert_eq!(wire.since_kept(), Some(Since::default()));
    }

    #[test]
    fn one_that_begins_before_the_last_was_counted_out_has_a_kept_connection() {
        let wire = Wire::new(100);
        let one = wire.begin();
        wire.came(1).unwrap();
        assert_eq!(wire.since_kept(), None);
        let other = wire.begin();
        one.ended_well();
        // What changes something is not asked for again.
        assert_eq!(wire.since_kept(), Some(Since { heard: false, sent: true }));
        wire.came(1).unwrap();
        assert_eq!(wire.since_kept(), Some(Since { heard: true, sent: true }));
        other.ended_well();
        assert_eq!(wire.since_kept(), Some(Since::default()));
    }

    #[test]
    fn what_comes_is_bounded_with_an_exchange_and_without() {
        let unasked = usize::try_from(UNASKED_BYTES_MAX).unwrap();
        let wire = Wire::new(100);
        wire.came(unasked).unwrap();
        assert!(wire.came(1).is_err() && !reads(&wire));
        let wire = Wire::new(100);
        let exchange = wire.begin();
        wire.came(100 + 2 * unasked).unwrap();
        exchange.ended_well();
        // Each begins anew.
        wire.came(unasked).unwrap();
        let exchange = wire.begin();
        wire.came(100 + unasked).unwrap();
        assert!(wire.came(1).is_err());
        drop(exchange);
        assert!(!reads(&wire));
    }
}
