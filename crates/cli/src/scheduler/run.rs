//! `lazaret scheduler run`: looks every so often which jobs are due.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evidence::{Clock, Config, Journal, SystemClock};
use host::ipc::Stop;
use host::scheduler::{Outcome, Runner, runner};
use serde_json::json;

use super::{failure, full, list};
use crate::daemon;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// How often it looks.
const PAUSE: Duration = Duration::from_secs(15);

/// Look which jobs are due, until SIGTERM or SIGINT, and print each run that came, or carry it out.
///
/// The journal is open only while it looks, so that `lazaret ipc` can run beside it; while that is open, it
/// waits, and the agent there sees its own runs anyway.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Look once.
    #[arg(long)]
    once: bool,
    /// Print one JSON object per job that was due.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let stop = Stop::on_signals().map_err(Failure::unable)?;
    let runner = runner(&args.home.dir()?).map_err(Failure::usage)?;
    let is_told = Cell::new(false);
    let look = |args: &Args| match runner {
        Some(Runner::Host) if is_carried_out(&args.home.dir()?)? => {
            if !is_told.replace(true) {
                output::note(
                    "the process that has the gate carries out what is due; see `lazaret scheduler list`",
                );
            }
            Ok(())
        }
        Some(Runner::Host) => full::carry_out(&args.home.dir()?, args.json, &stop),
        Some(Runner::Agent) | None => look(args),
    };
    let mut is_first = true;
    loop {
        let looked = if is_first || is_anything_due(args)? { look(args) } else { Ok(()) };
        match looked {
            Ok(()) => is_first = false,
            Err(failure) if args.once || !failure.may_pass() => return Err(failure),
            Err(failure) => output::note(&format!("{}; trying again", failure.message())),
        }
        if args.once || stop.wait(PAUSE) {
            return Ok(Exit::Done);
        }
    }
}

/// Does the daemon, or a server, carry out jobs now?
fn is_carried_out(home: &Path) -> Result<bool, Failure> {
    let Some(said) = daemon::said(home)? else { return Ok(false) };
    // One that was there before a scheduler was chosen carries out none, and does not say why.
    if said.get("jobs").is_none_or(serde_json::Value::is_null) {
        return Ok(false);
    }
    match said.pointer("/jobs/wrong").and_then(serde_json::Value::as_str) {
        Some(why) => Err(Failure::unable(format!("the daemon carries out no jobs: {why}"))),
        None => Ok(true),
    }
}

/// Without a journal, which others may want.
fn is_anything_due(args: &Args) -> Result<bool, Failure> {
    let (jobs, _) = host::scheduler::look(&args.home.dir()?).map_err(|error| failure(&error))?;
    let now = SystemClock.unix_seconds();
    Ok(jobs.iter().any(|it| it.next.is_some_and(|next| next <= now)))
}

fn look(args: &Args) -> Result<(), Failure> {
    let (journal, _) =
        Journal::open(&Config::new(args.home.journal()?)).map_err(Failure::unable)?;
    let journal = Arc::new(journal);
    let found = super::open(&args.home, Arc::clone(&journal)).and_then(|scheduler| {
        scheduler.tick(SystemClock.unix_seconds()).map_err(|error| failure(&error))
    });
    if let Some(journal) = Arc::into_inner(journal) {
        journal.close().map_err(Failure::unable)?;
    }
    found?.iter().for_each(|it| tell(it, args.json));
    Ok(())
}

/// Prints what became of a job that was due.
pub(super) fn tell(outcome: &Outcome, is_json: bool) {
    let (word, job) = match outcome {
        Outcome::Came(came) => {
            let _ = if is_json { output::json(&list::value(came)) } else { list::run_line(came) };
            return;
        }
        Outcome::Skipped(job) => ("skipped", job),
        Outcome::Missed(job) => ("missed", job),
    };
    if is_json {
        output::json(&json!({ "job": job.id.to_string(), "state": word }));
    } else {
        output::note(&format!("{word} {}", job.id));
    }
}
