//! Finds entries that would land on the same file, on this file system or another.

use std::collections::HashMap;
use std::collections::hash_map;

use unicode_normalization::UnicodeNormalization as _;

use super::{ArchiveError, DEPTH_MAX};
use crate::Hasher;

/// Every path that the entries seen so far need, directories above them included.
///
/// Paths are kept as hashes, so that long names cost no more than short ones.
#[derive(Default)]
pub(super) struct NameTree {
    nodes: HashMap<Key, Node>,
}

struct Node {
    spelling: Key,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    File,
    /// A directory with an entry of its own.
    Directory,
    /// A directory because something lies in it.
    Implied,
}

/// Half a SHA-256 value. A collision would cost 2^64 tries and buy a refusal.
type Key = [u8; 16];

impl NameTree {
    /// Adds the entry `name`; a trailing slash makes it a directory.
    pub(super) fn insert(&mut self, name: &str) -> Result<(), ArchiveError> {
        let (path, own_kind) =
            name.strip_suffix('/').map_or((name, Kind::File), |path| (path, Kind::Directory));
        let depth = path.split('/').count();
        if depth > DEPTH_MAX {
            return Err(ArchiveError::NameTooDeep { name: name.to_owned(), limit: DEPTH_MAX });
        }

        let mut folded = Hasher::new();
        let mut spelled = Hasher::new();
        for (above, component) in path.split('/').enumerate() {
            folded.update(fold(component).as_bytes());
            folded.update(b"/");
            spelled.update(component.as_bytes());
            spelled.update(b"/");
            let kind = if above + 1 == depth { own_kind } else { Kind::Implied };
            let node = Node { spelling: key(&spelled), kind };
            self.place(key(&folded), node, name)?;
        }
        Ok(())
    }

    fn place(&mut self, key: Key, new: Node, name: &str) -> Result<(), ArchiveError> {
        let mut old = match self.nodes.entry(key) {
            hash_map::Entry::Occupied(old) => old,
            hash_map::Entry::Vacant(free) => {
                free.insert(new);
                return Ok(());
            }
        };
        let name = name.to_owned();
        if old.get().spelling != new.spelling {
            return Err(ArchiveError::NameClash { name });
        }
        match (old.get().kind, new.kind) {
            (Kind::Implied | Kind::Directory, Kind::Implied) => Ok(()),
            (Kind::Implied, Kind::Directory) => {
                old.get_mut().kind = Kind::Directory;
                Ok(())
            }
            (Kind::File, Kind::File) | (Kind::Directory, Kind::Directory) => {
                Err(ArchiveError::DuplicateName { name })
            }
            (Kind::File, Kind::Directory | Kind::Implied)
            | (Kind::Directory | Kind::Implied, Kind::File) => {
                Err(ArchiveError::FileAndDirectory { name })
            }
        }
    }
}

fn key(hasher: &Hasher) -> Key {
    let digest = hasher.clone().finish();
    // A digest has 32 bytes, so the fallback is never taken.
    digest.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// One text for all spellings that some file system takes for the same name.
fn fold(component: &str) -> String {
    if component.is_ascii() {
        return component.to_ascii_lowercase();
    }
    // Upper case first: it joins what lower case keeps apart, such as `ß` and `SS`.
    component.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(names: &[&str]) -> Option<&'static str> {
        let mut tree = NameTree::default();
        names.iter().find_map(|name| tree.insert(name).err()).map(|error| error.code())
    }

    #[test]
    fn names_that_meet_on_some_file_system_are_refused() {
        for (names, code) in [
            (&["a", "a"][..], "zip_duplicate_name"),
            (&["a/", "a/"], "zip_duplicate_name"),
            (&["a", "A"], "zip_name_clash"),
            (&["\u{e9}", "e\u{301}"], "zip_name_clash"),
            (&["\u{c9}", "e\u{301}"], "zip_name_clash"),
            (&["stra\u{df}e", "STRASSE"], "zip_name_clash"),
            (&["a/x", "A/y"], "zip_name_clash"),
            (&["a", "a/"], "zip_file_and_directory"),
            (&["a", "a/b"], "zip_file_and_directory"),
            (&["a/b", "a"], "zip_file_and_directory"),
            (&["a/b/c", "a/b"], "zip_file_and_directory"),
            (&["a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"], "zip_name_too_deep"),
        ] {
            assert_eq!(refusal(names), Some(code), "{names:?}");
        }
    }

    #[test]
    fn a_directory_may_come_before_or_after_what_lies_in_it() {
        assert_eq!(refusal(&["a/", "a/b", "c/d", "c/", "ab", "a.b"]), None);
    }
}
