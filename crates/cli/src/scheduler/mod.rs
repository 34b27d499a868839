//! `lazaret scheduler …`: work at set times.

mod add;
mod full;
mod list;
mod remove;
mod run;

use std::sync::Arc;

use clap::Subcommand;
use evidence::Journal;
use host::scheduler::{Scheduler, SchedulerError};

use crate::failure::{Exit, Failure};
use crate::home::Home;

/// Let agents be told something at set times.
///
/// A job is a text that an agent is told when it is due, again and again or once. It is for the user and
/// the agent for whom it was made, and brings the taint of the session that made it. Choose it, and how,
/// in config.yaml:
///   providers:
///     scheduler: cron
///   scheduler:
///     timezone: Europe/Berlin            the clocks of jobs; UTC if nothing is said
///     activeHours: {start: "08:00", end: "22:00"}
///     heartbeat: {everyMinutes: 30, user: me, agent: main, prompt: "anything new?"}
///     maxJobsPerUser: 100
///
/// With `scheduler: cron`, a job that is due becomes a run that waits. The first session of its user and
/// agent that asks by the action `scheduler_list_triggers` gets it; `lazaret scheduler run` prints it for
/// programs of yours.
///
/// With `scheduler: full`, the host carries it out: the daemon, `lazaret serve` and `lazaret scheduler run` start a
/// session of the user with the agent, without a person. One of them must run: `lazaret daemon start` is enough, and
/// it stays as long as a job is to come. What needs a person waits in `lazaret approvals`, and the run ends with that. At most four run at once; the last answer of each job is in `lazaret scheduler list`. With `--deliver`
/// the server says it on a messenger, too, to the user alone.
///
/// If nobody has asked for the last run of a job yet, the next is skipped. A job that was due while nobody was there
/// comes once, late; after more than an hour (a day for what comes once) it is missed. Outside of the
/// active hours what comes again is skipped, and what comes once waits. All of it is recorded.
///
/// Try it:
///   lazaret scheduler add --user me --agent main --cron "0 9 * * 1-5" "look at my mail"
///   lazaret scheduler add --user me --agent main --at 2026-12-24T18:00:00 "call home"
///   lazaret scheduler list
///   lazaret scheduler run --once
///
/// Exit codes: 0 done, 1 refused or no such job, 2 wrong usage or broken configuration, 3 could not work
/// (another process has the journal and cannot be reached). A gate that runs records for you.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Add(Box<add::Args>),
    Remove(remove::Args),
    Run(run::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Add(args) => add::run(args),
        Command::Remove(args) => remove::run(args),
        Command::Run(args) => run::run(args),
    }
}

fn open(home: &Home, journal: Arc<Journal>) -> Result<Scheduler, Failure> {
    let scheduler = host::scheduler::scheduler(&home.dir()?, journal).map_err(Failure::usage)?;
    scheduler.ok_or_else(none_chosen)
}

/// The same for a person whose word was recorded.
fn of_person(home: &Home) -> Result<Scheduler, Failure> {
    host::scheduler::of_person(&home.dir()?).map_err(Failure::usage)?.ok_or_else(none_chosen)
}

fn none_chosen() -> Failure {
    let next = "`scheduler: cron` or `scheduler: full` under `providers` in config.yaml";
    Failure::usage(format!("no scheduler is chosen: {next}"))
}

fn failure(error: &SchedulerError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::unable(error) }
}
