//! What lies in a few directories, by one look at each: of some three hundred places that are asked for before every
//! command, hardly any is there.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::entries;

/// Entries of a directory that are listed; for a larger one each place is asked for.
const LISTED_MAX: usize = 1024;

/// Directories and the names in them.
pub(crate) struct Listing(Vec<(PathBuf, HashSet<Vec<u8>>)>);

impl Listing {
    /// Looks at each of these once. One that cannot be read, or has too much in it, is left out.
    pub(crate) fn of<'a>(dirs: impl IntoIterator<Item = &'a Path>) -> Self {
        let named = |dir: &'a Path| Some((dir.to_owned(), names(dir)?));
        Self(dirs.into_iter().filter_map(named).collect())
    }

    /// May it be there? A yes is no answer yet.
    pub(crate) fn may_have(&self, path: &Path) -> bool {
        // By bytes: this is asked some three hundred times.
        let path = path.as_os_str().as_bytes();
        self.0.iter().all(|(dir, names)| {
            let below = path.strip_prefix(dir.as_os_str().as_bytes());
            let Some(below) = below.and_then(|it| it.strip_prefix(b"/")) else { return true };
            let name = below.split(|it| *it == b'/').next().unwrap_or_default();
            name.is_empty() || names.contains(&folded(name))
        })
    }
}

/// The names in a directory, without their case: some filesystems do not look at it either.
fn names(dir: &Path) -> Option<HashSet<Vec<u8>>> {
    let mut names = HashSet::new();
    let mut is_whole = true;
    let read = entries::each(&entries::open(dir).ok()?, |name, _| {
        let name = name.to_bytes();
        // Where case does not matter, a letter beyond ASCII may stand for one of its own.
        is_whole = name.is_ascii() && names.len() < LISTED_MAX;
        if !is_whole {
            return ControlFlow::Break(());
        }
        names.insert(folded(name));
        ControlFlow::Continue(())
    });
    (is_whole && read.is_ok()).then_some(names)
}

fn folded(name: &[u8]) -> Vec<u8> {
    name.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_not_listed_is_not_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".SSH")).unwrap();
        fs::File::create(dir.path().join("file")).unwrap();
        let listing = Listing::of([dir.path()]);
        for there in [".ssh", ".SSH/id", "file", "FILE", "file/below", ""] {
            assert!(listing.may_have(&dir.path().join(there)), "{there}");
        }
        assert!(!listing.may_have(&dir.path().join(".aws")));
        assert!(!listing.may_have(&dir.path().join(".config/gh")));
        // Of other places nothing is known.
        assert!(listing.may_have(Path::new("/elsewhere")) && listing.may_have(Path::new("/")));
    }

    #[test]
    fn what_cannot_be_listed_may_have_anything() {
        let dir = tempfile::tempdir().unwrap();
        let may_have = || Listing::of([dir.path()]).may_have(&dir.path().join(".aws"));
        assert!(!may_have());
        fs::File::create(dir.path().join(".\u{17f}\u{17f}h")).unwrap();
        assert!(may_have(), "a letter that may stand for another");
        fs::remove_file(dir.path().join(".\u{17f}\u{17f}h")).unwrap();
        for number in 0..LISTED_MAX {
            fs::File::create(dir.path().join(number.to_string())).unwrap();
        }
        assert!(!may_have());
        fs::File::create(dir.path().join("more")).unwrap();
        assert!(may_have(), "too many");
        let gone = Path::new("/lazaret/is/not/there");
        assert!(Listing::of([gone]).may_have(&gone.join("a")));
    }
}
