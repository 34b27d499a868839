//! `lazaret taint show`.

use aegx::timestamp;
use aegx::verify::printable;
use model::Taint;
use serde_json::{Value, json};
use store::{Clearing, MemoryRow, Oversight, SessionRow, Subject};

use super::{About, SubjectArgs, files, not_found, tag_value};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::memory;
use crate::output::{self, Paint};
use crate::sessions;

/// Show what is tainted and by what, and what was cleared.
///
/// Without --session, --memory or --workspace: the newest tainted sessions and memory entries. With
/// --workspace DIR: its marked files, by name.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    subject: SubjectArgs,
    /// At most so many of each, the newest.
    #[arg(long, default_value_t = 100)]
    limit: u32,
    /// Print one JSON object per thing.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let subject = match args.subject.get() {
        Some(About::Files { workspace, file }) => {
            return files::show(&args.home, workspace, file, args.json);
        }
        Some(About::Kept(subject)) => Some(subject),
        None => None,
    };
    let Some(store) = sessions::open(&args.home)? else {
        return subject.map_or(Ok(Exit::Done), |it| Err(not_found(&it)));
    };
    let (rows, memory) = match &subject {
        Some(Subject::Session(id)) => {
            let row = store.session(id).map_err(Failure::unable)?;
            (vec![row.ok_or_else(|| not_found(&Subject::Session(id.clone())))?], Vec::new())
        }
        Some(Subject::Memory(id)) => {
            let row = memory::row(&args.home.dir()?, &store, *id)?;
            (Vec::new(), vec![row.ok_or_else(|| not_found(&Subject::Memory(*id)))?])
        }
        None => {
            let rows = store.tainted_sessions(args.limit).map_err(Failure::unable)?;
            (rows, memory::tainted(&args.home.dir()?, &store, args.limit)?)
        }
    };
    let clearings = store.clearings(subject.as_ref(), args.limit).map_err(Failure::unable)?;
    let _ = show(args.json, &rows, &memory, &clearings);
    Ok(Exit::Done)
}

/// Answers whether anybody is still reading.
fn show(as_json: bool, rows: &[SessionRow], memory: &[MemoryRow], clearings: &[Clearing]) -> bool {
    if as_json {
        let typed = |kind: &str, mut value: Value| {
            if let Some(object) = value.as_object_mut() {
                object.insert("kind".to_owned(), kind.into());
            }
            output::json(&value)
        };
        return rows.iter().all(|it| typed("session", sessions::value(it)))
            && memory.iter().all(|it| typed("memory", memory_value(it)))
            && clearings.iter().all(|it| typed("cleared", clearing_value(it)));
    }
    rows.iter().all(sessions::line)
        && memory.iter().all(memory_line)
        && clearings.iter().all(clearing_line)
}

fn memory_value(row: &MemoryRow) -> Value {
    json!({
        "memory": row.id.to_string(),
        "user": row.user.as_str(),
        "agent": row.agent.as_str(),
        "scope": row.scope,
        "type": row.kind.as_str(),
        "content": row.content,
        "created": timestamp::from_unix(row.created),
        "record": row.record,
        "tag": row.tag.as_ref().map(tag_value),
    })
}

fn clearing_value(it: &Clearing) -> Value {
    json!({
        "subject": it.subject.kind(),
        "name": it.subject.name(),
        "taint": it.taint.iter_names().collect::<Vec<_>>(),
        "by": it.word.by.as_str(),
        "time": timestamp::from_unix(it.word.at),
        "reason": it.word.reason,
        "record": it.record,
    })
}

fn memory_line(row: &MemoryRow) -> bool {
    /// The longest piece of content on a line.
    const PREVIEW_CHARS: usize = 60;
    let paint = Paint::for_stdout();
    let preview: String = row.content.chars().take(PREVIEW_CHARS).collect();
    let tag = row.tag.as_ref().map_or_else(String::new, |it| {
        let taint =
            if it.taint == Taint::NONE { "tainted".to_owned() } else { it.taint.to_string() };
        format!("{} {} {}", paint.bad(&taint), it.source, printable(&it.origin))
    });
    let text = format!(
        "{} {:<12} {:<16} {} {tag}",
        row.id,
        row.user,
        printable(&row.scope),
        printable(&preview)
    );
    output::line(text.trim_end())
}

fn clearing_line(it: &Clearing) -> bool {
    output::line(&format!(
        "cleared {} {} of {} by {} at {}: {}",
        it.subject.kind(),
        it.subject.name(),
        if it.taint == Taint::NONE { "nothing".to_owned() } else { it.taint.to_string() },
        it.word.by,
        timestamp::from_unix(it.word.at),
        printable(&it.word.reason),
    ))
}
