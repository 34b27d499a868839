//! What was found in a workspace, for the record and for a person.

use std::path::Path;

use model::{SessionId, TaintTag};
use serde_json::{Value, json};
use store::workspace::{After, Before, SIDECAR, Sidecar};

/// How many files a record lists; how many there are it always says.
const RECORDED_FILES_MAX: usize = 50;
/// How many files a person is told the names of.
const TOLD_FILES_MAX: usize = 3;
/// How much of a name is shown, in characters.
const NAME_CHARS_MAX: usize = 200;

/// The record of a workspace as a session finds it.
pub(super) fn entered(root: &Path, before: &Before) -> Value {
    let labels = before.preseed.iter().map(|it| {
        json!({
            "source": it.tag.source.as_str(),
            "origin": cut(&it.tag.origin),
            "taint": it.tag.taint.iter_names().collect::<Vec<_>>(),
            "tokens": it.tokens,
            "record": cut(&it.tag.record),
        })
    });
    json!({
        "workspace": root.to_string_lossy(),
        "sidecar": sidecar(&before.sidecar),
        "labels": labels.collect::<Vec<_>>(),
        "marked": before.marked.len(),
        "files": files(&before.marked),
        "truncated": before.truncated,
        "unfinished": before.unfinished.iter().map(SessionId::as_str).collect::<Vec<_>>(),
    })
}

/// The record of what a session leaves.
pub(super) fn left(
    root: &Path,
    session: &SessionId,
    tag: Option<&TaintTag>,
    after: &After,
) -> Value {
    json!({
        "workspace": root.to_string_lossy(),
        "of": session.as_str(),
        "origin": tag.map(|it| cut(&it.origin)),
        "sidecar": sidecar(&after.sidecar),
        "marked": after.marked.len(),
        "files": files(&after.marked),
        "truncated": after.truncated,
    })
}

/// What a person should know before a session begins.
pub(super) fn of_before(before: &Before) -> Vec<String> {
    let mut told = Vec::new();
    told.extend(about_sidecar(&before.sidecar));
    if !before.marked.is_empty() {
        told.push(format!("marked, because of what they are copies of: {}", named(&before.marked)));
    }
    told.extend(before.truncated.then(too_much));
    if let Some(first) = before.preseed.first() {
        let tokens = before.preseed.iter().fold(0, |sum: u64, it| sum.saturating_add(it.tokens));
        told.push(format!(
            "the workspace holds about {tokens} tokens from outside, such as from {}; they count as \
             read (`lazaret taint show --workspace` lists the files)",
            if first.tag.origin.is_empty() { first.tag.source.as_str() } else { &first.tag.origin },
        ));
    }
    told
}

/// What a person should know after a session.
pub(super) fn of_after(after: &After) -> Vec<String> {
    let mut told = Vec::new();
    told.extend(about_sidecar(&after.sidecar));
    if !after.marked.is_empty() {
        told.push(format!("marked, as the session's: {}", named(&after.marked)));
    }
    told.extend(after.truncated.then(too_much));
    told
}

/// What a person should know of a session that never ended.
pub(super) fn of_lost(session: &SessionId, after: &After) -> String {
    let what = match after.marked.is_empty() {
        true => "nothing of what it left is marked".to_owned(),
        false => format!("marked as its own: {}", named(&after.marked)),
    };
    format!("session {session} did not end in order; {what}")
}

fn about_sidecar(sidecar: &Sidecar) -> Option<String> {
    match sidecar {
        Sidecar::Intact => None,
        Sidecar::New => Some(format!("`{SIDECAR}` came with the workspace; its marks count")),
        Sidecar::Missing => Some(format!(
            "somebody removed `{SIDECAR}`; the host's own marks count, and it is there again"
        )),
        Sidecar::Changed { lost, added } => Some(format!(
            "somebody changed `{SIDECAR}`: {lost} marks taken out, {added} put in; all of them count"
        )),
        Sidecar::Unreadable => {
            Some(format!("`{SIDECAR}` cannot be read or written; the host's own marks count"))
        }
    }
}

fn too_much() -> String {
    "there is more in the workspace than is looked at; it is marked as a whole once a tainted session \
     has been there"
        .to_owned()
}

fn sidecar(sidecar: &Sidecar) -> Value {
    match sidecar {
        Sidecar::Intact => json!("intact"),
        Sidecar::New => json!("new"),
        Sidecar::Missing => json!("missing"),
        Sidecar::Changed { lost, added } => json!({ "changed": { "lost": lost, "added": added } }),
        Sidecar::Unreadable => json!("unreadable"),
    }
}

fn files(paths: &[String]) -> Vec<String> {
    paths.iter().take(RECORDED_FILES_MAX).map(|it| cut(it)).collect()
}

fn named(paths: &[String]) -> String {
    let names = paths.iter().take(TOLD_FILES_MAX);
    let names = names.map(|it| format!("`{}`", cut(it))).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(TOLD_FILES_MAX) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
