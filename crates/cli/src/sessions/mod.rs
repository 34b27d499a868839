//! `lazaret sessions`.

mod end;
mod recover;
mod show;

use aegx::verify::printable;
use clap::Subcommand;
use serde_json::{Value, json};
use store::{Oversight, SessionRow, SqliteStore};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// List sessions with what they have taken in, newest first.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Subcommand)]
enum Command {
    Show(show::Args),
    Recover(recover::Args),
    End(end::Args),
}

#[derive(clap::Args)]
struct List {
    #[command(flatten)]
    home: Home,
    /// At most so many, the newest.
    #[arg(long, default_value_t = 100)]
    limit: u32,
    /// Print one JSON object per session.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Recover(args)) => recover::run(args),
        Some(Command::End(args)) => end::run(args),
        None => list(&args.list),
    }
}

fn list(args: &List) -> Result<Exit, Failure> {
    let Some(store) = open(&args.home)? else {
        if !args.json {
            output::note("there are no sessions yet");
        }
        return Ok(Exit::Done);
    };
    for row in store.sessions(args.limit).map_err(Failure::unable)? {
        let shown = if args.json { output::json(&value(&row)) } else { line(&row) };
        if !shown {
            break;
        }
    }
    Ok(Exit::Done)
}

/// The store, if there is one: looking makes none.
pub(crate) fn open(home: &Home) -> Result<Option<SqliteStore>, Failure> {
    let path = home.store()?;
    match std::fs::symlink_metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::unable(format!("`{}`: {error}", path.display()))),
        Ok(_) => SqliteStore::open(&path).map(Some).map_err(Failure::unable),
    }
}

/// A session for programs.
pub(crate) fn value(row: &SessionRow) -> Value {
    json!({
        "session": row.id.as_str(),
        "user": row.user.as_str(),
        "agent": row.agent.as_str(),
        "profile": row.profile.as_str(),
        "state": row.state.as_str(),
        "taint": row.summary.taint.iter_names().collect::<Vec<_>>(),
        "tainted_tokens": row.summary.tainted_tokens,
        "clean_tokens": row.summary.clean_tokens,
        "origin": row.summary.origin,
        "calls": row.summary.calls,
        "stopped": row.summary.stopped,
    })
}

/// A session for people.
pub(crate) fn line(row: &SessionRow) -> bool {
    let paint = Paint::for_stdout();
    let summary = &row.summary;
    let text = format!(
        "{:<24} {:<12} {:<12} {:<9} {:<6} calls {}, stopped {}, tokens {} from outside and {} own  \
         {} {}",
        row.id,
        row.user,
        row.agent,
        row.profile,
        row.state.as_str(),
        summary.calls,
        summary.stopped,
        summary.tainted_tokens,
        summary.clean_tokens,
        paint.bad(&summary.taint.to_string()),
        printable(&summary.origin),
    );
    output::line(text.trim_end())
}
