//! `lazaret approvals`: the list.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use evidence::{Clock, SystemClock};
use monitor::approvals::{Approval, ApprovalError, ApprovalState};
use store::{Approvals, SqliteStore};

use super::text::{self, quoted};
use super::{deed, failure, grants, short, show};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::sessions;

/// How much of a place is shown, in characters.
const PLACE_CHARS: usize = 100;
/// For how long it is shown that an approved call was stopped, in seconds.
const STOPPED_SECONDS: i64 = 3600;
/// How often `--watch` looks, in milliseconds.
const LOOK_MILLIS: u64 = 500;

#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Those too that were answered, used, or ran out, newest first.
    #[arg(long)]
    all: bool,
    /// At most so many.
    #[arg(long, default_value_t = 100)]
    limit: u32,
    /// Print one JSON object per question.
    #[arg(long)]
    json: bool,
    /// Go on: print each question as it comes, until you stop it.
    #[arg(long, conflicts_with = "all")]
    watch: bool,
}

pub(crate) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    if args.watch {
        return watch(args);
    }
    let now = SystemClock.unix_seconds();
    let store = sessions::open(&args.home)?;
    let (found, count) = match &store {
        None => (Vec::new(), 0),
        Some(store) => kept(store, args, now).map_err(|it| failure(&it))?,
    };
    if args.json {
        let _ = found.iter().all(|it| output::json(&show::value(it)));
    } else {
        table(&found, args.all, now);
        if let Some(store) = &store {
            grants::show_held(store, now, args.limit)?;
        }
    }
    let more = count.saturating_sub(u64::try_from(found.len()).unwrap_or(u64::MAX));
    if more > 0 {
        output::note(&format!("{more} more; see them with --limit {count}"));
    }
    Ok(Exit::Done)
}

/// What is listed, and how many there are: what waits, and what was approved and stopped all the same.
fn kept(
    store: &SqliteStore,
    args: &ListArgs,
    now: i64,
) -> Result<(Vec<Approval>, u64), ApprovalError> {
    if args.all {
        return Ok((store.approvals(now, args.limit)?, store.count_approvals()?));
    }
    let mut found = store.waiting(now, args.limit)?;
    let mut count = store.count_waiting(now)?;
    let left = args.limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
    let stopped = store.hindered(now.saturating_sub(STOPPED_SECONDS), left)?;
    count = count.saturating_add(u64::try_from(stopped.len()).unwrap_or(u64::MAX));
    found.extend(stopped);
    Ok((found, count))
}

/// Prints what is new, until nobody reads any more.
fn watch(args: &ListArgs) -> Result<Exit, Failure> {
    let mut seen = HashSet::new();
    let paint = Paint::for_stdout();
    loop {
        let now = SystemClock.unix_seconds();
        if let Some(store) = sessions::open(&args.home)? {
            let (found, _) = kept(&store, args, now).map_err(|it| failure(&it))?;
            for it in &found {
                // Once as a question, and once more if it was stopped although it was approved.
                let stopped = it.hindered.as_ref().map(|it| it.at);
                if !seen.insert((it.id.to_string(), stopped)) {
                    continue;
                }
                let reads = if args.json {
                    output::json(&show::value(it))
                } else {
                    lines(it, now, &paint).iter().all(|line| output::line(line))
                };
                if !reads {
                    return Ok(Exit::Done);
                }
            }
        }
        thread::sleep(Duration::from_millis(LOOK_MILLIS));
    }
}

fn table(found: &[Approval], all: bool, now: i64) {
    if found.is_empty() {
        output::note(if all { "nothing was asked" } else { "nothing waits for you" });
        return;
    }
    let paint = Paint::for_stdout();
    let _ = found.iter().all(|it| lines(it, now, &paint).iter().all(|line| output::line(line)));
    if output::is_terminal() {
        output::note("Look at one with `lazaret approvals show ID`; answer with approve or deny.");
    }
}

/// A question: what is asked, how old it is, where it would happen, and why it was stopped.
fn lines(it: &Approval, now: i64, paint: &Paint) -> Vec<String> {
    let shown = &it.question.shown;
    let live = matches!(it.state, ApprovalState::Pending | ApprovalState::Approved);
    let left = it.question.expires.saturating_sub(now);
    let left = if live { format!(", {} left", output::ago(left)) } else { String::new() };
    let age = output::ago(now.saturating_sub(it.question.created));
    let word = if it.hindered.is_some() { "stopped" } else { it.state.as_str() };
    let state = format!("{word:<8}");
    let state =
        if matches!(word, "pending" | "stopped") { paint.bad(&state) } else { paint.faint(&state) };
    let session = &it.question.call.session;
    let head = format!("{}  {state}  {}", short(it.id), paint.strong(&deed::sentence(it)));
    let mut lines = vec![head, format!("          session {session}, asked {age} ago{left}")];
    let place = shown.kind.iter().flat_map(|it| &it.place).chain(&shown.destinations);
    let place = place.map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
    if !place.is_empty() {
        let piece: String = place.chars().take(PLACE_CHARS).collect();
        let cut = if piece.len() < place.len() { "…" } else { "" };
        lines.extend(text::item("       at", &format!("{piece}{cut}")));
    }
    let mut rules: Vec<String> = shown.reasons.iter().map(|it| text::seen(&it.rule)).collect();
    rules.dedup();
    let why = rules.join(", ");
    lines.push(format!("          asked because of {why}"));
    if let Some(stopped) = &it.hindered {
        let (why, rule) = (text::seen(&stopped.why), text::seen(&stopped.rule));
        lines.push(format!("          approved, and stopped all the same: {why} [{rule}]"));
    }
    lines
}
