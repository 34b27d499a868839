//! `lazaret approvals …`: what the gate asks a person, and what they answer.

mod answer;
mod list;
mod show;
mod text;

use clap::Subcommand;
use model::ipc::Uuid;
use monitor::approvals::{Approval, ApprovalError};
use store::{Approvals, SqliteStore};

use crate::home::Home;
use crate::run::{Exit, Failure};
use crate::sessions;

/// List what waits for your answer, and answer it.
///
/// When the gate stops a call that a person may allow, it puts a question: which tool, with which
/// arguments, to whom, and why it was stopped. The agent goes on without waiting. If you approve, the
/// same call passes once when the agent makes it again within ten minutes, if nothing worse has come up;
/// if you deny, it stays denied for an hour. A question waits for an hour.
///
/// What the gate denies is asked of nobody. No agent can answer: there is no message for it.
///
/// Try it:
///   lazaret approvals                     what waits
///   lazaret approvals show ID             one question in full
///   lazaret approvals approve ID          shows it, asks at the terminal, and answers
///   lazaret approvals deny ID --reason "not my account"
///
/// A gate that runs is told by its control socket; otherwise the answer is recorded here. Either way
/// it is in the journal before it counts.
///
/// Exit codes: 0 done, 1 no such question or it waits no more, 2 wrong usage, 3 could not work (another
/// process has the journal open and cannot be reached).
#[derive(clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Subcommand)]
enum Command {
    Show(show::Args),
    Approve(answer::ApproveArgs),
    Deny(answer::DenyArgs),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        None => list::run(&args.list),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Approve(args)) => answer::approve(args),
        Some(Command::Deny(args)) => answer::deny(args),
    }
}

fn parse_id(text: &str) -> Result<Uuid, String> {
    Uuid::parse(text).ok_or_else(|| "an approval is named by a UUID in lower case".to_owned())
}

/// The question, and the store that it is in.
fn find(home: &Home, id: Uuid, now: i64) -> Result<(SqliteStore, Approval), Failure> {
    let missing = || failure(&ApprovalError::NotFound { id });
    let store = sessions::open(home)?.ok_or_else(missing)?;
    let found = store.approval(id, now).map_err(|error| failure(&error))?;
    Ok((store, found))
}

fn failure(error: &ApprovalError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::unable(error) }
}
