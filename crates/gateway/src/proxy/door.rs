//! Who has come, from the first byte to a place among those who are served.
//!
//! A place is for a program that has an account. Whoever has not said yet who it is stands at the door: few at a
//! time and not for long, and when there are too many the one that came first goes. So no number of silent
//! connections keeps a program out that speaks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use aegx::RecordType;
use evidence::{Journal, NewRecord};
use model::Kind;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::answer::No;
use super::bounds::Bounds;
use super::shares::{Place, Share, Shares};

/// Where programs come in.
pub(crate) struct Door {
    /// Who has no place yet, in the order in which they came.
    standing: Mutex<BTreeMap<u64, Arc<Notify>>>,
    next: AtomicU64,
    bounds: Bounds,
    shares: Shares,
    journal: Arc<Journal>,
    /// Turned away since that was last recorded.
    turned_away: AtomicU64,
    /// All of them, for whoever wants to know.
    strangers: Arc<AtomicU64>,
}

/// One connection that has come.
pub(crate) struct Guest {
    door: Arc<Door>,
    number: u64,
    /// Somebody newer needs what this one holds.
    out: Arc<Notify>,
    known: AtomicBool,
    /// Given back when the connection is gone, and not before.
    place: OnceLock<Place>,
}

impl Door {
    pub(crate) fn new(
        bounds: Bounds,
        shares: Shares,
        journal: Arc<Journal>,
        strangers: &Arc<AtomicU64>,
    ) -> Arc<Self> {
        Arc::new(Self {
            standing: Mutex::default(),
            next: AtomicU64::new(0),
            bounds,
            shares,
            journal,
            turned_away: AtomicU64::new(0),
            strangers: Arc::clone(strangers),
        })
    }

    /// Whose the places are.
    pub(crate) fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Somebody has come.
    pub(crate) fn welcome(self: &Arc<Self>) -> Arc<Guest> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let out = Arc::new(Notify::new());
        let mut standing = self.standing();
        standing.insert(number, Arc::clone(&out));
        if standing.len() > self.bounds.strangers
            && let Some((_, first)) = standing.pop_first()
        {
            first.notify_one();
        }
        drop(standing);
        let (known, place) = (AtomicBool::new(false), OnceLock::new());
        Arc::new(Guest { door: Arc::clone(self), number, out, known, place })
    }

    /// Somebody has no account. The first is recorded at once, those that follow together.
    pub(crate) fn turn_away(self: &Arc<Self>) -> No {
        self.strangers.fetch_add(1, Ordering::Relaxed);
        if self.turned_away.fetch_add(1, Ordering::Relaxed) == 0 {
            self.record(1);
            self.record_missed();
            let (counting, period) = (Counting(Arc::clone(self)), self.bounds.counted);
            tokio::spawn(async move {
                let _counting = counting;
                sleep(period).await;
            });
        }
        No::no_account()
    }

    /// A program wants out that no door announced.
    fn record_missed(&self) {
        let content = json!({
            "door": "proxy",
            "why": "a program that no door announced asked the proxy, without an account",
        });
        let kind = Kind::of_static("door_missed");
        let _ = self.journal.post(NewRecord::of_host(RecordType::GuardDecision, kind, content));
    }

    fn record(&self, count: u64) {
        let content = json!({
            "count": count,
            "decision": "deny",
            "reason": "no account",
            "rule": No::NO_ACCOUNT,
            "tool": "proxy",
        });
        let kind = Kind::of_static("egress");
        // If the disk fails now, the next request is refused.
        let _ = self.journal.post(NewRecord::of_host(RecordType::GuardDecision, kind, content));
    }

    fn standing(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts who is turned away; dropped, also at the end of all, it records how many there were after the first.
struct Counting(Arc<Door>);

impl Drop for Counting {
    fn drop(&mut self) {
        match self.0.turned_away.swap(0, Ordering::Relaxed) {
            0 | 1 => {}
            all => self.0.record(all.saturating_sub(1)),
        }
    }
}

impl Guest {
    /// It has an account: does it have a place, or is there one?
    pub(crate) fn try_seat(&self, share: &Share) -> bool {
        self.known.store(true, Ordering::Relaxed);
        if self.place.get().is_none() {
            let Some(place) = share.try_place() else { return false };
            self.sit(place);
        }
        true
    }

    /// Waits for a place.
    pub(crate) async fn seat(&self, share: &Share) -> Result<(), No> {
        let place = share.place().await?;
        self.sit(place);
        Ok(())
    }

    fn sit(&self, place: Place) {
        // One who has a place already gives the second back.
        let _ = self.place.set(place);
        self.door.standing().remove(&self.number);
    }

    /// Ends when it must go: it has not said in time who it is, or has no place and somebody newer came.
    pub(crate) async fn must_go(&self) {
        tokio::select! {
            () = self.out.notified() => {}
            () = sleep(self.door.bounds.greeting) => {
                if self.known.load(Ordering::Relaxed) {
                    self.out.notified().await;
                }
            }
        }
        // It may have sat down at the very moment.
        if self.place.get().is_some() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.door.standing().remove(&self.number);
    }
}
