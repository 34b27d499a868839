//! `lazaret taint clear`: a person's act. The record of it comes first.

use std::path::Path;
use std::sync::Arc;

use aegx::verify::printable;
use evidence::{Clock, SystemClock};
use host::control::TAINT_CLEARED;
use model::{SessionId, Taint, UserId};
use serde_json::{Value, json};
use store::workspace::{Looked, Registry, WorkspaceError};
use store::{Oversight, REASON_BYTES_MAX, SqliteStore, Subject, Word};

use super::{About, SubjectArgs, files, not_found};
use crate::act::Act;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::memory;
use crate::output;
use crate::person;
use crate::sessions;

/// Take the taint from a session, a memory entry or a file, as the person who vouches for it.
///
/// That it was done, by whom and why, is recorded before anything changes. A session begins anew: it
/// keeps its id, its owner and its profile. A memory entry is clean together with all entries of its
/// user that read the same, and so is the same text when it is written again. A file (--workspace DIR
/// --file PATH) is clean as it is now; copies of it that are there keep their marks.
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
    const CHOICE: &str =
        "say what to clear: --session ID, --memory UUID, or --workspace DIR --file PATH";
    let about = args.subject.get().ok_or_else(|| Failure::usage(CHOICE))?;
    let by = UserId::parse(&args.by).map_err(|error| Failure::usage(format!("--by: {error}")))?;
    if args.reason.trim().is_empty() || args.reason.len() > REASON_BYTES_MAX {
        let what = format!("a reason has from 1 to {REASON_BYTES_MAX} bytes");
        return Err(Failure::usage(what));
    }
    let word = |at| Word { by, at, reason: args.reason.clone() };
    match about {
        About::Kept(subject) => {
            let store = sessions::open(&args.home)?.ok_or_else(|| not_found(&subject))?;
            let found = look(args, &store, &subject)?;
            agreed(args, subject.kind(), &subject.name(), &found)?;
            clear(args, store, &subject, found, &word(SystemClock.unix_seconds()))
        }
        About::Files { file: None, .. } => Err(Failure::usage(CHOICE)),
        About::Files { workspace, file: Some(file) } => {
            let (registry, looked) = files::look(&args.home, workspace, file)?;
            let tag = &looked.mark.tag;
            let found = Found { taint: tag.taint, origin: tag.origin.clone(), session: None };
            agreed(args, FILE, file, &found)?;
            let word = word(SystemClock.unix_seconds());
            clear_file(args, workspace, &registry, &looked, &word)
        }
    }
}

/// What a file is called in records and answers.
const FILE: &str = "file";

fn agreed(args: &Args, kind: &str, name: &str, found: &Found) -> Result<(), Failure> {
    if args.yes || confirmed(kind, name, found)? {
        return Ok(());
    }
    Err(Failure::refused("nothing was cleared"))
}

/// What is to be cleared.
struct Found {
    taint: Taint,
    origin: String,
    session: Option<SessionId>,
}

fn look(args: &Args, store: &SqliteStore, subject: &Subject) -> Result<Found, Failure> {
    let missing = || not_found(subject);
    match subject {
        Subject::Session(id) => {
            let row = store.session(id).map_err(Failure::unable)?.ok_or_else(missing)?;
            let (taint, origin) = (row.summary.taint, row.summary.origin);
            Ok(Found { taint, origin, session: Some(row.id) })
        }
        Subject::Memory(id) => {
            let row = memory::row(&args.home.dir()?, store, *id)?.ok_or_else(missing)?;
            let taint = row.tag.as_ref().map_or(Taint::NONE, |it| it.taint);
            let origin = row.tag.map_or_else(String::new, |it| it.origin);
            Ok(Found { taint, origin, session: None })
        }
    }
}

/// Somebody who is not there cannot vouch for anything.
fn confirmed(kind: &str, name: &str, found: &Found) -> Result<bool, Failure> {
    let what = format!(
        "{kind} {name} is marked {} because of {}. Only clear what you know to be harmless.",
        found.taint,
        if found.origin.is_empty() { "an unnamed origin" } else { &found.origin },
    );
    person::says_yes(&[what], "clear it")
}

/// INVARIANT (RecordThenAct): the store wants the receipt.
fn clear(
    args: &Args,
    store: SqliteStore,
    subject: &Subject,
    found: Found,
    word: &Word,
) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let store = Arc::new(store);
    // Before anything is said of it: a gate that runs may have it.
    let memory = match subject {
        Subject::Memory(id) if memory::is_file(&home)? => {
            Some((*id, memory::open(&home, Arc::clone(&store))?))
        }
        Subject::Memory(_) | Subject::Session(_) => None,
    };
    let content = json!({
        "subject": subject.kind(),
        "name": subject.name(),
        "origin": found.origin,
        "reason": word.reason,
    });
    let act = begin(args, word, found, content)?;
    let cleared = match memory {
        Some((id, memory)) => memory.clear(id, word, &act.receipt),
        None => store.clear(subject, word, &act.receipt),
    };
    let (cleared, _) = act.end(cleared.map_err(Failure::unable), NOT_CLEARED)?;
    Ok(done(args, subject.kind(), &subject.name(), cleared.taint, &cleared.record))
}

/// INVARIANT (RecordThenAct): the registry wants the receipt.
fn clear_file(
    args: &Args,
    workspace: &Path,
    registry: &Registry,
    looked: &Looked,
    word: &Word,
) -> Result<Exit, Failure> {
    let (name, tag) = (&looked.mark.path, &looked.mark.tag);
    let root = ::files::resolved(workspace).map_err(Failure::unable)?;
    let content = json!({
        "subject": FILE,
        "name": name,
        "workspace": root.to_string_lossy(),
        "sha256": looked.content.map(|it| it.to_string()),
        "origin": tag.origin,
        "marked_by": looked.mark.session,
        "reason": word.reason,
    });
    let found = Found { taint: tag.taint, origin: String::new(), session: None };
    let act = begin(args, word, found, content)?;
    let cleared = registry.clear(&root, looked, &act.receipt, word.at).map_err(|error| {
        let changed = matches!(error, WorkspaceError::Changed { .. });
        if changed { Failure::refused(error) } else { Failure::unable(error) }
    });
    // INVARIANT (NothingSilent): the word is on record, and so is that it came to nothing.
    let (_, record) = act.end(cleared, NOT_CLEARED)?;
    Ok(done(args, FILE, name, tag.taint, &record))
}

/// What is on record if the word came to nothing.
const NOT_CLEARED: &str = "taint_not_cleared";

fn begin(args: &Args, word: &Word, found: Found, content: Value) -> Result<Act, Failure> {
    let about = (found.taint, found.session);
    Act::begin_about(&args.home, TAINT_CLEARED, &word.by, about, content)
}

fn done(args: &Args, kind: &str, name: &str, taint: Taint, record: &str) -> Exit {
    if args.json {
        output::json(&json!({
            "subject": kind,
            "name": name,
            "taint": taint.iter_names().collect::<Vec<_>>(),
            "record": record,
        }));
    } else {
        output::line(&format!("cleared {kind} {}", printable(name)));
    }
    Exit::Done
}
