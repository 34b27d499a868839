//! `lazaret approvals approve` and `deny`: a person's act. The record of it comes first.

use aegx::timestamp;
use evidence::{Clock, Config, SystemClock};
use host::control::{self, AskError, Request};
use model::UserId;
use model::ipc::Uuid;
use monitor::approvals::{self, Answer, ApprovalError, ApprovalState, Word};
use monitor::standing::{Span, Standing};
use serde_json::{Value, json};
use store::SqliteStore;

use super::{failure, find, grants, parse_id, short, show};
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
    /// Who you are.
    #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true)]
    by: String,
    /// Why, in your own words.
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
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
    #[arg(long)]
    session: bool,
    /// For this kind of call to this place, whatever else it says.
    #[arg(long)]
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
    let by = UserId::parse(&args.by).map_err(|error| Failure::usage(format!("--by: {error}")))?;
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
    let what = match span {
        None => "let exactly this call pass, once".to_owned(),
        Some(span) => format!("let pass, for 12 hours: {}", span.about()),
    };
    if !is_sure && !person::says_yes(&show::lines(&found), &what)? {
        return Err(Failure::refused("nothing was approved"));
    }
    let request = Request::Answer { id, word, by: by.clone(), reason: args.reason.clone() };
    let done = match control::ask(&control::socket_path(&args.home.dir()?), &request) {
        Ok(done) => {
            let number = |name: &str| done.get(name).and_then(Value::as_i64).unwrap_or(now);
            Done { expires: number("expires"), record: text(done.get("record")) }
        }
        Err(AskError::Nobody) => answer_here(args, &store, (id, word), by)?,
        Err(AskError::Refused(error)) => return Err(Failure::refused(error)),
        Err(error) => return Err(Failure::unable(error)),
    };
    let given = standing.map(|it| grants::give(&args.home, &store, &it)).transpose()?;
    tell(args, (id, word), &done, given.as_ref());
    Ok(Exit::Done)
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
    journal.close().map_err(Failure::unable)?;
    let done = done.map_err(|error| failure(&error))?;
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
