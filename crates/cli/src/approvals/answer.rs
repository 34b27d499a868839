//! `lazaret approvals approve` and `deny`: a person's act. The record of it comes first.

use std::collections::BTreeSet;

use aegx::timestamp;
use evidence::{Clock, Config, SystemClock};
use host::control::{self, AskError, Request};
use model::UserId;
use model::ipc::Uuid;
use monitor::approvals::{self, Answer, Approval, ApprovalError, ApprovalState, Word};
use monitor::standing::{Span, Standing};
use serde_json::{Value, json};
use store::{Approvals, SqliteStore};

use super::{deed, failure, find, grants, parse_id, short, show};
use crate::act::By;
use crate::evidence::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use crate::person;

/// What both answers need.
#[derive(clap::Args)]
struct Common {
    #[command(flatten)]
    home: Home,
    /// The question, as the list names it.
    #[arg(value_name = "ID", value_parser = parse_id)]
    id: String,
    #[command(flatten)]
    by: By,
    /// Why, in your own words.
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// And every question like it that waits now: of the same session and tool, for the same reasons. Each is shown.
    #[arg(long)]
    alike: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Let exactly this call pass, once.
///
/// Shows the question and asks at the terminal; elsewhere it needs --yes. The call is judged again when
/// the agent makes it again: what has become forbidden in the meantime stays so.
#[derive(clap::Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    common: Common,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// For this session: exactly this call, as often as it is made.
    #[arg(long, conflicts_with = "alike")]
    session: bool,
    /// For this kind of call to this place, whatever else it says.
    #[arg(long, conflicts_with = "alike")]
    kind: bool,
}

/// Say no to exactly this call; it is not asked again for an hour.
#[derive(clap::Args)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    common: Common,
}

pub(crate) fn approve(args: &ApproveArgs) -> Result<Exit, Failure> {
    let span = match (args.session, args.kind) {
        (false, false) => None,
        (true, false) => Some(Span::Session),
        (false, true) => Some(Span::Kind),
        (true, true) => Some(Span::SessionKind),
    };
    answer(&args.common, Word::Approve, args.yes, span)
}

pub(crate) fn deny(args: &DenyArgs) -> Result<Exit, Failure> {
    // A no needs no second thought.
    answer(&args.common, Word::Deny, true, None)
}

fn answer(args: &Common, word: Word, is_sure: bool, span: Option<Span>) -> Result<Exit, Failure> {
    let by = args.by.user()?;
    let now = SystemClock.unix_seconds();
    let (store, found) = find(&args.home, &args.id, now)?;
    let id = found.id;
    if found.state != ApprovalState::Pending {
        return Err(failure(&ApprovalError::Settled { id, state: found.state }));
    }
    // Before anything is answered: what cannot be granted is not half granted.
    let said = (by.clone(), args.reason.clone(), now);
    let standing = span.map(|span| Standing::of(&found, span, said)).transpose();
    let standing = standing.map_err(Failure::refused)?;
    let more = if args.alike { alike(&store, &found, now)? } else { Vec::new() };
    let what = match (span, more.len()) {
        (None, 0) => "let exactly this call pass, once".to_owned(),
        (None, more) => {
            format!("let exactly these {} calls pass, once each", more.saturating_add(1))
        }
        (Some(span), _) => format!("let pass, for 12 hours: {}", span.about()),
    };
    let mut shown = show::lines(&found);
    shown.extend(more.iter().map(|it| format!("and {}  {}", short(it.id), deed::sentence(it))));
    if !is_sure && !person::says_yes(&shown, &what)? {
        return Err(Failure::refused("nothing was approved"));
    }
    let done = settle(args, &store, (id, word), &by)?;
    let given = standing.map(|it| grants::give(&args.home, &store, &it)).transpose()?;
    tell(args, (id, word), &done, given.as_ref());
    for it in more {
        let done = settle(args, &store, (it.id, word), &by)?;
        tell(args, (it.id, word), &done, None);
    }
    Ok(Exit::Done)
}

/// The other questions that wait, of the same session and tool and for the same reasons.
fn alike(store: &SqliteStore, found: &Approval, now: i64) -> Result<Vec<Approval>, Failure> {
    let rules = |it: &Approval| -> BTreeSet<String> {
        it.question.shown.reasons.iter().map(|it| it.rule.to_string()).collect()
    };
    let of = |it: &Approval| (it.question.user.clone(), it.question.agent.clone());
    let is_alike = |it: &Approval| {
        let (call, other) = (&found.question.call, &it.question.call);
        let is_same = call.session == other.session && call.action == other.action;
        let tool = found.question.shown.tool == it.question.shown.tool;
        it.id != found.id && is_same && tool && of(it) == of(found) && rules(it) == rules(found)
    };
    let mut waiting = store.waiting(now, ALIKE_MAX).map_err(|error| failure(&error))?;
    waiting.retain(is_alike);
    Ok(waiting)
}

/// Questions that are looked through for those alike.
const ALIKE_MAX: u32 = 1000;

/// Answers one question: by the gate that runs, or here.
fn settle(
    args: &Common,
    store: &SqliteStore,
    (id, word): (Uuid, Word),
    by: &UserId,
) -> Result<Done, Failure> {
    let now = SystemClock.unix_seconds();
    let request = Request::Answer { id, word, by: by.clone(), reason: args.reason.clone() };
    match control::ask(&control::socket_path(&args.home.dir()?), &request) {
        Ok(done) => {
            let number = |name: &str| done.get(name).and_then(Value::as_i64).unwrap_or(now);
            Ok(Done { expires: number("expires"), record: text(done.get("record")) })
        }
        Err(AskError::Nobody) => answer_here(args, store, (id, word), by.clone()),
        Err(AskError::Refused(error)) => Err(Failure::refused(error)),
        Err(error) => Err(Failure::unable(error)),
    }
}

/// What became of it.
struct Done {
    expires: i64,
    record: String,
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// No gate runs: the journal is nobody's, and the answer is recorded here.
fn answer_here(
    args: &Common,
    store: &SqliteStore,
    (id, word): (Uuid, Word),
    by: UserId,
) -> Result<Done, Failure> {
    let journal = open::writer(&Config::new(args.home.journal()?))?;
    let at = SystemClock.unix_seconds();
    let answer = Answer { word, by, reason: args.reason.clone(), at };
    let done = approvals::answer(&journal, store, id, &answer);
    let trusted = match &done {
        Ok(done) => host::trust_question::answered(&journal, &args.home.dir()?, done),
        Err(_) => Ok(()),
    };
    journal.close().map_err(Failure::unable)?;
    let done = done.map_err(|error| failure(&error))?;
    trusted.map_err(Failure::unable)?;
    let record = done.answered.map(|(_, record)| record).unwrap_or_default();
    Ok(Done { expires: done.question.expires, record })
}

fn tell(args: &Common, (id, word): (Uuid, Word), done: &Done, given: Option<&Standing>) {
    let until = timestamp::from_unix(given.map_or(done.expires, |it| it.expires));
    if args.json {
        output::json(&json!({
            "id": id.to_string(),
            "answer": word.as_str(),
            "expires": until,
            "record": done.record,
            "span": given.map(|it| it.span.as_str()),
            "grant_record": given.map(|it| it.record.as_str()),
        }));
        return;
    }
    output::line(&match (word, given) {
        (Word::Approve, Some(given)) => format!(
            "approved {id}: {}, until {until}; take it back with `lazaret approvals revoke {}`",
            given.span.about(),
            short(id)
        ),
        (Word::Approve, None) => {
            format!("approved {id}: the same call passes once, until {until}")
        }
        (Word::Deny, _) => format!("denied {id}: the same call is refused until {until}"),
    });
}
