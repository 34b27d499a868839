//! Names that say what a file or directory holds: the names of `model::places::names`, and where they are only samples.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use model::places::names::{self, Holds};
use model::places::{self, SECRET_DIRS, SECRET_FILES};

/// Names of directories with packages, caches and what compilers make.
const PACKAGES: &[&str] = &[
    ".cache",
    ".direnv",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".pnpm-store",
    ".pytest_cache",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    "DerivedData",
    "Pods",
    "__pycache__",
    "bower_components",
    "node_modules",
    "site-packages",
    "target",
    "venv",
];

/// Names of directories whose keys are there to try something with.
const SAMPLES: &[&str] = &[
    "__tests__",
    "example",
    "examples",
    "fixtures",
    "sample",
    "samples",
    "spec",
    "templates",
    "test",
    "test-data",
    "testdata",
    "testing",
    "tests",
    "vendor",
];

/// Is a directory of this name one with packages, caches or what compilers make?
pub(super) fn is_of_packages(name: &[u8]) -> bool {
    PACKAGES.iter().any(|it| it.as_bytes() == name)
}

/// Is it a file in which programs put a key that they make?
pub(super) fn is_key(name: &[u8]) -> bool {
    const ENDS: &[&str] = &[".jks", ".key", ".keystore", ".p12", ".p8", ".pem", ".pfx"];
    ENDS.iter().any(|it| has_end(name, it))
}

/// Does a file of this name instruct agents, or does an editor run something of it, wherever it lies?
pub(super) fn is_obeyed(name: &[u8]) -> bool {
    places::INSTRUCTING.iter().any(|it| is(it, name)) || is_opened_by_editors(name)
}

/// Is it one that an editor opens, and runs something of?
pub(super) fn is_opened_by_editors(name: &[u8]) -> bool {
    places::KEPT_ENDS.iter().any(|it| has_end(name, it))
}

fn has_end(name: &[u8], end: &str) -> bool {
    let last = name.len().checked_sub(end.len()).and_then(|at| name.get(at..));
    last.is_some_and(|it| is(end, it))
}

type ByLastPart = HashMap<Vec<u8>, Vec<(&'static str, &'static str)>>;

/// Places of several parts, by the last directory above each in small letters: that directory, and the name in it. This is
/// asked for every directory that is looked through.
static BY_LAST_PART: LazyLock<ByLastPart> = LazyLock::new(|| {
    let mut by_last = ByLastPart::new();
    for place in names::PLACES.iter().chain(SECRET_DIRS).chain(SECRET_FILES) {
        // One that has a single part is another place elsewhere.
        let Some((above, name)) = place.rsplit_once('/') else { continue };
        let last = above.rsplit('/').next().unwrap_or(above);
        by_last.entry(last.to_ascii_lowercase().into_bytes()).or_default().push((above, name));
    }
    by_last
});

/// A directory whose entries are judged by their names, and by where they lie.
pub(super) struct Within {
    /// Names in it that stand for a secret because of the directories above.
    here: Vec<&'static str>,
}

impl Within {
    pub(super) fn of(dir: &Path) -> Self {
        let mut here = Vec::new();
        if let Some(last) = dir.file_name() {
            let last = last.as_encoded_bytes().to_ascii_lowercase();
            for (above, name) in BY_LAST_PART.get(last.as_slice()).into_iter().flatten() {
                if ends_with(dir, above) {
                    here.push(*name);
                }
            }
        }
        Self { here }
    }

    /// Does a file of this name hold secrets, and no examples of such? In whatever case: some disks do not look at it.
    pub(super) fn is_secret(&self, name: &[u8], has_samples: bool) -> bool {
        self.has(name)
            || match names::holds(&lower(name)) {
                Holds::Secret => true,
                Holds::Usually => !has_samples,
                Holds::Key | Holds::Nothing => false,
            }
    }

    /// Does a directory of this name?
    pub(super) fn is_secret_dir(&self, name: &[u8]) -> bool {
        let lower = lower(name);
        self.has(name) || names::is_environment(&lower) || names::is_secret_directory(&lower)
    }

    fn has(&self, name: &[u8]) -> bool {
        self.here.iter().any(|it| is(it, name))
    }
}

fn is(name: &str, seen: &[u8]) -> bool {
    name.as_bytes().eq_ignore_ascii_case(seen)
}

fn lower(name: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(plain) if !plain.bytes().any(|it| it.is_ascii_uppercase()) => {
            Cow::Borrowed(plain)
        }
        other @ (Cow::Borrowed(_) | Cow::Owned(_)) => Cow::Owned(other.to_ascii_lowercase()),
    }
}

/// Are these parts the last ones of a path?
fn ends_with(dir: &Path, parts: &str) -> bool {
    let mut own = dir.iter().rev();
    parts.rsplit('/').all(|part| own.next().is_some_and(|it| is(part, it.as_encoded_bytes())))
}

/// Are keys in this directory, seen from its workspace, there to try something with?
pub(super) fn are_of_samples(dir: &Path) -> bool {
    dir.iter().any(|part| SAMPLES.iter().any(|it| part == *it))
}
