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

pub(super) fn list(files: &WorkspaceFiles, permit: Permit<FileList>) -> Result<Output, Stop> {
    let wanted = permit.spend();
    let path = path_or_base(wanted.path.as_ref().map(|it| it.as_str()))?;
    let depth = wanted.depth.map_or(1, |it| it.get());
    let mut listing = Listing { files, entries: Vec::new(), whole: true };
    listing.folder(&path, depth)?;
    let shown: HashSet<&str> = listing.entries.iter().map(|it| it.0.as_str()).collect();
    let tags = files.names_label(&shown)?;
    let entries: Vec<Value> = listing.entries.iter().map(|it| it.1.clone()).collect();
    let body = json!({ "path": path.to_string(), "entries": entries, "truncated": !listing.whole });
    Ok(Output { tags, ..Output::text(body.to_string()) })
}

struct Listing<'a> {
    files: &'a WorkspaceFiles,
    /// Path and what is told of it.
    entries: Vec<(String, Value)>,
    whole: bool,
}

impl Listing<'_> {
    fn folder(&mut self, path: &Relative, depth: u64) -> Result<(), Stop> {
        let (found, whole) = self.files.dir.list(path)?;
        self.whole &= whole;
        let mut below = Vec::new();
        for it in found {
            // A name that is no text, or that cannot be asked for, is not told.
            let Some(child) = it.name.and_then(|name| path.child(&name).ok()) else {
                self.whole = false;
                continue;
            };
            if self.entries.len() >= ENTRIES_MAX {
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
            self.entries.push((child.as_str().to_owned(), told));
            if it.stat.kind == Kind::Folder && depth > 1 {
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
