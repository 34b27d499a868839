//! Trust in folders, as editors have it. In a folder that the user trusts, files and what commands print without a
//! network are the user's own; anywhere else they are outside content. What is trusted is asked once, kept, shown, and
//! can be taken back.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fetched::Fetched;
use crate::settings;

/// The file of the state directory.
const FILE: &str = "trust.json";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Folders that can be trusted.
const FOLDERS_MAX: usize = 1000;
/// Where the system's own files lie: nobody outside writes there without being root.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/sys"];

/// The folders that a user trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    folders: Vec<Trusted>,
    /// What lies in them and came from the network.
    #[serde(skip)]
    fetched: Vec<PathBuf>,
}

/// A folder that is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// The folder, without links.
    pub path: PathBuf,
    /// Who said so.
    pub by: String,
    /// When, in seconds since 1970.
    pub since: i64,
}

/// Why trust cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file.
    #[error("`{path}`: {error}")]
    Io {
        /// Which.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// What it says.
    #[error("`{path}` is not understood ({error}): nothing is trusted; mend it or remove it")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        error: String,
    },
    /// Too much would be trusted.
    #[error("`{0}` is too much to trust: name the folder of one project, or of your projects")]
    TooMuch(String),
    /// Too many.
    #[error("at most {FOLDERS_MAX} folders can be trusted")]
    TooMany,
}

impl Trust {
    /// Reads what is kept in the state directory `home`; nothing is trusted where nothing is kept.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn of(home: &Path) -> Result<Self, TrustError> {
        let path = home.join(FILE);
        let io = |error| TrustError::Io { path: path.display().to_string(), error };
        let bytes = files::private::read_if_there(&path, FILE_BYTES_MAX).map_err(io)?;
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let fetched = Fetched::of(home)?.places().iter().map(|it| it.path.clone()).collect();
        let unreadable = |error: String| {
            let path = path.display().to_string();
            TrustError::Unreadable { path, error }
        };
        let read: Self = serde_json::from_slice(&bytes).map_err(|it| unreadable(it.to_string()))?;
        // Whoever wrote it, more than can be trusted is not.
        let too_much = read.folders.iter().find(|it| is_too_much(&it.path));
        match too_much {
            Some(it) => Err(unreadable(format!("`{}` is too much to trust", it.path.display()))),
            None => Ok(Self { fetched, ..read }),
        }
    }

    /// Keeps it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, home: &Path) -> Result<(), TrustError> {
        let path = home.join(FILE);
        let io = |error| TrustError::Io { path: path.display().to_string(), error };
        let text = serde_json::to_vec_pretty(self).map_err(|error| io(error.into()))?;
        files::private::replace(&path, &text).map_err(io)
    }

    /// Trusts `folder`, which has no links in its name. Answers whether it was not trusted before.
    ///
    /// # Errors
    /// If it is the root, the home directory itself or a place of the system, or there are too many.
    pub fn add(&mut self, folder: Trusted, user_home: Option<&Path>) -> Result<bool, TrustError> {
        let holds_home = user_home.is_some_and(|it| it.starts_with(&folder.path));
        if holds_home || is_too_much(&folder.path) {
            return Err(TrustError::TooMuch(folder.path.display().to_string()));
        }
        if self.folders.iter().any(|it| it.path == folder.path) {
            return Ok(false);
        }
        if self.folders.len() >= FOLDERS_MAX {
            return Err(TrustError::TooMany);
        }
        self.folders.push(folder);
        Ok(true)
    }

    /// Takes trust in exactly this folder back. Answers whether it was trusted.
    pub fn remove(&mut self, folder: &Path) -> bool {
        let before = self.folders.len();
        self.folders.retain(|it| it.path != folder);
        self.folders.len() < before
    }

    /// The folders that are trusted.
    #[must_use]
    pub fn folders(&self) -> &[Trusted] {
        &self.folders
    }

    /// Does `path`, absolute and without links, lie in a folder that is trusted, and was not fetched into it?
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        let deepest = |all: &mut dyn Iterator<Item = &Path>| {
            all.filter(|it| path.starts_with(it)).map(|it| it.components().count()).max()
        };
        let trusted = deepest(&mut self.folders.iter().map(|it| it.path.as_path()));
        let fetched = deepest(&mut self.fetched.iter().map(PathBuf::as_path));
        // A clone in a trusted folder is not; a folder of it that a person trusts is. `None` is below every depth.
        trusted > fetched
    }

    /// Can somebody outside have written what `text` names, read from the folder `cwd`? What is trusted, the system's
    /// files and the user's own settings are nobody's from outside.
    #[must_use]
    pub fn is_foreign(&self, text: &str, cwd: &Path, user_home: Option<&Path>) -> bool {
        let path = place(text, cwd, user_home);
        // Where it really lies counts, too: a link may stand in a folder that is trusted.
        let real = real(&path);
        self.is_foreign_place(&path, user_home) || self.is_foreign_place(&real, user_home)
    }

    fn is_foreign_place(&self, path: &Path, user_home: Option<&Path>) -> bool {
        let is_system = SYSTEM.iter().any(|it| path.starts_with(it));
        let is_setting = user_home.is_some_and(|it| settings::is_own(path, it));
        !is_system && !is_setting && !self.covers(path)
    }
}

/// Where `path` lies as far as it is there, with its links followed.
pub(crate) fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|it| Some((it, files::resolved(it).ok()?)));
    let Some((above, found)) = there else { return path.to_owned() };
    let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
    found.components().chain(rest.components()).collect()
}

fn is_too_much(path: &Path) -> bool {
    let is_system = SYSTEM.iter().any(|it| path.starts_with(it));
    is_system || !path.is_absolute() || path.parent().is_none() || path.as_os_str() == "/tmp"
}

/// The place that `text` names, read from the folder `cwd`.
pub(crate) fn place(text: &str, cwd: &Path, user_home: Option<&Path>) -> PathBuf {
    match text.strip_prefix("~/").zip(user_home) {
        Some((rest, home)) => lexical(home, rest),
        None => lexical(cwd, text),
    }
}

/// `text` as read from `base`, with its dots taken away by the text alone.
fn lexical(base: &Path, text: &str) -> PathBuf {
    let mut parts: Vec<Component<'_>> = base.components().collect();
    for part in Path::new(text).components() {
        match part {
            Component::RootDir | Component::Prefix(_) => parts = vec![Component::RootDir],
            Component::ParentDir if parts.len() > 1 => drop(parts.pop()),
            Component::ParentDir | Component::CurDir => {}
            Component::Normal(_) => parts.push(part),
        }
    }
    parts.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(path: &str) -> Trusted {
        Trusted { path: path.into(), by: "me".to_owned(), since: 0 }
    }

    #[test]
    fn a_folder_covers_what_lies_in_it_and_nothing_beside_it() {
        let mut trust = Trust::default();
        assert!(trust.add(trusted("/home/me/src/one"), Some(Path::new("/home/me"))).unwrap());
        assert!(!trust.add(trusted("/home/me/src/one"), None).unwrap());
        assert!(trust.covers(Path::new("/home/me/src/one/deep/file")));
        assert!(!trust.covers(Path::new("/home/me/src/one-more")));
        let (cwd, home) = (Path::new("/home/me/src/one"), Some(Path::new("/home/me")));
        let is_foreign = |text: &str| trust.is_foreign(text, cwd, home);
        for own in ["src/main.rs", "./a/../b", "/usr/include/stdio.h", "~/.cargo/config.toml"] {
            assert!(!is_foreign(own), "{own}");
        }
        let elsewhere = ["../two/README.md", "/tmp/clone/x", "~/Downloads/a.txt", "a/../../../x"];
        for foreign in elsewhere.into_iter().chain(["~/.cargo/registry/src/index/a/README.md"]) {
            assert!(is_foreign(foreign), "{foreign}");
        }
        assert!(trust.remove(Path::new("/home/me/src/one")));
        assert!(!trust.remove(Path::new("/home/me/src/one")));
        assert!(is_foreign_of_nothing());
    }

    fn is_foreign_of_nothing() -> bool {
        Trust::default().is_foreign("src/main.rs", Path::new("/home/me/src/one"), None)
    }

    #[test]
    fn too_much_is_not_trusted() {
        for path in ["/", "/home", "/home/me", "/etc/x", "/tmp"] {
            let error = Trust::default().add(trusted(path), Some(Path::new("/home/me")));
            assert!(matches!(error, Err(TrustError::TooMuch(_))), "{path}");
        }
    }

    #[test]
    fn what_is_kept_is_read_back_and_rubbish_trusts_nothing() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(Trust::of(home.path()).unwrap(), Trust::default());
        let mut trust = Trust::default();
        trust.add(trusted("/srv/work"), None).unwrap();
        trust.keep(home.path()).unwrap();
        assert_eq!(Trust::of(home.path()).unwrap(), trust);
        files::private::replace(&home.path().join(FILE), b"{").unwrap();
        assert!(matches!(Trust::of(home.path()), Err(TrustError::Unreadable { .. })));
    }
}
