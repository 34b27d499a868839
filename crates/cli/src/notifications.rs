//! `lazaret notifications`: what happened that somebody should know of.

use aegx::verify::printable;
use clap::{Subcommand, ValueEnum};
use evidence::Reader;
use host::notices::{self, Drained, Level, Notice, Notices};

use crate::evidence::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// Show what happened that you should know of: what was stopped, withheld, refused or missed.
///
/// Each notification is a record of the journal, with what can be done about it. `list` shows those that
/// nobody has drained yet, `drain` shows them and marks all of them as seen.
///
/// Try it:
///   lazaret notifications
///   lazaret notifications drain --level error
///
/// Exit codes: 0 shown, 3 the journal cannot be read.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    shown: ShownArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Show them, and leave them as they are.
    List(ShownArgs),
    /// Show them, and mark all up to now as seen, whatever their level.
    Drain(ShownArgs),
}

#[derive(clap::Args)]
struct ShownArgs {
    #[command(flatten)]
    home: Home,
    /// Only those that matter at least so much.
    #[arg(long, value_enum, default_value_t)]
    level: Least,
    /// Those too that were drained before.
    #[arg(long)]
    all: bool,
    /// Print one JSON object per notification.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Least {
    /// All of them.
    #[default]
    Info,
    /// From questions on.
    Warn,
    /// From denials on.
    Error,
    /// What looks like an attack, or protects no longer.
    Critical,
}

impl From<Least> for Level {
    fn from(least: Least) -> Self {
        match least {
            Least::Info => Self::Info,
            Least::Warn => Self::Warn,
            Least::Error => Self::Error,
            Least::Critical => Self::Critical,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        None => list(&args.shown).map(|_| Exit::Done),
        Some(Command::List(args)) => list(args).map(|_| Exit::Done),
        Some(Command::Drain(args)) => {
            let next = list(args)?;
            if let Some(next) = next {
                Drained { next }.keep(&args.home.dir()?).map_err(Failure::unable)?;
            }
            Ok(Exit::Done)
        }
    }
}

/// Shows them; gives the place behind the last one that was looked at.
fn list(args: &ShownArgs) -> Result<Option<u64>, Failure> {
    let Some(found) = found(&args.home, args.level.into(), args.all)? else {
        output::told(args.json, "nothing has happened yet");
        return Ok(None);
    };
    if found.left_out > 0 {
        output::note(&format!("{} milder and older ones are left out", found.left_out));
    }
    if found.not_looked_at > 0 {
        let count = output::count(found.not_looked_at, "older record");
        output::note(&format!("{count} not looked at; see `lazaret evidence query`"));
    }
    for it in &found.found {
        if args.json {
            output::json(&it.to_json());
        } else {
            show(it);
        }
    }
    if found.found.is_empty() {
        output::told(args.json, "nothing that you have not seen");
    }
    Ok(Some(found.end))
}

/// Those that nobody has drained, or all; none where there is no journal yet.
pub(crate) fn found(home: &Home, level: Level, all: bool) -> Result<Option<Notices>, Failure> {
    let journal = home.journal()?;
    if !journal.is_dir() {
        return Ok(None);
    }
    let from = if all { 0 } else { Drained::of(&home.dir()?).map_err(Failure::unable)?.next };
    let reader = Reader::open(&journal).map_err(open::failure)?;
    notices::peek(&reader, from, level).map(Some).map_err(open::failure)
}

fn show(it: &Notice) {
    let paint = Paint::for_stdout();
    let level = format!("{:<8}", it.level.as_str());
    let level = if it.level >= Level::Error { paint.bad(&level) } else { level };
    let message = printable(&it.message).to_string();
    output::line(&format!("{} {level} {:<4} {message}", it.at, it.source));
    if let Some(action) = &it.action {
        output::line(&format!("    {}", paint.faint(&printable(action).to_string())));
    }
}
