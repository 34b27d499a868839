//! One turn at a time in a session, in the order in which they came; sessions do not wait for each other.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::limits::WAITING_MAX;

/// A session of one user with one agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) user: String,
    pub(crate) agent: String,
    pub(crate) session: String,
}

/// The queues of all sessions.
#[derive(Clone, Default)]
pub(crate) struct Queues(Arc<Mutex<HashMap<Key, Queue>>>);

struct Queue {
    turn: Arc<Semaphore>,
    /// The flags that stop the one whose turn it is, and those who wait, in their order.
    present: VecDeque<Arc<AtomicBool>>,
}

/// The future of a turn.
type Turn = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

/// A place in a queue, kept for whoever waits.
pub(crate) struct Waiting {
    /// Given up before the turn: whoever has the turn is the first.
    place: Place,
    turn: Turn,
    held: Option<OwnedSemaphorePermit>,
    wanted: Wanted,
}

/// Is a turn still wanted? Whoever has gone before it began wants it no more; after that it can only be interrupted.
#[derive(Clone)]
pub(crate) struct Wanted {
    state: Arc<AtomicU8>,
    stop: Arc<AtomicBool>,
}

const WAITS: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

impl Wanted {
    /// Nobody waits for it any more: it does not begin, or is interrupted if it has begun.
    pub(crate) fn give_up(&self) {
        if !self.set(GIVEN_UP) {
            self.stop.store(true, Ordering::Release);
        }
    }

    fn set(&self, to: u8) -> bool {
        self.state.compare_exchange(WAITS, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// It is one's turn, until this is dropped.
pub(crate) struct Held {
    /// Given up before the turn, as in [`Waiting`].
    place: Place,
    _turn: OwnedSemaphorePermit,
}

impl Held {
    /// The flag that stops it.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.place.stop)
    }
}

/// A place in a queue; given up however it ends.
struct Place {
    queues: Queues,
    key: Key,
    stop: Arc<AtomicBool>,
}

impl Queues {
    /// Takes a place at the end of the queue, now. None if too many wait.
    pub(crate) fn enqueue(&self, key: &Key) -> Option<Waiting> {
        let stop = Arc::<AtomicBool>::default();
        let wanted = Wanted { state: Arc::default(), stop: Arc::clone(&stop) };
        let mut all = self.lock();
        let new = || Queue { turn: Arc::new(Semaphore::new(1)), present: VecDeque::new() };
        let queue = all.entry(key.clone()).or_insert_with(new);
        if queue.present.len() >= WAITING_MAX {
            return None;
        }
        let mut turn: Turn = Box::pin(Arc::clone(&queue.turn).acquire_owned());
        // The semaphore serves in the order in which it was first asked: that is here, in the order of those who are present.
        let mut nobody = Context::from_waker(Waker::noop());
        let held = match turn.as_mut().poll(&mut nobody) {
            Poll::Ready(held) => Some(held.ok()?),
            Poll::Pending => None,
        };
        queue.present.push_back(Arc::clone(&stop));
        let place = Place { queues: self.clone(), key: key.clone(), stop };
        Some(Waiting { place, turn, held, wanted })
    }

    /// The turn of a session in which nobody runs or waits, so that nothing begins in it meanwhile.
    pub(crate) fn take(&self, key: &Key) -> Option<Held> {
        let Waiting { held, place, .. } = self.enqueue(key)?;
        held.map(|turn| Held { place, _turn: turn })
    }

    /// Ends the turn of a session that runs; where none does, the next one. False if nobody is there.
    pub(crate) fn interrupt(&self, key: &Key) -> bool {
        let all = self.lock();
        let first = all.get(key).and_then(|it| it.present.front());
        first.inspect(|stop| stop.store(true, Ordering::Release)).is_some()
    }

    /// Does nobody run or wait?
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The sessions in which a turn runs or waits.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.lock().keys().cloned().collect()
    }

    /// Does a turn of this session run or wait?
    pub(crate) fn is_busy(&self, key: &Key) -> bool {
        self.lock().contains_key(key)
    }

    /// Sessions of the user in which a turn runs or waits, beside this one.
    pub(crate) fn others_of(&self, key: &Key) -> usize {
        self.lock().keys().filter(|it| it.user == key.user && *it != key).count()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// By which it can be given up while it waits.
    pub(crate) fn wanted(&self) -> Wanted {
        self.wanted.clone()
    }

    /// Waits for one's turn, at most so long. None if it does not come, or is not wanted any more; whoever stops waiting is
    /// forgotten.
    pub(crate) async fn turn(self, at_most: Duration) -> Option<Held> {
        let Self { place, turn, held, wanted } = self;
        let turn = match held {
            Some(held) => held,
            None => tokio::time::timeout(at_most, turn).await.ok()?.ok()?,
        };
        if !wanted.set(BEGUN) {
            // First the place: an interrupt is for whoever comes next.
            drop(place);
            return None;
        }
        Some(Held { place, _turn: turn })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.queues.lock();
        let Some(queue) = all.get_mut(&self.key) else { return };
        queue.present.retain(|it| !Arc::ptr_eq(it, &self.stop));
        if queue.present.is_empty() {
            all.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(session: &str) -> Key {
        Key { user: "ann".to_owned(), agent: "main".to_owned(), session: session.to_owned() }
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(test);
    }

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(30);

    #[test]
    fn ten_who_wait_come_in_order() {
        run(async {
            let queues = Queues::default();
            let first = queues.enqueue(&key("a")).unwrap().turn(LONG).await.unwrap();
            let order = Arc::new(Mutex::new(Vec::new()));
            let mut tasks = Vec::new();
            for number in 0..10 {
                let (waiting, order) = (queues.enqueue(&key("a")).unwrap(), Arc::clone(&order));
                tasks.push(tokio::spawn(async move {
                    let _held = waiting.turn(LONG).await.unwrap();
                    order.lock().unwrap().push(number);
                }));
            }
            // Another session does not wait.
            assert!(queues.enqueue(&key("b")).unwrap().turn(SHORT).await.is_some());
            assert!(order.lock().unwrap().is_empty());
            drop(first);
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
            assert!(!queues.is_busy(&key("a")));
        });
    }

    #[test]
    fn who_waited_too_long_never_gets_it_and_orphans_nobody() {
        run(async {
            let queues = Queues::default();
            let first = queues.enqueue(&key("a")).unwrap().turn(LONG).await.unwrap();
            assert!(queues.enqueue(&key("a")).unwrap().turn(SHORT).await.is_none());
            let later = {
                let queues = queues.clone();
                tokio::spawn(async move {
                    queues.enqueue(&key("a")).unwrap().turn(LONG).await.is_some()
                })
            };
            tokio::task::yield_now().await;
            drop(first);
            assert!(later.await.unwrap());
            assert!(!queues.is_busy(&key("a")));
        });
    }

    #[test]
    fn an_interrupt_is_for_the_turn_that_runs_and_is_kept_for_one_that_is_about_to() {
        run(async {
            let queues = Queues::default();
            let is_set = |it: &Held| it.stop().load(Ordering::Acquire);
            let (first, second) = (queues.enqueue(&key("a")), queues.enqueue(&key("a")));
            queues.interrupt(&key("a"));
            let first = first.unwrap().turn(LONG).await.unwrap();
            assert!(is_set(&first));
            drop(first);
            let second = second.unwrap();
            let wanted = second.wanted();
            let second = second.turn(LONG).await.unwrap();
            assert!(!is_set(&second));
            // Whoever goes when it has begun interrupts it.
            wanted.give_up();
            assert!(is_set(&second));
            // Whoever goes before takes no part.
            let third = queues.enqueue(&key("a")).unwrap();
            third.wanted().give_up();
            drop(second);
            assert!(third.turn(LONG).await.is_none() && queues.is_empty());
        });
    }

    /// Interrupts the session as soon as the turn is free.
    struct AtOnce(Queues);

    impl std::task::Wake for AtOnce {
        fn wake(self: Arc<Self>) {
            self.0.interrupt(&key("a"));
        }
    }

    #[test]
    fn whoever_gives_up_leaves_the_queue_before_the_turn() {
        run(async {
            let queues = Queues::default();
            let gone = queues.enqueue(&key("a")).unwrap();
            let mut next = queues.enqueue(&key("a")).unwrap();
            let waker = Waker::from(Arc::new(AtOnce(queues.clone())));
            assert!(next.turn.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            gone.wanted().give_up();
            assert!(gone.turn(LONG).await.is_none());
            assert!(next.wanted.stop.load(Ordering::Acquire));
        });
    }

    #[test]
    fn a_crowd_is_turned_away() {
        run(async {
            let queues = Queues::default();
            let _first = queues.enqueue(&key("a")).unwrap().turn(LONG).await.unwrap();
            let waiting: Vec<_> = (1..WAITING_MAX).map(|_| queues.enqueue(&key("a"))).collect();
            assert!(waiting.iter().all(Option::is_some));
            assert!(queues.enqueue(&key("a")).is_none());
        });
    }
}
