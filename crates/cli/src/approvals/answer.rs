//! `lazaret approvals approve` and `deny`: a person's act. The record of it comes first.

use std::collections::BTreeSet;
use std::path::Path;

use aegx::timestamp;
use evidence::{Clock, Config, SystemClock};
use host::control::{self, AskError, Request};
use host::trust_question::folder_of;
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
use crate::sessions;

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
    let folder = folder_of(&found.question);
    if let (Some(folder), Some(_)) = (&folder, span) {
        let why = format!(
            "a folder is trusted until `lazaret trust --remove {}`: leave out --session and --kind",
            folder.display()
        );
        return Err(Failure::usage(why));
    }
    let standing = span.map(|span| Standing::of(&found, span, said)).transpose();
    let standing = standing.map_err(Failure::refused)?;
    let more = if args.alike { alike(&store, &found, now)? } else { Vec::new() };
    let what = match (span, more.len()) {
        _ if folder.is_some() => "trust the folder, until you take it back".to_owned(),
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
    let asked = Asked { home: &args.home, store: &store, by: &by, reason: &args.reason };
    let done = asked.settle((id, word))?;
    if let (Some(folder), false) = (folder, args.json) {
        tell_of_folder(id, word, &folder);
        return Ok(Exit::Done);
    }
    let given = standing.map(|it| grants::give(&args.home, &store, &it)).transpose()?;
    tell(args, (id, word), &done, given.as_ref());
    for it in more {
        let done = asked.settle((it.id, word))?;
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

/// Answers the question whether a folder is trusted that is trusted now. Not those about folders in it: each would be trusted by itself
/// then, and stay so when trust in this one is taken back.
pub(crate) fn settle_folder(home: &Home, by: &UserId, folder: &Path) -> Result<(), Failure> {
    let Some(store) = sessions::open(home)? else { return Ok(()) };
    let mut waiting =
        store.waiting(SystemClock.unix_seconds(), ALIKE_MAX).map_err(|error| failure(&error))?;
    waiting.retain(|it| folder_of(&it.question).is_some_and(|it| it == folder));
    let asked = Asked { home, store: &store, by, reason: "" };
    waiting.into_iter().try_for_each(|it| asked.settle((it.id, Word::Approve)).map(drop))
}

/// Who answers, and where.
struct Asked<'a> {
    home: &'a Home,
    store: &'a SqliteStore,
    by: &'a UserId,
    reason: &'a str,
}

impl Asked<'_> {
    /// Answers one question: by the gate that runs, or here.
    fn settle(&self, (id, word): (Uuid, Word)) -> Result<Done, Failure> {
        let now = SystemClock.unix_seconds();
        let (by, reason) = (self.by.clone(), self.reason.to_owned());
        let request = Request::Answer { id, word, by, reason };
        match control::ask(&control::socket_path(&self.home.dir()?), &request) {
            Ok(done) => {
                let number = |name: &str| done.get(name).and_then(Value::as_i64).unwrap_or(now);
                Ok(Done { expires: number("expires"), record: text(done.get("record")) })
            }
            Err(AskError::Nobody) => self.settle_here((id, word)),
            Err(AskError::Refused(error)) => Err(Failure::refused(error)),
            Err(error) => Err(Failure::unable(error)),
        }
    }

    /// No gate runs: the journal is nobody's, and the answer is recorded here.
    fn settle_here(&self, (id, word): (Uuid, Word)) -> Result<Done, Failure> {
        let journal = open::writer(&Config::new(self.home.journal()?))?;
        let (at, by) = (SystemClock.unix_seconds(), self.by.clone());
        let answer = Answer { word, by, reason: self.reason.to_owned(), at };
        let done = approvals::answer(&journal, self.store, id, &answer);
        let trusted = match &done {
            Ok(done) => host::trust_question::answered(&journal, &self.home.dir()?, done),
            Err(_) => Ok(()),
        };
        journal.close().map_err(Failure::unable)?;
        let done = done.map_err(|error| failure(&error))?;
        trusted.map_err(Failure::unable)?;
        let record = done.answered.map(|(_, record)| record).unwrap_or_default();
        Ok(Done { expires: done.question.expires, record })
    }
}

/// Says what an answer means where a folder was asked about: it does not run out.
fn tell_of_folder(id: Uuid, word: Word, folder: &Path) {
    let shown = folder.display();
    let line = match word {
        Word::Approve => format!(
            "approved {id}: `{shown}` is trusted; take it back with `lazaret trust --remove {shown}`"
        ),
        Word::Deny => format!(
            "denied {id}: `{shown}` stays outside content; `lazaret trust {shown}` trusts it"
        ),
    };
    output::line(&aegx::verify::printable(&line).to_string());
}

/// What became of it.
struct Done {
    expires: i64,
    record: String,
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
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
