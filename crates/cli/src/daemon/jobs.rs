//! Jobs that the daemon carries out, as `lazaret scheduler run` does.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evidence::Receipt;
use host::agents::{Accounts, HandOver, Jobs};
use host::doors::Talks as _;
use host::scheduler::{self, Came, Delivery, RunEnd, Runner};

use crate::carrying::is_wanted;
use crate::talk::host::OnDemand;

/// How often it is looked whether a daemon that nobody needs is to stay for a job.
const STAY_LOOK: Duration = Duration::from_secs(15);

/// Answers are in the list of jobs; nobody else is told.
struct Kept;

impl HandOver for Kept {
    fn ended(&self, _: &Came, _: &RunEnd) {}

    fn deliver(&self, _: &Came, _: &Delivery, _: &RunEnd, _: &Receipt) -> Result<String, String> {
        Err("messengers are told something by `lazaret serve` alone".to_owned())
    }
}

/// The jobs of a state directory; none if its settings do not choose that the host carries them out.
pub(super) fn of(talks: &OnDemand, home: &Path) -> Result<Option<Jobs>, String> {
    match scheduler::runner(home) {
        Ok(Some(Runner::Host)) => {}
        Ok(Some(Runner::Agent) | None) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let (agents, is_mock) = talks.agents().map_err(|it| it.to_string())?;
    if is_mock {
        return Err("no model is chosen, which jobs need".to_owned());
    }
    let purses = Arc::clone(talks.purses()) as Arc<dyn Accounts>;
    Jobs::new(&agents, home, Arc::new(Kept), Some(purses)).map_err(|it| it.to_string())
}

/// Whether a daemon that nobody needs stays for jobs that are to come.
#[derive(Default)]
pub(super) struct Stay(Option<Instant>);

impl Stay {
    /// It is looked every so often only: the list may be long.
    pub(super) fn is_wanted(&mut self, home: &Path) -> bool {
        if self.0.is_some_and(|it| it.elapsed() < STAY_LOOK) {
            return true;
        }
        self.0 = is_wanted(home).then(Instant::now);
        self.0.is_some()
    }
}
