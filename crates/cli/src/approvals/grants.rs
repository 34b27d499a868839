//! `lazaret approvals grants` and `revoke`: answers that hold for more than one call.

use aegx::timestamp;
use evidence::{Clock, SystemClock};
use host::standing::content;
use model::Taint;
use monitor::approvals::ApprovalError;
use monitor::standing::{Span, Standing};
use serde_json::{Value, json};
use store::SqliteStore;

use super::text::{self, quoted};
use super::{failure, parse_id, short};
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::sessions;

/// List the answers that hold for more than one call.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Those too that ran out or were taken back.
    #[arg(long)]
    all: bool,
    /// At most so many.
    #[arg(long, default_value_t = 100)]
    limit: u32,
    /// Print one JSON object per answer.
    #[arg(long)]
    json: bool,
}

/// Take back an answer that holds for more than one call, at once.
#[derive(clap::Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    home: Home,
    /// The answer, as `grants` names it; it may be cut short.
    #[arg(value_name = "ID", value_parser = parse_id)]
    id: String,
    #[command(flatten)]
    by: By,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Keeps an answer that holds. The record of it comes first.
pub(super) fn give(
    home: &Home,
    store: &SqliteStore,
    given: &Standing,
) -> Result<Standing, Failure> {
    let about = (Taint::NONE, Some(given.session.clone()));
    let act = Act::begin_about(home, "approval_granted", &given.by, about, content(given))?;
    let done = store.give_standing(given, &act.receipt).map_err(|error| failure(&error));
    act.end(done, "approval_not_granted").map(|(done, _)| done)
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let now = SystemClock.unix_seconds();
    let found = match sessions::open(&args.home)? {
        None => Vec::new(),
        Some(store) => {
            store.standings(now, args.all, args.limit).map_err(|error| failure(&error))?
        }
    };
    if args.json {
        let _ = found.iter().all(|it| output::json(&value(it, now)));
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        output::note("no answer holds for more than one call");
    }
    let paint = Paint::for_stdout();
    let _ = found.iter().all(|it| lines(it, now, &paint).iter().all(|line| output::line(line)));
    Ok(Exit::Done)
}

/// Shows the answers that hold now, behind what waits.
pub(super) fn show_held(store: &SqliteStore, now: i64, limit: u32) -> Result<(), Failure> {
    let held = store.standings(now, false, limit).map_err(|error| failure(&error))?;
    let paint = Paint::for_stdout();
    let _ = held.iter().all(|it| lines(it, now, &paint).iter().all(|line| output::line(line)));
    Ok(())
}

fn state(it: &Standing, now: i64) -> &'static str {
    match &it.revoked {
        Some(_) => "revoked",
        None if it.expires <= now => "expired",
        None => "holds",
    }
}

fn value(it: &Standing, now: i64) -> Value {
    let mut value = content(it);
    if let Some(fields) = value.as_object_mut() {
        let more = json!({
            "id": it.id.to_string(),
            "by": it.by.as_str(),
            "created": timestamp::from_unix(it.created),
            "record": it.record,
            "revoked": it.revoked.as_ref().map(|(by, at)| json!({
                "by": by.as_str(), "time": timestamp::from_unix(*at),
            })),
            "session": it.session.as_str(),
            "state": state(it, now),
            "uses": it.uses,
        });
        fields.extend(more.as_object().cloned().unwrap_or_default());
    }
    value
}

fn lines(it: &Standing, now: i64, paint: &Paint) -> Vec<String> {
    let left = output::ago(it.expires.saturating_sub(now));
    let state = state(it, now);
    let state = if state == "holds" { paint.good(state) } else { paint.faint(state) };
    let by = text::seen(it.by.as_str());
    let head = format!(
        "{}  {state}  {left} left  {} by {by}, used {} times",
        short(it.id),
        text::name(&it.tool),
        it.uses
    );
    let place = it.place.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
    let about = match it.span {
        Span::Kind => it.span.about().to_owned(),
        Span::Session | Span::SessionKind => format!("{} ({})", it.span.about(), it.session),
    };
    let mut lines = vec![head, format!("          {about}")];
    if !place.is_empty() {
        lines.extend(text::item("       at", &place));
    }
    lines
}

pub(super) fn revoke(args: &RevokeArgs) -> Result<Exit, Failure> {
    let by = args.by.user()?;
    let now = SystemClock.unix_seconds();
    let missing = || Failure::refused(format!("no answer `{}` holds", args.id));
    let store = sessions::open(&args.home)?.ok_or_else(missing)?;
    let all = store.standings(now, false, u32::MAX).map_err(|error| failure(&error))?;
    let mut found = all.into_iter().filter(|it| it.id.to_string().starts_with(&args.id));
    let it = found.next().ok_or_else(missing)?;
    if let Some(other) = found.next() {
        let why = format!("`{}` begins {} and {}: say more of it", args.id, it.id, other.id);
        return Err(Failure::refused(why));
    }
    let about = (Taint::NONE, Some(it.session.clone()));
    let act = Act::begin_about(&args.home, "approval_revoked", &by, about, content(&it))?;
    let done = store.revoke_standing(it.id, &by, now, &act.receipt);
    let done = done.map_err(|error: ApprovalError| failure(&error));
    let ((), record) = act.end(done, "approval_not_revoked")?;
    if args.json {
        output::json(&json!({ "id": it.id.to_string(), "record": record }));
    } else {
        output::line(&format!("revoked {}: such calls are asked about again", it.id));
    }
    Ok(Exit::Done)
}
