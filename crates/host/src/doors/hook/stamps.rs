//! Files that calls of sessions read or wrote, as they were when the last call ended. One that is another when the next
//! call begins was changed by somebody whom no door saw: mostly the user, who edits their own files, and sometimes a program
//! that an agent left behind. So it is told, and stops nothing.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files that are looked at; those that come later are not.
const FILES_MAX: usize = 256;

/// What tells one state of a file from another; none if it is not there.
type Stamp = Option<(u64, u64, i64, i64)>;

/// The files, and the calls during which anything may change.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    files: BTreeMap<PathBuf, Stamp>,
    under_way: HashSet<(String, String)>,
}

impl Stamps {
    /// A call begins. Gives the files that have changed since the last one ended.
    pub(super) fn begins(&mut self, session: &str, key: &str) -> Vec<PathBuf> {
        let changed = if self.under_way.is_empty() { self.changed() } else { Vec::new() };
        self.under_way.insert((session.to_owned(), key.to_owned()));
        changed
    }

    /// A call has ended, and touched these files.
    pub(super) fn ended(
        &mut self,
        session: &str,
        key: &str,
        touched: impl Iterator<Item = PathBuf>,
    ) {
        self.under_way.remove(&(session.to_owned(), key.to_owned()));
        for path in touched {
            if self.files.len() < FILES_MAX || self.files.contains_key(&path) {
                self.files.insert(path, None);
            }
        }
        self.look_again();
    }

    /// No call of a session is under way any more.
    pub(super) fn settled(&mut self, session: &str) {
        self.under_way.retain(|(it, _)| it != session);
        self.look_again();
    }

    fn look_again(&mut self) {
        for (path, stamp) in &mut self.files {
            *stamp = stamp_of(path);
        }
    }

    fn changed(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, stamp) in &mut self.files {
            let now = stamp_of(path);
            if *stamp != now {
                *stamp = now;
                changed.push(path.clone());
            }
        }
        changed
    }
}

fn stamp_of(path: &Path) -> Stamp {
    let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((about.ino(), about.size(), about.mtime(), about.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_between_calls_is_noticed_and_what_changes_during_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        let write = |text: &[u8]| files::private::replace(&path, text).unwrap();
        write(b"one");
        let mut stamps = Stamps::default();
        assert!(stamps.begins("s", "1").is_empty());
        write(b"two, by the call");
        stamps.ended("s", "1", std::iter::once(path.clone()));
        assert!(stamps.begins("s", "2").is_empty());
        write(b"three, while another call is under way");
        assert!(stamps.begins("t", "3").is_empty());
        stamps.ended("s", "2", std::iter::empty());
        stamps.ended("t", "3", std::iter::empty());
        write(b"four, by nobody who was seen");
        assert_eq!(stamps.begins("s", "4"), std::slice::from_ref(&path));
        stamps.settled("s");
        assert!(stamps.begins("s", "5").is_empty(), "each change once");
        stamps.settled("s");
        fs::remove_file(&path).unwrap();
        assert_eq!(stamps.begins("s", "6").len(), 1);
    }

    #[test]
    fn the_number_of_files_is_bounded() {
        let mut stamps = Stamps::default();
        let many = (0..2 * FILES_MAX).map(|it| PathBuf::from(format!("/nonexistent/{it}")));
        stamps.ended("s", "1", many);
        assert_eq!(stamps.files.len(), FILES_MAX);
    }
}
