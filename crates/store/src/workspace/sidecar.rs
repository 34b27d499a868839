//! `.ax-taint.json`: the labels beside the files, which the agent can reach and we do not trust.

use std::path::Path;

use aegx::Digest;
use model::Source;
use monitor::taint::label;
use serde::Serialize;
use serde_json::Value;

use super::files;
use super::manifest::Manifest;
use super::marks::{Mark, MarkForm, Marks, WHOLE};

/// The name of the file.
pub const SIDECAR: &str = ".ax-taint.json";
/// The longest one that is read.
pub const SIDECAR_BYTES_MAX: u64 = 1 << 26;

/// How the sidecar was found. Whatever it was, it is as it should be afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sidecar {
    /// As we wrote it, or not there and nothing to write.
    Intact,
    /// It came with the workspace, which we see for the first time.
    New,
    /// Somebody removed it.
    Missing,
    /// Somebody changed it.
    Changed {
        /// Marks that were taken out. They still count.
        lost: usize,
        /// Marks that were put in. They count as well.
        added: usize,
    },
    /// It cannot be read as one.
    Unreadable,
}

/// Reads the sidecar and joins its marks to those of the host.
pub(super) fn reconcile(root: &Path, marks: &mut Marks, seen: &Manifest, now: i64) -> Sidecar {
    let bytes = match files::read(&root.join(SIDECAR), SIDECAR_BYTES_MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) if marks.sidecar.is_none() => return Sidecar::Intact,
        Ok(None) => return Sidecar::Missing,
        Err(_) => return unreadable(marks, now),
    };
    if marks.sidecar == Some(Digest::of(&bytes)) {
        return Sidecar::Intact;
    }
    let Ok(Value::Array(entries)) = serde_json::from_slice(&bytes) else {
        return unreadable(marks, now);
    };
    let count = entries.len();
    let forms = entries.into_iter().filter_map(|it| serde_json::from_value::<MarkForm>(it).ok());
    let found: Vec<Mark> = forms.map(Mark::from).collect();
    if found.len() < count && marks.sidecar.is_none() {
        // Entries that we do not understand, and nothing of our own to hold against them.
        return unreadable(marks, now);
    }
    let kept = found.iter().filter(|it| marks.files.contains_key(&it.path)).count();
    let (lost, added) = (marks.files.len().saturating_sub(kept), found.len() - kept);
    for mark in found {
        let content = seen.entries.get(&mark.path).map(|it| it.digest);
        if content.is_some() || mark.path == WHOLE {
            marks.add(mark, content);
        }
    }
    match marks.sidecar {
        Some(_) => Sidecar::Changed { lost, added },
        None => Sidecar::New,
    }
}

/// Without labels of our own an unreadable sidecar may hide any: the whole workspace is marked.
fn unreadable(marks: &mut Marks, now: i64) -> Sidecar {
    if marks.sidecar.is_none() {
        let tag = label(Source::File, "a sidecar that cannot be read", now);
        let (path, session) = (WHOLE.to_owned(), String::new());
        marks.add(Mark { path, tag, session, written_at: now }, None);
    }
    Sidecar::Unreadable
}

/// The sidecar that these marks should have; none if there is nothing to say and never was.
pub(super) fn text(marks: &Marks) -> Option<Vec<u8>> {
    if marks.files.is_empty() && marks.sidecar.is_none() {
        return None;
    }
    let forms: Vec<_> = marks.files.values().map(MarkForm::from).collect();
    // For people, so one field per line.
    Some(serde_json::to_vec_pretty(&forms).unwrap_or_default())
}

/// A form as JSON. Ours have texts for keys and no number that JSON has not, so it cannot fail; if
/// it did, the empty file could not be read and would be an error then.
pub(super) fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
