//! `lazaret observe`: watching for some days before anything is asked.

use clap::Subcommand;
use evidence::{Clock as _, SystemClock};
use host::observe::{OBSERVE_DAYS_MAX, Observe, ObserveError};
use serde_json::json;

use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Watch agents for some days before they are held to anything.
///
/// While you watch, hooks and the MCP gateway judge and record every call as always, but let through what
/// they would ask you about. Each such pass leaves a record `observed` that names the verdict. What is denied
/// stays denied: commands that must never run, secrets that would leave, what a rule of yours denies. Whether
/// Lazaret itself or an agent's own permissions may be changed is asked even then. What comes back is taken in and labelled like any other result. It ends by itself, after at most 30 days.
///
/// Try it:
///   lazaret observe start --days 7
///   lazaret observe status
///   lazaret evidence query --kind observed
///   lazaret policy propose --since 7d
///
/// Exit codes: 0 done or watching (status), 1 nobody watches (status, stop), 2 too many days.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Let through what would be asked, for some days.
    Start(Start),
    /// Ask again from now on.
    Stop(Stop),
    /// Say whether somebody watches, and until when.
    Status(Status),
}

#[derive(clap::Args)]
struct Start {
    #[command(flatten)]
    home: Home,
    /// For how many days, at most 30. What was said before no longer holds.
    #[arg(long, value_name = "DAYS", value_parser = days)]
    days: u16,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

#[derive(clap::Args)]
struct Stop {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

#[derive(clap::Args)]
struct Status {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Act and failure, in records.
const STARTED: (&str, &str) = ("observing_started", "observing_not_changed");
const STOPPED: (&str, &str) = ("observing_stopped", "observing_not_changed");

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Start(args) => {
            start(&args.home, &args.by, args.days, args.json).map(|()| Exit::Done)
        }
        Command::Stop(args) => stop(args),
        Command::Status(args) => status(args),
    }
}

/// A number of days for which one may only watch.
pub(crate) fn days(text: &str) -> Result<u16, String> {
    let days = text.parse().ok().filter(|it| (1..=OBSERVE_DAYS_MAX).contains(it));
    days.ok_or_else(|| format!("watching takes 1 to {OBSERVE_DAYS_MAX} days"))
}

/// Begins to watch.
pub(crate) fn start(home: &Home, by: &By, days: u16, is_json: bool) -> Result<(), Failure> {
    let dir = home.dir()?;
    let user = by.user()?;
    let watch = Observe::for_days(days, SystemClock.unix_seconds(), user.as_str());
    let watch = watch.map_err(failure)?;
    Act::around(home, by, STARTED, watch.to_json(), || watch.keep(&dir).map_err(failure))?;
    if is_json {
        output::json(&json!({ "observing": true, "watch": watch.to_json() }));
    }
    let what = "what would be asked passes, what is denied stays denied";
    output::told(is_json, &format!("watching {}: {what}", until(&watch)));
    Ok(())
}

fn stop(args: &Stop) -> Result<Exit, Failure> {
    let dir = args.home.dir()?;
    // What is not understood is not in force, and goes away all the same.
    let watch = match Observe::of(&dir) {
        Ok(None) => return Err(Failure::refused("nobody watches")),
        Ok(watch) => watch,
        Err(ObserveError::Unreadable { .. }) => None,
        Err(error) => return Err(failure(error)),
    };
    let content = json!({ "was": watch.as_ref().map(Observe::to_json) });
    Act::around(&args.home, &args.by, STOPPED, content, || Observe::end(&dir).map_err(failure))?;
    if args.json {
        output::json(&json!({ "observing": false }));
    }
    output::told(args.json, "no longer watching: everything is asked as always");
    Ok(Exit::Done)
}

fn status(args: &Status) -> Result<Exit, Failure> {
    let watch = Observe::of(&args.home.dir()?).map_err(failure)?;
    let now = SystemClock.unix_seconds();
    let in_force = watch.as_ref().is_some_and(|it| it.holds(now));
    if args.json {
        let watch = watch.as_ref().map(Observe::to_json);
        output::json(&json!({ "observing": in_force, "watch": watch }));
    } else {
        let told = match &watch {
            Some(watch) if in_force => format!("watching {}", until(watch)),
            Some(watch) => format!("nobody watches; it was {}", until(watch)),
            None => "nobody watches: everything is asked".to_owned(),
        };
        output::line(&told);
    }
    Ok(if in_force { Exit::Done } else { Exit::Refused })
}

/// `until 2026-02-15T00:00:00Z, by ann`.
pub(crate) fn until(watch: &Observe) -> String {
    let by = aegx::verify::printable(&watch.by).to_string();
    format!("until {}, by {by}", aegx::timestamp::from_unix(watch.until))
}

fn failure(error: ObserveError) -> Failure {
    match error {
        ObserveError::Io { .. } => Failure::unable(error),
        ObserveError::Unreadable { .. } | ObserveError::Days(_) => Failure::usage(error),
    }
}
