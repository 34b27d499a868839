//! Files that hold secrets by their names, and copies of them that say nothing by theirs.
//!
//! Whoever copies `.env` to `notes.txt` without us has a file that nobody would keep from anybody. So the contents of
//! secret files are known from the first look at a workspace on, also if nobody ever reads them through us.

use std::collections::BTreeSet;

use aegx::Digest;
use model::{Source, Taint, TaintTag};
use monitor::taint;
use monitor::target::{is_secret_file, shows_how};

use super::manifest::{Entry, Kind, Manifest};
use super::marks::Marks;

/// Remembers what lies in secret files that are new or changed since the last look.
pub(super) fn keep(marks: &mut Marks, last: &Manifest, seen: &Manifest) {
    let is_new =
        |path: &str, entry: &Entry| last.entries.get(path).is_none_or(|it| !entry.is_still(it));
    let holds = |entry: &Entry| entry.kind == Kind::File && entry.digest != Digest::of(b"");
    let new = seen.entries.iter().filter(|(path, entry)| holds(entry) && is_new(path, entry));
    let secret = new.filter(|(path, _)| is_secret_file(path));
    let mut found: BTreeSet<Digest> = secret.map(|(_, entry)| entry.digest).collect();
    if found.is_empty() {
        return;
    }
    // `.env` that is still as `.env.example` has it holds no secret yet.
    for (_, entry) in seen.entries.iter().filter(|(path, _)| shows_how(path)) {
        found.remove(&entry.digest);
    }
    marks.keep_secret(found);
}

/// The label of such content under whatever name. Only what is read of it counts.
pub(super) fn tag() -> TaintTag {
    TaintTag { taint: Taint::SECRET_RISK, ..taint::label(Source::File, "a file with secrets", 0) }
}
