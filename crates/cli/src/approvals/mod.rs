//! `lazaret approvals …`: what the gate asks a person, and what they answer.

pub(crate) mod answer;
mod deed;
mod grants;
mod list;
mod show;
mod text;

use clap::Subcommand;
use model::ipc::Uuid;
use monitor::approvals::{Approval, ApprovalError};
use store::{Approvals, SqliteStore};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::sessions;

/// List what waits for your answer, and answer it.
///
/// When the gate stops a call that a person may allow, it puts a question: which tool, with which
/// arguments, to whom, and why it was stopped. The agent goes on without waiting. If you approve, the
/// same call passes once when the agent makes it again within ten minutes, if nothing worse has come up;
/// if you deny, it stays denied for an hour. A question waits for an hour.
///
/// A yes can hold for more, for 12 hours: with --session for exactly this call as often as it is made in this
/// session, with --kind for this kind of call to this place in every session of this user with this agent, with both
/// for the kind in this session. It lifts what you were shown and no denial; `grants` lists such answers, and
/// `revoke` takes one back.
///
/// What the gate denies is asked of nobody. No agent can answer: there is no message for it.
///
/// Try it:
///   lazaret approvals                     what waits, and what was stopped although you approved it
///   lazaret approvals --watch             the same, as it comes
///   lazaret approvals show ID             one question in full; an ID may be cut short
///   lazaret approvals approve ID          shows it, asks at the terminal, and answers
///   lazaret approvals approve ID --alike  with every call like it that waits: the rows are shown, and asked once
///   lazaret approvals approve ID --kind   the same for this kind of call to this place
///   lazaret approvals grants              what holds for more than one call
///   lazaret approvals revoke ID           takes it back
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
    /// List what waits, and which answers hold for more than one call.
    List(list::ListArgs),
    Show(show::Args),
    Approve(answer::ApproveArgs),
    Deny(answer::DenyArgs),
    Grants(grants::ListArgs),
    Revoke(grants::RevokeArgs),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        None => list::run(&args.list),
        Some(Command::List(args)) => list::run(args),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Approve(args)) => answer::approve(args),
        Some(Command::Deny(args)) => answer::deny(args),
        Some(Command::Grants(args)) => grants::list(args),
        Some(Command::Revoke(args)) => grants::revoke(args),
    }
}

/// How short an id may be cut, in characters.
const PREFIX_CHARS_MIN: usize = 4;
/// How much of an id is shown, in characters.
const SHORT_CHARS: usize = 8;

/// An id, or the beginning of one.
fn parse_id(text: &str) -> Result<String, String> {
    let legal = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f' | b'-');
    if text.bytes().all(legal) && (PREFIX_CHARS_MIN..=36).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    let most = "an approval is named by a UUID in lower case, or by its beginning";
    Err(format!("{most}, at least {PREFIX_CHARS_MIN} characters"))
}

/// The only question whose id begins so, and the store that it is in.
fn find(home: &Home, id: &str, now: i64) -> Result<(SqliteStore, Approval), Failure> {
    let missing = || Failure::refused(format!("there is no approval `{id}`"));
    let store = sessions::open(home)?.ok_or_else(missing)?;
    let ids = store.approvals_beginning(id).map_err(|error| failure(&error))?;
    let id = match ids.as_slice() {
        [] => return Err(missing()),
        [only] => *only,
        [one, other, ..] => {
            let why = format!("`{id}` begins {one} and {other}: say more of it");
            return Err(Failure::refused(why));
        }
    };
    let found = store.approval(id, now).map_err(|error| failure(&error))?;
    Ok((store, found))
}

/// The beginning of an id, enough to name it among its like.
fn short(id: Uuid) -> String {
    id.to_string().chars().take(SHORT_CHARS).collect()
}

fn failure(error: &ApprovalError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::unable(error) }
}
