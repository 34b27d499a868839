//! The files of a skill, held in memory within bounds, and the hash by which they are known.

use std::collections::{BTreeMap, BTreeSet};

use aegx::Digest;
use files::Relative;

/// Files of one skill.
pub const FILES_MAX: usize = 2_000;
/// Bytes of one file.
pub const FILE_BYTES_MAX: usize = 8 << 20;
/// Bytes of all files together.
pub const TREE_BYTES_MAX: usize = 32 << 20;

/// The text that makes a folder a skill.
pub const TEXT: &str = "SKILL.md";

/// Says what is hashed, so that the hash of a tree is none of anything else.
const DOMAIN: &[u8] = b"lazaret-skill-tree-v1\n";

/// The files of a skill by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    /// Paths and folders as a disk that does not tell case sees them.
    folded: BTreeSet<String>,
    bytes: usize,
}

/// Why a file cannot be part of a skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A path that leads out, or that a disk should not hold.
    #[error("`{path}` is no path of a skill: {why}")]
    Path {
        /// As it was given.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// Two files of one name.
    #[error("`{0}` is there twice, or differs from another name in capitals alone")]
    Twice(String),
    /// Too many files.
    #[error("a skill has at most {FILES_MAX} files")]
    Files,
    /// A file that is too long.
    #[error("`{0}` is longer than {FILE_BYTES_MAX} bytes")]
    FileBytes(String),
    /// All of it is too long.
    #[error("a skill has at most {TREE_BYTES_MAX} bytes in all")]
    TreeBytes,
}

impl Tree {
    /// Adds a file.
    ///
    /// # Errors
    /// If its path is none, is there already in whatever case, or a limit is reached.
    pub fn insert(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), TreeError> {
        let wrong = |why: String| TreeError::Path { path: shown(path), why };
        let parsed = Relative::parse(path).map_err(|error| wrong(error.to_string()))?;
        // Elsewhere a backslash parts folders, and a colon names a disk or a stream.
        if parsed.as_str() != path || path.contains(['\\', ':']) {
            return Err(wrong("it is not written plainly".to_owned()));
        }
        if self.files.len() >= FILES_MAX {
            return Err(TreeError::Files);
        }
        if bytes.len() > FILE_BYTES_MAX {
            return Err(TreeError::FileBytes(shown(path)));
        }
        let total = self.bytes.saturating_add(bytes.len());
        if total > TREE_BYTES_MAX {
            return Err(TreeError::TreeBytes);
        }
        let folded = path.to_lowercase();
        let is_folder = |of: &str| {
            self.folded
                .range(format!("{of}/")..)
                .next()
                .is_some_and(|it| it.strip_prefix(of).is_some_and(|it| it.starts_with('/')))
        };
        let below_file = folded
            .match_indices('/')
            .any(|(at, _)| folded.get(..at).is_some_and(|it| self.folded.contains(it)));
        if self.folded.contains(&folded) || is_folder(&folded) || below_file {
            return Err(TreeError::Twice(shown(path)));
        }
        self.folded.insert(folded);
        self.bytes = total;
        self.files.insert(path.to_owned(), bytes);
        Ok(())
    }

    /// Returns the files by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// Returns one file.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Returns the tree without a folder that all of it lies in, as archives are often packed; the tree itself if its text
    /// lies at the top, or there is no such folder.
    #[must_use]
    pub fn unwrapped(self) -> Self {
        if self.files.contains_key(TEXT) {
            return self;
        }
        let top = self.files.keys().next().and_then(|it| it.split_once('/')).map(|it| it.0);
        let Some(top) = top.map(|it| format!("{it}/")) else { return self };
        let mut inner = Self::default();
        for (path, bytes) in &self.files {
            let Some(rest) = path.strip_prefix(&top) else { return self };
            if inner.insert(rest, bytes.clone()).is_err() {
                return self;
            }
        }
        if inner.files.contains_key(TEXT) { inner } else { self }
    }

    /// Returns the hash of all paths and contents. Whatever is added, left out, renamed or changed makes it another one.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut all = aegx::Hasher::new();
        all.update(DOMAIN);
        for (path, bytes) in &self.files {
            // A path has no line feed and no NUL, so that no two trees are written alike.
            all.update(format!("{} {} {path}\n", Digest::of(bytes), bytes.len()).as_bytes());
        }
        all.finish()
    }
}

fn shown(path: &str) -> String {
    path.chars().take(200).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Result<Tree, TreeError> {
        let mut tree = Tree::default();
        for path in paths {
            tree.insert(path, path.as_bytes().to_vec())?;
        }
        Ok(tree)
    }

    #[test]
    fn a_path_stays_inside_and_is_there_once() {
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/../b",
            "./a",
            "a//b",
            "a\\..\\b",
            "a\nb",
            "a\0",
        ] {
            assert!(tree(&[bad]).is_err(), "{bad:?}");
        }
        for twice in
            [["a", "a"], ["SKILL.md", "skill.MD"], ["a", "a/b"], ["a/b", "a"], ["A/b", "a"]]
        {
            assert!(matches!(tree(&twice), Err(TreeError::Twice(_))), "{twice:?}");
        }
        tree(&["a.b", "a/b", "a-b"]).unwrap();
    }

    #[test]
    fn every_change_changes_the_hash() {
        let one = tree(&["SKILL.md", "a/b"]).unwrap();
        let mut other = Tree::default();
        other.insert("SKILL.md", b"SKILL.md".to_vec()).unwrap();
        assert_ne!(one.digest(), other.digest());
        other.insert("a/b", b"a/c".to_vec()).unwrap();
        assert_ne!(one.digest(), other.digest());
        assert_eq!(one.digest(), tree(&["a/b", "SKILL.md"]).unwrap().digest());
    }

    #[test]
    fn one_folder_around_it_is_taken_off() {
        let packed = tree(&["web/SKILL.md", "web/a.py"]).unwrap().unwrapped();
        assert!(packed.file("SKILL.md").is_some() && packed.file("a.py").is_some());
        let two = tree(&["web/SKILL.md", "b/a.py"]).unwrap();
        assert_eq!(two.clone().unwrapped(), two);
    }

    #[test]
    fn limits_hold() {
        let mut tree = Tree::default();
        assert_eq!(
            tree.insert("a", vec![0; FILE_BYTES_MAX + 1]),
            Err(TreeError::FileBytes("a".to_owned()))
        );
        for at in 0..TREE_BYTES_MAX / FILE_BYTES_MAX {
            tree.insert(&at.to_string(), vec![0; FILE_BYTES_MAX]).unwrap();
        }
        assert_eq!(tree.insert("b", vec![0]), Err(TreeError::TreeBytes));
        let mut many = Tree::default();
        for at in 0..FILES_MAX {
            many.insert(&at.to_string(), Vec::new()).unwrap();
        }
        assert_eq!(many.insert("b", Vec::new()), Err(TreeError::Files));
    }
}
