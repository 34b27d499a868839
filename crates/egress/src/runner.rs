//! Carries exchanges on the threads that wait for them.
//!
//! Who asks carries its own bytes: nothing is handed from thread to thread on the way, and nobody has to be woken
//! for it. If several ask at once, one of them carries for all. Between two questions a thread of its own looks now
//! and then whether a server has hung up, and closes what was kept long enough.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use crate::client::IDLE_KEPT;

/// How often it is looked after connections that nobody uses.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long after the last exchange; nothing is kept for longer.
const LOOK_FOR: Duration = IDLE_KEPT.saturating_add(Duration::from_secs(5));

/// How long a thread stays awake for an answer.
const AWAKE_FOR: Duration = Duration::from_micros(200);

/// Carries exchanges.
pub(crate) struct Runner {
    runtime: Arc<Runtime>,
    watch: Arc<Watch>,
    thread: Option<JoinHandle<()>>,
}

impl Runner {
    /// Without an exchange so far.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn new() -> io::Result<Self> {
        let runtime = Arc::new(Builder::new_current_thread().enable_all().build()?);
        let watch = Arc::new(Watch::default());
        let (looked_after, seen) = (Arc::clone(&runtime), Arc::clone(&watch));
        let thread = thread::Builder::new().name("egress".to_owned()).spawn(move || {
            while seen.wait() {
                looked_after.block_on(turn());
            }
        })?;
        Ok(Self { runtime, watch, thread: Some(thread) })
    }

    /// Carries one exchange to its end.
    pub(crate) fn run<T, E>(&self, exchange: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let ended = self.runtime.block_on(async {
            // What the exchange before has left, and what has come since, is seen to first.
            turn().await;
            let ended = awake(exchange).await;
            if ended.is_err() {
                // Whoever is no longer wanted is told so now.
                turn().await;
            }
            ended
        });
        self.watch.used();
        ended
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.watch.end();
        // It ends after one turn at most. What it died of would be nobody's business here.
        self.thread.take().into_iter().for_each(|it| drop(it.join()));
    }
}

/// Lets everything that can go on go on: first the system is asked what has come, then it is seen to.
async fn turn() {
    yield_now().await;
    yield_now().await;
}

/// Looks again and again for a moment before it lets its thread go to sleep: a server that is near has answered by
/// then, and to be woken would take as long as its answer.
async fn awake<T>(exchange: impl Future<Output = T>) -> T {
    let mut exchange = pin!(exchange);
    let begun = Instant::now();
    poll_fn(|context| {
        let polled = exchange.as_mut().poll(context);
        if polled.is_pending() && begun.elapsed() < AWAKE_FOR {
            // The server may be waiting for this very core.
            thread::yield_now();
            context.waker().wake_by_ref();
        }
        polled
    })
    .await
}

/// Whether there may be something to look after.
#[derive(Default)]
struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Until when.
    until: Option<Instant>,
    sleeps: bool,
    ended: bool,
}

impl Watch {
    /// Something was carried.
    fn used(&self) {
        let mut state = self.lock();
        state.until = Instant::now().checked_add(LOOK_FOR);
        if state.sleeps {
            self.changed.notify_one();
        }
    }

    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_one();
    }

    /// Waits until it should be looked again; not if all has ended.
    fn wait(&self) -> bool {
        let idle = |state: &mut State| {
            state.sleeps = !state.ended && state.until.is_none_or(|it| it <= Instant::now());
            state.sleeps
        };
        let state = self.changed.wait_while(self.lock(), idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let state = self.changed.wait_timeout_while(state, LOOK_EVERY, |it| !it.ended);
        let (state, _) = state.unwrap_or_else(PoisonError::into_inner);
        !state.ended
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here can panic half-way, so a poisoned lock guards sound data.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn several_are_carried_at_once() {
        let runner = Runner::new().unwrap();
        thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|number| {
                    let runner = &runner;
                    scope.spawn(move || {
                        runner.run(async {
                            tokio::time::sleep(Duration::from_millis(5)).await;
                            if number % 2 == 0 { Ok(number) } else { Err(number) }
                        })
                    })
                })
                .collect();
            for (number, one) in all.into_iter().enumerate() {
                let wanted = if number % 2 == 0 { Ok(number) } else { Err(number) };
                assert_eq!(one.join().unwrap(), wanted);
            }
        });
    }

    #[test]
    fn what_an_exchange_leaves_behind_is_seen_to_though_nobody_asks_again() {
        let runner = Runner::new().unwrap();
        let closed = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&closed);
        let ended: Result<(), ()> = runner.run(async move {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                late.store(true, Ordering::Relaxed);
            });
            Ok(())
        });
        assert!(ended.is_ok() && !closed.load(Ordering::Relaxed));
        let begun = Instant::now();
        while !closed.load(Ordering::Relaxed) {
            assert!(begun.elapsed() < 30 * LOOK_EVERY, "nobody has looked");
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn it_ends_whether_or_not_it_was_used() {
        drop(Runner::new().unwrap());
        let runner = Runner::new().unwrap();
        assert_eq!(runner.run(async { Ok::<_, ()>(1) }), Ok(1));
        drop(runner);
    }
}
