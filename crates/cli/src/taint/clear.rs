//! `lazaret taint clear`: a person's act. The record of it comes first.

use aegx::{Principal, RecordType};
use evidence::{Clock, Config, NewRecord, SystemClock};
use model::{Kind, SessionId, Taint, UserId};
use serde_json::json;
use store::{Oversight, REASON_BYTES_MAX, SqliteStore, Subject, Word};

use super::{SubjectArgs, not_found};
use crate::evidence::open;
use crate::home::Home;
use crate::output;
use crate::person;
use crate::run::{Exit, Failure};
use crate::sessions;

/// Take the taint from a session or a memory entry, as the person who vouches for it.
///
/// That it was done, by whom and why, is recorded before anything changes. A session begins anew: it
/// keeps its id, its owner and its profile. A memory entry is clean together with all entries of its
/// user that read the same, and so is the same text when it is written again.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    subject: SubjectArgs,
    /// Why, in your own words.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Who you are.
    #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true)]
    by: String,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let subject = args
        .subject
        .get()
        .ok_or_else(|| Failure::usage("say what to clear: --session ID or --memory UUID"))?;
    let by = UserId::parse(&args.by).map_err(|error| Failure::usage(format!("--by: {error}")))?;
    if args.reason.trim().is_empty() || args.reason.len() > REASON_BYTES_MAX {
        let what = format!("a reason has from 1 to {REASON_BYTES_MAX} bytes");
        return Err(Failure::usage(what));
    }
    let store = sessions::open(&args.home)?.ok_or_else(|| not_found(&subject))?;
    let found = look(&store, &subject)?;
    if !args.yes && !confirmed(&subject, &found)? {
        return Err(Failure::refused("nothing was cleared"));
    }
    let word = Word { by, at: SystemClock.unix_seconds(), reason: args.reason.clone() };
    clear(args, &store, &subject, &found, &word)
}

/// What is to be cleared.
struct Found {
    taint: Taint,
    origin: String,
    session: Option<SessionId>,
}

fn look(store: &SqliteStore, subject: &Subject) -> Result<Found, Failure> {
    let missing = || not_found(subject);
    match subject {
        Subject::Session(id) => {
            let row = store.session(id).map_err(Failure::unable)?.ok_or_else(missing)?;
            let (taint, origin) = (row.summary.taint, row.summary.origin);
            Ok(Found { taint, origin, session: Some(row.id) })
        }
        Subject::Memory(id) => {
            let row = store.memory_row(*id).map_err(Failure::unable)?.ok_or_else(missing)?;
            let taint = row.tag.as_ref().map_or(Taint::NONE, |it| it.taint);
            let origin = row.tag.map_or_else(String::new, |it| it.origin);
            Ok(Found { taint, origin, session: None })
        }
    }
}

/// Somebody who is not there cannot vouch for anything.
fn confirmed(subject: &Subject, found: &Found) -> Result<bool, Failure> {
    let what = format!(
        "{} {} is marked {} because of {}. Only clear what you know to be harmless.",
        subject.kind(),
        subject.name(),
        found.taint,
        if found.origin.is_empty() { "an unnamed origin" } else { &found.origin },
    );
    person::says_yes(&[what], "clear it")
}

/// INVARIANT (RecordThenAct): the store wants the receipt.
fn clear(
    args: &Args,
    store: &SqliteStore,
    subject: &Subject,
    found: &Found,
    word: &Word,
) -> Result<Exit, Failure> {
    let journal = open::writer(&Config::new(args.home.journal()?))?;
    let kind = Kind::parse("taint_cleared").map_err(Failure::unable)?;
    let content = json!({
        "subject": subject.kind(),
        "name": subject.name(),
        "origin": found.origin,
        "by": word.by.as_str(),
        "reason": word.reason,
    });
    let record = NewRecord {
        principal: Principal::User,
        taint: found.taint,
        session: found.session.clone(),
        ..NewRecord::of_host(RecordType::ControlPlaneChangeRequest, kind, content)
    };
    let receipt = journal.append(record).map_err(Failure::unable)?;
    let cleared = store.clear(subject, word, &receipt).map_err(Failure::unable)?;
    journal.close().map_err(Failure::unable)?;
    if args.json {
        output::json(&json!({
            "subject": subject.kind(),
            "name": subject.name(),
            "taint": cleared.taint.iter_names().collect::<Vec<_>>(),
            "record": cleared.record,
        }));
    } else {
        output::line(&format!("cleared {} {}", subject.kind(), subject.name()));
    }
    Ok(Exit::Done)
}
