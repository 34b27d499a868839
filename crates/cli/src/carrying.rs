//! Jobs that a process carries out beside its doors: the daemon, and the server.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evidence::{Clock, SystemClock};
use host::agents::Jobs;
use host::scheduler::{self, Runner};
use serde_json::{Value, json};

use crate::output;

/// How often it is looked which jobs are due.
const EVERY: Duration = Duration::from_secs(15);
/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(200);
/// How long runs may take to end that somebody has ended.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Carries out what is due, until it is told to end.
#[derive(Default)]
pub(crate) struct Carrying {
    state: Mutex<State>,
    /// Held while it is looked: what begins then has begun for whoever asks afterwards.
    looking: Mutex<()>,
    rests: AtomicBool,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    /// There once they could be had.
    jobs: Option<Arc<Jobs>>,
    /// Why there are none, or what went wrong when it was looked last.
    wrong: Option<String>,
}

impl Carrying {
    /// Of these jobs.
    pub(crate) fn of(jobs: Option<Jobs>) -> Self {
        let state = State { jobs: jobs.map(Arc::new), wrong: None };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// Carries jobs out until [`Self::stop`]. Where there are none yet they are had from `open`, which gives none where
    /// the host carries out no jobs, and is asked again where they cannot be had.
    pub(crate) fn run(&self, open: &dyn Fn() -> Result<Option<Jobs>, String>) {
        let (mut next, mut ended) = (Instant::now(), 0);
        while !self.is_over.load(Ordering::Acquire) {
            let now = self.jobs().map_or(0, |it| it.ended());
            if Instant::now() >= next || now != ended {
                (next, ended) = (Instant::now() + EVERY, now);
                match self.look(open) {
                    Ok(true) => self.note(None),
                    Ok(false) => return,
                    Err(why) => self.note(Some(why)),
                }
            }
            thread::sleep(LOOK);
        }
    }

    /// Looks once. False if there is nothing to look for.
    fn look(&self, open: &dyn Fn() -> Result<Option<Jobs>, String>) -> Result<bool, String> {
        let _looking = held(&self.looking);
        if self.rests.load(Ordering::Acquire) {
            return Ok(true);
        }
        let jobs = match self.jobs() {
            Some(jobs) => jobs,
            None => {
                let Some(jobs) = open()?.map(Arc::new) else { return Ok(false) };
                held(&self.state).jobs = Some(Arc::clone(&jobs));
                jobs
            }
        };
        jobs.look(SystemClock.unix_seconds()).map_err(|it| it.to_string())?;
        Ok(true)
    }

    /// Notes how it went. The same is said once.
    fn note(&self, wrong: Option<String>) {
        let mut state = held(&self.state);
        if let Some(why) = wrong.as_ref().filter(|it| state.wrong.as_ref() != Some(it)) {
            output::note(&format!("jobs: {why}"));
        }
        state.wrong = wrong;
    }

    /// Begins nothing new from now on. Is nothing under way?
    pub(crate) fn rest(&self) -> bool {
        let _looking = held(&self.looking);
        self.rests.store(true, Ordering::Release);
        self.jobs().is_none_or(|it| it.running() == 0)
    }

    /// Nothing new begins, and nobody looks any more.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Release);
        let _ = self.rest();
    }

    /// Waits for runs whose workers were ended, and lets go of what they stood on.
    pub(crate) fn end(&self) {
        self.stop();
        if let Some(jobs) = held(&self.state).jobs.take() {
            // One that hangs is found to be lost when the next process begins.
            let _ = jobs.wait(END_WITHIN);
        }
    }

    /// What goes on, for whoever looks; null where there is nothing to carry out.
    pub(crate) fn status(&self) -> Value {
        let state = held(&self.state);
        match (&state.jobs, &state.wrong) {
            (None, None) => Value::Null,
            (jobs, wrong) => {
                json!({ "running": jobs.as_ref().map(|it| it.running()), "wrong": wrong })
            }
        }
    }

    fn jobs(&self) -> Option<Arc<Jobs>> {
        held(&self.state).jobs.clone()
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Is there a job to come in the state directory `home`, or a run that has not ended, which the host is to carry out?
pub(crate) fn is_wanted(home: &Path) -> bool {
    // Where the files are not understood nothing is carried out, and nobody waits for it.
    let by_host = matches!(scheduler::runner(home), Ok(Some(Runner::Host)));
    by_host
        && scheduler::look(home).is_ok_and(|(jobs, runs)| {
            jobs.iter().any(|it| it.next.is_some()) || runs.iter().any(|it| it.run.ended.is_none())
        })
}
