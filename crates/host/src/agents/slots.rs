//! Sessions and their workers. A slot counts as used until the process of its worker is gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use agent::WorkerShown;
use model::Caller;

use crate::worker::Worker;

type Key = (String, String, String);

/// The slots of a host.
pub(super) struct Slots {
    all: Mutex<HashMap<Key, Arc<Slot>>>,
    at_most: AtomicUsize,
    at_most_per_user: AtomicUsize,
}

/// A session of one user with one agent.
pub(super) struct Slot {
    key: Key,
    query: Mutex<()>,
    /// Has somebody the right to run a turn? Whoever only looks must not hold it, not for a moment: a turn that begins then
    /// would be refused.
    busy: AtomicBool,
    worker: Mutex<Option<Arc<Worker>>>,
    /// Is the turn that runs to end? Each has its own.
    stop: Mutex<Arc<AtomicBool>>,
    /// When somebody wanted it last.
    used: Mutex<Instant>,
    /// By which reading of the files its worker was started.
    generation: AtomicU64,
}

/// The right to run a turn in a slot, until it is dropped.
pub(super) struct Query<'a> {
    busy: &'a AtomicBool,
    _held: MutexGuard<'a, ()>,
}

impl Drop for Query<'_> {
    fn drop(&mut self) {
        // Before the other one is let go: whoever comes next is busy again.
        self.busy.store(false, Ordering::Release);
    }
}

/// Why there is no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The user has as many as one may have.
    OfUser,
    /// There are as many as there may be.
    OfAll,
}

/// How often it is looked whether a turn has ended.
const LOOK: Duration = Duration::from_millis(5);

impl Slots {
    pub(super) fn new(at_most: usize, at_most_per_user: usize) -> Self {
        let (at_most, at_most_per_user) = (at_most.into(), at_most_per_user.into());
        Self { all: Mutex::default(), at_most, at_most_per_user }
    }

    /// From now on there are so many at most. Those that are too many end when somebody needs room.
    pub(super) fn bound(&self, at_most: usize, at_most_per_user: usize) {
        self.at_most.store(at_most, Ordering::Release);
        self.at_most_per_user.store(at_most_per_user, Ordering::Release);
    }

    /// How many there may be.
    pub(super) fn at_most(&self) -> usize {
        self.at_most.load(Ordering::Acquire)
    }

    /// The slot of `who`, which is made if there is room.
    pub(super) fn of(&self, who: &Caller) -> Result<Arc<Slot>, Full> {
        let key: Key = (
            who.user.as_str().to_owned(),
            who.agent.as_str().to_owned(),
            who.session.as_str().to_owned(),
        );
        let mut all = held(&self.all);
        if let Some(slot) = all.get(&key) {
            *held(&slot.used) = Instant::now();
            return Ok(Arc::clone(slot));
        }
        let of_user = all.keys().filter(|it| it.0 == key.0).count();
        if of_user >= self.at_most_per_user.load(Ordering::Acquire) {
            return Err(Full::OfUser);
        }
        if all.len() >= self.at_most() {
            return Err(Full::OfAll);
        }
        let slot = Arc::new(Slot::new(key.clone()));
        all.insert(key, Arc::clone(&slot));
        Ok(slot)
    }

    /// Is this slot still one of them?
    pub(super) fn holds(&self, slot: &Arc<Slot>) -> bool {
        held(&self.all).get(&slot.key).is_some_and(|it| Arc::ptr_eq(it, slot))
    }

    /// All slots, or those of one user, the one first that nobody wanted for longest.
    pub(super) fn stalest_first(&self, user: Option<&str>) -> Vec<Arc<Slot>> {
        let mut found = self.all();
        found.retain(|it| user.is_none_or(|user| it.key.0 == user));
        found.sort_by_cached_key(|it| *held(&it.used));
        found
    }

    /// The slot of a session of this user.
    pub(super) fn find(&self, user: &str, agent: Option<&str>, session: &str) -> Option<Arc<Slot>> {
        let all = held(&self.all);
        let is_it = |(u, a, s): &Key| u == user && s == session && agent.is_none_or(|it| it == a);
        all.iter().find(|(key, _)| is_it(key)).map(|(_, slot)| Arc::clone(slot))
    }

    pub(super) fn all(&self) -> Vec<Arc<Slot>> {
        held(&self.all).values().cloned().collect()
    }

    /// Forgets a slot whose worker is gone.
    pub(super) fn remove(&self, slot: &Arc<Slot>) {
        let mut all = held(&self.all);
        if all.get(&slot.key).is_some_and(|it| Arc::ptr_eq(it, slot)) {
            all.remove(&slot.key);
        }
    }
}

impl Slot {
    fn new(key: Key) -> Self {
        Self {
            key,
            query: Mutex::default(),
            busy: AtomicBool::default(),
            worker: Mutex::default(),
            stop: Mutex::default(),
            used: Mutex::new(Instant::now()),
            generation: AtomicU64::default(),
        }
    }

    /// The right to run a turn; none while another one runs.
    pub(super) fn query(&self) -> Option<Query<'_>> {
        let held = match self.query.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.busy.store(true, Ordering::Release);
        Some(Query { busy: &self.busy, _held: held })
    }

    /// The same, when the other one has ended; none if that takes too long.
    pub(super) fn wait_for_query(&self, at_most: Duration) -> Option<Query<'_>> {
        let until = Instant::now() + at_most;
        loop {
            let query = self.query();
            if query.is_some() || Instant::now() >= until {
                return query;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// A turn begins, which ends when `stop` is set. Its worker may still have to start.
    pub(super) fn begin(&self, stop: &Arc<AtomicBool>) {
        *held(&self.stop) = Arc::clone(stop);
    }

    /// Is the turn that runs to end?
    pub(super) fn stop_wanted(&self) -> Arc<AtomicBool> {
        Arc::clone(&held(&self.stop))
    }

    /// The turn that runs is to end.
    pub(super) fn stop(&self) {
        self.stop_wanted().store(true, Ordering::Release);
    }

    /// Its worker, for whoever looks after the host.
    pub(super) fn shown(&self) -> Option<WorkerShown> {
        self.worker()?;
        let (user, agent, session) = self.key.clone();
        let is_busy = self.busy.load(Ordering::Acquire);
        let idle_seconds = held(&self.used).elapsed().as_secs();
        Some(WorkerShown { user, agent, session, is_busy, idle_seconds })
    }

    /// Whose it is: the user, the agent and the session.
    pub(super) fn of_whom(&self) -> (&str, &str, &str) {
        (&self.key.0, &self.key.1, &self.key.2)
    }

    pub(super) fn worker(&self) -> Option<Arc<Worker>> {
        held(&self.worker).clone()
    }

    /// By which reading of the files its worker was started.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(super) fn put(&self, worker: Worker, generation: u64) -> Arc<Worker> {
        self.generation.store(generation, Ordering::Release);
        let worker = Arc::new(worker);
        *held(&self.worker) = Some(Arc::clone(&worker));
        worker
    }

    /// Takes the worker out, to end it. Whoever looked at it a moment ago lets go of it at once.
    pub(super) fn take(&self) -> Option<Worker> {
        let mut worker = held(&self.worker).take()?;
        loop {
            match Arc::try_unwrap(worker) {
                Ok(worker) => return Some(worker),
                Err(shared) => {
                    worker = shared;
                    std::thread::yield_now();
                }
            }
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use model::{AgentId, Kind, SessionId, UserId};

    use super::*;

    fn who(user: &str, session: &str) -> Caller {
        Caller {
            session: SessionId::parse(session).unwrap(),
            user: UserId::parse(user).unwrap(),
            agent: AgentId::parse("main").unwrap(),
            door: Kind::of_static("worker"),
        }
    }

    #[test]
    fn one_user_cannot_have_all_of_them() {
        let slots = Slots::new(3, 2);
        for session in ["s1", "s2"] {
            assert!(slots.of(&who("ann", session)).is_ok());
        }
        assert_eq!(slots.of(&who("ann", "s3")).err(), Some(Full::OfUser));
        let bobs = slots.of(&who("bob", "s4")).unwrap();
        assert_eq!(slots.of(&who("cleo", "s5")).err(), Some(Full::OfAll));
        // One that is there is found, and is the last that goes.
        assert!(slots.of(&who("ann", "s1")).is_ok());
        let order: Vec<String> =
            slots.stalest_first(None).iter().map(|it| it.key.2.clone()).collect();
        assert_eq!(order, ["s2", "s4", "s1"]);
        assert_eq!(slots.stalest_first(Some("bob")).len(), 1);
        assert!(slots.holds(&bobs));
        slots.remove(&bobs);
        assert!(!slots.holds(&bobs) && slots.of(&who("cleo", "s5")).is_ok());
    }

    #[test]
    fn bounds_that_change_count_for_whoever_comes_next_and_looking_holds_nobody_up() {
        let slots = Slots::new(1, 1);
        let anns = slots.of(&who("ann", "s1")).unwrap();
        assert_eq!(slots.of(&who("bob", "s2")).err(), Some(Full::OfAll));
        slots.bound(3, 2);
        assert!(slots.of(&who("ann", "s3")).is_ok() && slots.of(&who("bob", "s2")).is_ok());
        slots.bound(1, 1);
        // Those that there are go on.
        assert!(slots.of(&who("ann", "s1")).is_ok());
        assert_eq!(slots.of(&who("cleo", "s4")).err(), Some(Full::OfAll));
        let is_busy = || anns.busy.load(Ordering::Acquire);
        let query = anns.query().unwrap();
        assert!(is_busy() && anns.query().is_none() && is_busy());
        drop(query);
        assert!(!is_busy());
    }

    #[test]
    fn whoever_waits_for_a_turn_does_not_wait_for_ever_and_a_turn_is_stopped_once() {
        let slot = Slot::new((String::new(), String::new(), String::new()));
        let query = slot.query().unwrap();
        let stop = Arc::<AtomicBool>::default();
        slot.begin(&stop);
        // Its worker has not even started: the word is kept.
        slot.stop();
        assert!(slot.worker().is_none() && stop.load(Ordering::Acquire));
        assert!(slot.wait_for_query(Duration::from_millis(20)).is_none());
        drop(query);
        assert!(slot.wait_for_query(Duration::ZERO).is_some());
        slot.begin(&Arc::default());
        assert!(!slot.stop_wanted().load(Ordering::Acquire));
    }
}
