//! `lazaret approvals`: the list.

use evidence::{Clock, SystemClock};
use monitor::approvals::{Approval, ApprovalError, ApprovalState};
use store::{Approvals, SqliteStore};

use super::text::{self, quoted};
use super::{failure, show};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::run::{Exit, Failure};
use crate::sessions;

/// How long a piece of a line is, in characters.
const PIECE_CHARS: usize = 60;

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
}

pub(crate) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    let now = SystemClock.unix_seconds();
    let (found, count) = match sessions::open(&args.home)? {
        None => (Vec::new(), 0),
        Some(store) => kept(&store, args, now).map_err(|it| failure(&it))?,
    };
    if args.json {
        let _ = found.iter().all(|it| output::json(&show::value(it)));
    } else {
        table(&found, args.all, now);
    }
    let more = count.saturating_sub(u64::try_from(found.len()).unwrap_or(u64::MAX));
    if more > 0 {
        output::note(&format!("{more} more; see them with --limit {count}"));
    }
    Ok(Exit::Done)
}

/// What is listed, and how many there are.
fn kept(
    store: &SqliteStore,
    args: &ListArgs,
    now: i64,
) -> Result<(Vec<Approval>, u64), ApprovalError> {
    if args.all {
        return Ok((store.approvals(now, args.limit)?, store.count_approvals()?));
    }
    Ok((store.waiting(now, args.limit)?, store.count_waiting(now)?))
}

fn table(found: &[Approval], all: bool, now: i64) {
    if found.is_empty() {
        output::note(if all { "nothing was asked" } else { "nothing waits for you" });
        return;
    }
    let paint = Paint::for_stdout();
    let head = format!(
        "{:<36}  {:<8}  {:>6}  {:<16}  {:<18}  {:<28}  WHY",
        "ID", "STATE", "LEFT", "SESSION", "TOOL", "TO"
    );
    let _ = output::line(&paint.strong(&head)) && found.iter().all(|it| line(it, now, &paint));
    if output::is_terminal() {
        output::note("Look at one with `lazaret approvals show ID`; answer with approve or deny.");
    }
}

fn line(it: &Approval, now: i64, paint: &Paint) -> bool {
    let shown = &it.question.shown;
    let live = matches!(it.state, ApprovalState::Pending | ApprovalState::Approved);
    let left = it.question.expires.saturating_sub(now).max(0);
    let left = if live { format!("{}m{:02}s", left / 60, left % 60) } else { String::new() };
    let state = format!("{:<8}", it.state.as_str());
    let state =
        if it.state == ApprovalState::Pending { paint.bad(&state) } else { paint.faint(&state) };
    let why = shown.reasons.first().map_or("", |it| it.rule.as_str());
    output::line(&format!(
        "{:<36}  {state}  {left:>6}  {:<16}  {:<18}  {:<28}  {}",
        it.id.to_string(),
        it.question.call.session,
        piece(&shown.tool),
        destinations(&shown.destinations),
        text::seen(why),
    ))
}

fn piece(text: &str) -> String {
    let piece: String = text.chars().take(PIECE_CHARS).collect();
    if piece.len() < text.len() { piece + "…" } else { piece }
}

/// Who gets something; how many they are, if there is no room for all.
fn destinations(all: &[String]) -> String {
    let text = all.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
    if text.chars().count() > PIECE_CHARS && all.len() > 1 {
        return format!("{} in all: {}", all.len(), piece(&text));
    }
    piece(&text)
}
