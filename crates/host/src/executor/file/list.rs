//! Listing folders. Names are content, too: what a tainted session called something carries its label.

use std::collections::HashSet;

use files::{Kind, Relative};
use model::TaintTag;
use model::ipc::FileList;
use monitor::{Output, Permit};
use serde_json::{Value, json};

use super::{Stop, WorkspaceFiles, path_or_base};

/// Entries of all folders together.
const ENTRIES_MAX: usize = 5000;
/// Names that are compared with a pattern.
const SEEN_MAX: usize = 200_000;
/// Folders inside each other that a name is looked for in, unless the message says otherwise.
const DEPTH_MAX: u64 = 16;

pub(super) fn list(files: &WorkspaceFiles, permit: Permit<FileList>) -> Result<Output, Stop> {
    let wanted = permit.spend();
    let path = path_or_base(wanted.path.as_ref().map(|it| it.as_str()))?;
    let pattern = wanted.pattern.as_ref().map(|it| it.as_str());
    // Whoever looks for a name does not know where it is.
    let usual = if pattern.is_some() { DEPTH_MAX } else { 1 };
    let depth = wanted.depth.map_or(usual, |it| it.get());
    let (entries, seen) = (Vec::new(), 0);
    let mut listing = Listing { files, pattern, entries, seen, whole: true };
    listing.folder(&path, depth)?;
    let shown: HashSet<&str> = listing.entries.iter().map(|it| it.0.as_str()).collect();
    let tags = files.names_label(&shown)?;
    let entries: Vec<Value> = listing.entries.iter().map(|it| it.1.clone()).collect();
    let body = json!({ "path": path.to_string(), "entries": entries, "truncated": !listing.whole });
    Ok(Output { tags, ..Output::text(body.to_string()) })
}

struct Listing<'a> {
    files: &'a WorkspaceFiles,
    /// What a name must be like.
    pattern: Option<&'a str>,
    /// Path and what is told of it.
    entries: Vec<(String, Value)>,
    seen: usize,
    whole: bool,
}

impl Listing<'_> {
    fn folder(&mut self, path: &Relative, depth: u64) -> Result<(), Stop> {
        let (found, whole) = self.files.dir.list(path)?;
        self.whole &= whole;
        let mut below = Vec::new();
        for it in found {
            // A name that is no text, or that cannot be asked for, is not told.
            let child = it.name.and_then(|name| Some((path.child(&name).ok()?, name)));
            let Some((child, name)) = child else {
                self.whole = false;
                continue;
            };
            self.seen += 1;
            if self.entries.len() >= ENTRIES_MAX || self.seen > SEEN_MAX {
                self.whole = false;
                return Ok(());
            }
            let kind = match it.stat.kind {
                Kind::File => "file",
                Kind::Folder => "folder",
                Kind::Link => "link",
                Kind::Special => "special",
            };
            let told = match it.stat.kind {
                Kind::File => {
                    json!({ "path": child.as_str(), "type": kind, "bytes": it.stat.bytes })
                }
                Kind::Folder | Kind::Link | Kind::Special => {
                    json!({ "path": child.as_str(), "type": kind })
                }
            };
            if self.pattern.is_none_or(|it| is_like(&name, it)) {
                self.entries.push((child.as_str().to_owned(), told));
            }
            if it.stat.kind == Kind::Folder && depth > 1 && !self.files.is_denied(&child) {
                below.push(child);
            }
        }
        for folder in below {
            // One that is gone by now, or was swapped for something, is not there.
            self.whole &= self.folder(&folder, depth - 1).is_ok();
        }
        Ok(())
    }
}

impl WorkspaceFiles {
    /// The labels of files, by their names alone.
    fn names_label(&self, paths: &HashSet<&str>) -> Result<Vec<TaintTag>, Stop> {
        let marks = self.registry.marks(&self.root)?;
        let mut tags: Vec<TaintTag> = Vec::new();
        for mark in marks {
            let is_shown = mark.is_of_all() || paths.contains(mark.path.as_str());
            if is_shown && monitor::taint::is_outside(mark.tag.taint) && !tags.contains(&mark.tag) {
                tags.push(mark.tag);
            }
        }
        Ok(tags)
    }
}

/// Is the name like the pattern, in which `*` is anything and `?` one character? All else is as it stands: there is no
/// program to which it could be an option. Work is at most the product of both lengths.
fn is_like(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut of) = (0, 0);
    // Where the last `*` stands, and up to where it reaches.
    let mut star: Option<(usize, usize)> = None;
    while let Some(sign) = name.get(at) {
        match pattern.get(of) {
            Some('*') => {
                star = Some((of, at));
                of += 1;
            }
            Some(like) if *like == '?' || like == sign => {
                at += 1;
                of += 1;
            }
            Some(_) | None => {
                let Some((place, reach)) = star else { return false };
                star = Some((place, reach + 1));
                at = reach + 1;
                of = place + 1;
            }
        }
    }
    pattern.iter().skip(of).all(|it| *it == '*')
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn a_pattern_is_about_the_whole_name_and_nothing_in_it_is_an_option() {
        for (name, pattern, like) in [
            ("notes.md", "*.md", true),
            ("notes.md", "notes.md", true),
            ("notes.md", "n?tes.*", true),
            ("notes.md", "*", true),
            ("notes.md", "**o*s**d*", true),
            ("notes.md", "notes", false),
            ("notes.md", "*.MD", false),
            ("notes.md", "?", false),
            ("notes.md", "", false),
            ("--exec=id", "--exec=*", true),
            ("notes.md", "--exec=id", false),
            ("a*b", "a*b", true),
            ("!a", "!*", true),
            ("\u{e9}t\u{e9}", "?t?", true),
        ] {
            assert_eq!(is_like(name, pattern), like, "{name} {pattern}");
        }
        assert!(!is_like(&"a".repeat(255), &format!("{}b", "a*".repeat(99))));
    }
}
