//! `lazaret approvals`: the list.

use aegx::verify::printable;
use evidence::{Clock, SystemClock};
use monitor::approvals::{Approval, ApprovalState};
use store::Approvals;

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
    let found = match sessions::open(&args.home)? {
        None => Vec::new(),
        Some(store) if args.all => store.approvals(now, args.limit).map_err(|it| failure(&it))?,
        Some(store) => store.waiting(now, args.limit).map_err(|it| failure(&it))?,
    };
    if args.json {
        let _ = found.iter().all(|it| output::json(&show::value(it)));
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        output::note(if args.all { "nothing was asked" } else { "nothing waits for you" });
        return Ok(Exit::Done);
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
    Ok(Exit::Done)
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
        piece(&shown.destinations.join(", ")),
        printable(why),
    ))
}

fn piece(text: &str) -> String {
    printable(&text.chars().take(PIECE_CHARS).collect::<String>())
}
