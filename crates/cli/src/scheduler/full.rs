//! `lazaret scheduler run` where the host carries jobs out itself.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::Reached;
use evidence::{Clock, Receipt, SystemClock};
use host::agents::{Accounts, AgentsOptions, HandOver, Jobs};
use host::ipc::Stop;
use host::scheduler::{Came, Delivery, Outcome, RunEnd};

use super::{failure, list, none_chosen, run};
use crate::failure::Failure;
use crate::output;
use crate::talk::host::Host;

/// How often it is looked whether something has ended, or is to.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is looked which jobs are due, while others run.
const EVERY: Duration = Duration::from_secs(15);
/// How long runs may take to end that somebody has ended.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Prints how a run ended.
struct Printed {
    is_json: bool,
}

impl HandOver for Printed {
    fn ended(&self, came: &Came, ended: &RunEnd) {
        let mut came = came.clone();
        came.run.ended = Some(ended.clone());
        let _ =
            if self.is_json { output::json(&list::value(&came)) } else { list::run_line(&came) };
    }

    fn near(&self, came: &Came, near: &[Reached]) {
        for it in near {
            output::note(&format!("budget of {}: {it}", came.job.user));
        }
    }

    fn deliver(&self, _: &Came, _: &Delivery, _: &RunEnd, _: &Receipt) -> Result<String, String> {
        Err("messengers are told something by `lazaret serve` alone".to_owned())
    }
}

/// Carries out what is due, until all of it has ended, or `stop` says so.
pub(super) fn carry_out(home: &Path, is_json: bool, stop: &Stop) -> Result<(), Failure> {
    let host = Host::open(home, AgentsOptions::default())?;
    let worked = if host.is_mock {
        let next = "write `providers: {llm: …}` and `models` into config.yaml";
        Err(Failure::usage(format!("no model is chosen, which jobs need: {next}")))
    } else {
        let control = crate::door::bind(home);
        control
            .and_then(|control| host.beside(control.as_ref(), || work(&host, home, is_json, stop)))
    };
    let closed = host.close();
    worked?;
    closed
}

/// The jobs of a state directory, each paid by its user.
fn of(host: &Host, home: &Path, is_json: bool) -> Result<Option<Jobs>, Failure> {
    let purses = Arc::clone(&host.purses) as Arc<dyn Accounts>;
    Ok(Jobs::new(&host.agents, home, Arc::new(Printed { is_json }), Some(purses))?)
}

fn work(host: &Host, home: &Path, is_json: bool, stop: &Stop) -> Result<(), Failure> {
    let jobs = of(host, home, is_json)?;
    let jobs = jobs.ok_or_else(none_chosen)?;
    let look = || -> Result<(), Failure> {
        let found = jobs.look(SystemClock.unix_seconds()).map_err(|error| failure(&error))?;
        // What came is told when it has ended.
        let others = found.iter().filter(|it| !matches!(it, Outcome::Came(_)));
        others.for_each(|it| run::tell(it, is_json));
        Ok(())
    };
    let looked = look().and_then(|()| follow(&jobs, &look, stop));
    if looked.is_err() || stop.wait(Duration::ZERO) {
        host.agents.end();
        // One that hangs is found to be lost when the next process begins.
        let _ = jobs.wait(END_WITHIN);
    }
    looked
}

/// Until nothing runs and nothing waits.
fn follow(jobs: &Jobs, look: &dyn Fn() -> Result<(), Failure>, stop: &Stop) -> Result<(), Failure> {
    let mut looked = Instant::now();
    loop {
        let is_idle = jobs.wait(LOOK);
        if stop.wait(Duration::ZERO) {
            return Ok(());
        }
        let waits = jobs.is_anything_waiting().map_err(|error| failure(&error))?;
        if is_idle && !waits {
            return Ok(());
        }
        if waits || looked.elapsed() >= EVERY {
            looked = Instant::now();
            look()?;
        }
    }
}
