//! Jobs that a server carries out, each on the account of its user.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::serve::Handle;
use agent::Purse;
use evidence::{Clock, Receipt, SystemClock};
use host::agents::{Accounts, Agents, HandOver, Jobs};
use host::channels::Channels;
use host::scheduler::{Came, Delivery, RunEnd};
use model::Caller;

use crate::failure::Failure;
use crate::output;

/// How often it is looked which jobs are due.
const EVERY: Duration = Duration::from_secs(15);
/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(200);
/// How long runs may take to end that somebody has ended.
const END_WITHIN: Duration = Duration::from_secs(10);

/// The books of the server.
struct Books(Handle);

impl Accounts for Books {
    fn begin(&self, who: &Caller) -> Result<Arc<dyn Purse>, String> {
        self.0.purse(who.user.as_str(), who.agent.as_str(), who.session.as_str())
    }
}

/// Answers go to the messengers to which the server listens.
struct Messengers(Arc<Channels>);

impl HandOver for Messengers {
    fn ended(&self, _: &Came, _: &RunEnd) {}

    fn deliver(
        &self,
        came: &Came,
        to: &Delivery,
        ended: &RunEnd,
        receipt: &Receipt,
    ) -> Result<String, String> {
        let said = self.0.deliver_of_job((&came.job, to), came.run.id, ended, receipt);
        said.map(|it| it.to_string()).map_err(|it| it.to_string())
    }
}

/// The jobs of a state directory, if its settings choose that the host carries them out.
pub(super) fn of(
    agents: &Arc<Agents>,
    home: &Path,
    handle: &Handle,
    channels: &Arc<Channels>,
) -> Result<Option<Jobs>, Failure> {
    let books = Arc::new(Books(handle.clone()));
    let messengers = Arc::new(Messengers(Arc::clone(channels)));
    Ok(Jobs::new(agents, home, messengers, Some(books))?)
}

/// Carries jobs out until `is_over`.
pub(super) fn run(jobs: Option<&Jobs>, is_over: &AtomicBool) {
    let Some(jobs) = jobs else { return };
    let (mut next, mut ended) = (Instant::now(), jobs.ended());
    while !is_over.load(Ordering::Acquire) {
        if Instant::now() >= next || jobs.ended() != ended {
            (next, ended) = (Instant::now() + EVERY, jobs.ended());
            if let Err(error) = jobs.look(SystemClock.unix_seconds()) {
                output::note(&format!("jobs: {error}"));
            }
        }
        thread::sleep(LOOK);
    }
}

/// Waits for runs whose workers were ended.
pub(super) fn end(jobs: Option<&Jobs>) {
    if let Some(jobs) = jobs {
        // One that hangs is found to be lost when the next process begins.
        let _ = jobs.wait(END_WITHIN);
    }
}
