//! What changed in a workspace, and which of it carries a label.

use std::collections::BTreeSet;

use aegx::Digest;
use model::{Source, TaintTag};
use monitor::taint::{label, worse};

use super::manifest::{Entry, Kind, Manifest};
use super::marks::{Mark, Marks, WHOLE};

/// Tokens of a folder's name from which on it is known when it turns up elsewhere. Shorter ones say
/// nothing and are everywhere.
const NAME_TOKENS_MIN: u64 = 5;

/// Who made the changes, and when they were found.
pub(super) struct Author<'a> {
    /// The label of everything they wrote; none if they were clean.
    pub(super) tag: Option<&'a TaintTag>,
    pub(super) session: &'a str,
    pub(super) now: i64,
}

/// Marks what changed from `before` to `now`. Returns the paths that were not marked before.
pub(super) fn mark(
    marks: &mut Marks,
    before: &Manifest,
    now: &Manifest,
    author: &Author<'_>,
) -> Vec<String> {
    let had_history = marks.has_history();
    let clean = clean_contents(marks, before);
    let mut marked = Vec::new();
    for (path, entry) in &now.entries {
        let old = before.entries.get(path);
        let changed = old.is_none_or(|it| !entry.is_still(it));
        let Some(tag) = tag_of(marks, path, entry, old, changed, had_history, author) else {
            continue;
        };
        let is_new = !marks.files.contains_key(path);
        if changed || is_new {
            // A copy of a clean file is marked, but does not drag the file with it that it is of.
            let content = content(entry).filter(|it| !clean.contains(it));
            marks.add(new_mark(path, tag, author), content);
        }
        if is_new {
            marked.push(path.clone());
        }
    }
    // A directory that was put away comes back with what nobody has looked at.
    if (now.truncated || now.is_elsewhere(before))
        && let Some(tag) = author.tag
        && !marks.files.contains_key(WHOLE)
    {
        marks.add(new_mark(WHOLE, tag.clone(), author), None);
        marked.push(WHOLE.to_owned());
    }
    marks.drop_gone(now);
    marked
}

/// Contents that were there before and carried no label.
fn clean_contents(marks: &Marks, before: &Manifest) -> BTreeSet<Digest> {
    let clean = before.entries.iter().filter(|(path, _)| !marks.files.contains_key(path.as_str()));
    let contents = clean.filter_map(|(_, entry)| content(entry));
    contents.filter(|it| !marks.contents.contains_key(it)).collect()
}

/// The label that a file must carry now.
fn tag_of(
    marks: &Marks,
    path: &str,
    entry: &Entry,
    old: Option<&Entry>,
    changed: bool,
    had_history: bool,
    author: &Author<'_>,
) -> Option<TaintTag> {
    // A copy or a new name of something tainted, whoever made it and whenever.
    let mut tag = content(entry).and_then(|it| marks.contents.get(&it)).cloned();
    // Writing over a tainted file does not clean it.
    tag = worse(tag.as_ref(), marks.files.get(path).map(|it| &it.tag));
    if !changed {
        return tag;
    }
    tag = worse(tag.as_ref(), author.tag);
    let may_swap = |it: &Entry| !matches!(it.kind, Kind::Unread | Kind::Folder);
    let swapped = old.is_some_and(|it| it.kind != entry.kind && may_swap(it));
    if tag.is_none() && swapped && may_swap(entry) {
        tag = Some(label(Source::File, "a file that became something else", author.now));
    }
    // What is packed or encoded may hold anything that ever was here.
    if tag.is_none() && had_history && (entry.packed || marks.crowded) {
        let known = marks.worst().or_else(|| marks.contents.values().next().cloned());
        tag = known.map(|it| TaintTag { origin: format!("packed: {}", it.origin), ..it });
    }
    tag
}

/// The hash by which a copy is known. Empty files and things without content are no copies.
pub(super) fn content(entry: &Entry) -> Option<Digest> {
    let has_content = match entry.kind {
        Kind::File => entry.digest != Digest::of(b""),
        Kind::Folder => entry.tokens >= NAME_TOKENS_MIN,
        Kind::Link | Kind::Special | Kind::Unread => false,
    };
    has_content.then_some(entry.digest)
}

fn new_mark(path: &str, tag: TaintTag, author: &Author<'_>) -> Mark {
    let (path, session) = (path.to_owned(), author.session.to_owned());
    Mark { path, tag, session, written_at: author.now }
}
