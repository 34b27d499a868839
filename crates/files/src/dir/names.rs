//! A file with several names: do all of them lie here?
//!
//! The kernel says how many names a file has and not where they are. So they are looked for: if as many are found
//! beneath the directory as there are, none is outside. Tools that build link files within a project, and those are
//! read; what a package manager has linked out of its store is not, for its other name is elsewhere.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::sync::Arc;

use super::{Dir, Kind, Stat};

/// Names of one file that are looked for.
const NAMES_MAX: u64 = 64;
/// Files and folders that are looked through.
const LOOKED_AT_MAX: usize = 100_000;
/// Folders in each other that are looked through.
const DEPTH_MAX: usize = 64;

impl Dir {
    /// Do all names of an open file lie beneath this directory? If that cannot be found out, they do not.
    pub(super) fn holds_every_name(&self, file: &File, stat: &Stat) -> bool {
        let found = if stat.links > NAMES_MAX { Ok(false) } else { self.find_names(file, stat) };
        found.unwrap_or(false)
    }

    fn find_names(&self, file: &File, stat: &Stat) -> io::Result<bool> {
        let mut found: Vec<(Arc<Self>, OsString)> = Vec::new();
        // A folder that is moved while we look is not looked at twice.
        let mut seen = HashSet::new();
        let mut folders = vec![(Arc::new(Self { fd: self.fd.try_clone()? }), 0)];
        let mut left = LOOKED_AT_MAX;
        while let Some((folder, depth)) = folders.pop() {
            if !seen.insert(folder.look()?.id) {
                continue;
            }
            for name in folder.raw_names()? {
                left = left.saturating_sub(1);
                // One that is gone by now is no name any more.
                let Ok(there) = folder.raw_stat(&name) else { continue };
                if there.kind == Kind::File && there.id == stat.id {
                    found.push((Arc::clone(&folder), name));
                } else if there.kind == Kind::Folder && depth < DEPTH_MAX && left > 0 {
                    folders.extend(folder.raw_dir(&name).ok().map(|it| (Arc::new(it), depth + 1)));
                }
            }
            if found.len() as u64 >= stat.links {
                break;
            }
        }
        // All at once, as far as that can be: what was moved on while we looked is not counted twice.
        let is_there = |(folder, name): &(Arc<Self>, OsString)| {
            folder.raw_stat(name).is_ok_and(|it| it.id == stat.id)
        };
        let names = found.iter().filter(|it| is_there(it)).count() as u64;
        Ok(names == Self::raw_look(file)?.links)
    }
}
