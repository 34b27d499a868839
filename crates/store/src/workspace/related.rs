//! Workspaces inside each other: what is known of one counts in the others.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use aegx::Digest;

use super::error::WorkspaceError;
use super::files;
use super::manifest::{Manifest, joined};
use super::marks::{Mark, Marks, WHOLE};

/// Workspaces around and inside of one that are looked at. With more no session begins.
pub const RELATED_MAX: usize = 256;
/// The longest path of a workspace.
const ROOT_BYTES_MAX: u64 = 1 << 16;
/// How the file ends that holds the path of a workspace.
const ROOT: &str = ".root";
/// How often the locks are taken anew because another workspace became known meanwhile.
const TRIES_MAX: usize = 16;

/// Another workspace that shares files with ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Related {
    /// Under which the registry knows it.
    pub(super) key: String,
    pub(super) root: PathBuf,
    pub(super) side: Side,
}

/// How the other workspace lies to ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Ours is in it, under this path.
    Around(String),
    /// It is in ours, under this path.
    Inside(String),
}

impl Side {
    /// The path in our workspace of a path in the other one; none if it is not in ours.
    fn ours(&self, path: &str) -> Option<String> {
        match self {
            Self::Around(_) if path == WHOLE => Some(WHOLE.to_owned()),
            // The name of a folder that we are in: an agent sees it wherever it looks.
            Self::Around(at) if is_in(at, path) => Some(WHOLE.to_owned()),
            Self::Around(at) => path.strip_prefix(at)?.strip_prefix('/').map(str::to_owned),
            Self::Inside(at) if path == WHOLE => Some(at.clone()),
            Self::Inside(at) => Some(format!("{at}/{path}")),
        }
    }
}

impl Related {
    /// A file that the registry in `dir` keeps of it.
    pub(super) fn file(&self, dir: &Path, what: &str) -> PathBuf {
        dir.join(format!("{}.{what}", self.key))
    }

    fn marks(&self, dir: &Path) -> Result<Option<Marks>, WorkspaceError> {
        Marks::load(&self.file(dir, "marks"))
    }

    /// Its marks, as marks of ours.
    pub(super) fn marks_of_ours(&self, dir: &Path) -> Result<Vec<Mark>, WorkspaceError> {
        Ok(self.translated(self.marks(dir)?.unwrap_or_default().files.into_values()))
    }

    fn translated(&self, marks: impl Iterator<Item = Mark>) -> Vec<Mark> {
        let ours = |it: Mark| Some(Mark { path: self.side.ours(&it.path)?, ..it });
        marks.filter_map(ours).collect()
    }

    /// Joins what is known of it to what is known of ours. Was anything?
    pub(super) fn join(
        &self,
        dir: &Path,
        marks: &mut Marks,
        seen: &Manifest,
    ) -> Result<bool, WorkspaceError> {
        let Some(known) = self.marks(dir)? else { return Ok(false) };
        let has_history = known.has_history();
        if let (Side::Inside(at), Some(whole)) = (&self.side, known.files.get(WHOLE)) {
            for path in seen.entries.keys().filter(|it| is_in(it, at)) {
                marks.add(Mark { path: path.clone(), ..whole.clone() }, None);
            }
        }
        let Marks { files, contents, secrets, crowded, sidecar: _ } = known;
        marks.know(contents, crowded);
        marks.keep_secret(secrets);
        for mark in self.translated(files.into_values()) {
            marks.add(mark, None);
        }
        Ok(has_history)
    }

    /// Takes a mark away that a person has cleared in ours, and what is known of its content. The
    /// mark of all of a larger workspace is about more than they looked at, and stays.
    pub(super) fn clear(
        &self,
        dir: &Path,
        path: &str,
        content: Option<&Digest>,
    ) -> Result<(), WorkspaceError> {
        let Some(mut marks) = self.marks(dir)? else { return Ok(()) };
        let is_around = matches!(self.side, Side::Around(_));
        marks.files.retain(|it, _| {
            (is_around && it == WHOLE) || self.side.ours(it).as_deref() != Some(path)
        });
        content.and_then(|it| marks.contents.remove(it));
        marks.save(&self.file(dir, "marks"))
    }

    /// Puts the tree as it was looked at last from there into a picture of ours.
    pub(super) fn picture(&self, theirs: Manifest, picture: &mut Manifest) {
        match &self.side {
            Side::Around(_) => picture.entries.clear(),
            Side::Inside(at) => picture.entries.retain(|path, _| !is_in(path, at)),
        }
        let ours = theirs.entries.into_iter().filter_map(|(it, entry)| {
            self.side.ours(&it).filter(|it| it != WHOLE).map(|it| (it, entry))
        });
        picture.entries.extend(ours);
    }
}

/// Makes a workspace known to the others.
pub(super) fn register(dir: &Path, key: &str, root: &Path) -> Result<(), WorkspaceError> {
    let path = dir.join(format!("{key}{ROOT}"));
    let known = files::read(&path, ROOT_BYTES_MAX).map_err(WorkspaceError::io(&path))?;
    if known.as_deref() == Some(root.as_os_str().as_bytes()) {
        return Ok(());
    }
    files::replace(&path, root.as_os_str().as_bytes()).map_err(WorkspaceError::io(&path))
}

/// The workspaces around and inside of `root`: the outermost first.
pub(super) fn of(dir: &Path, root: &Path) -> Result<Vec<Related>, WorkspaceError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(WorkspaceError::io(dir))? {
        let name = entry.map_err(WorkspaceError::io(dir))?.file_name();
        let Some(key) = name.to_str().and_then(|it| it.strip_suffix(ROOT)) else { continue };
        let path = dir.join(&name);
        let bytes = files::read(&path, ROOT_BYTES_MAX).map_err(WorkspaceError::io(&path))?;
        let Some(bytes) = bytes else { continue };
        let other = Path::new(OsStr::from_bytes(&bytes));
        let side = match (root.strip_prefix(other), other.strip_prefix(root)) {
            (Ok(_), Ok(_)) | (Err(_), Err(_)) => continue,
            (Ok(below), Err(_)) => Side::Around(as_name(below)),
            (Err(_), Ok(below)) => Side::Inside(as_name(below)),
        };
        // INVARIANT (FailClosed): one that is not looked at could hold any label.
        if found.len() >= RELATED_MAX {
            return Err(WorkspaceError::TooManyInside { path: root.to_owned() });
        }
        found.push(Related { key: key.to_owned(), root: other.to_owned(), side });
    }
    found.sort_by(|a, b| a.root.cmp(&b.root));
    Ok(found)
}

/// Takes the locks of a workspace and of all that share files with it, always in the same order.
pub(super) fn lock(
    dir: &Path,
    key: &str,
    root: &Path,
) -> Result<(Vec<Related>, Vec<File>), WorkspaceError> {
    let mut related = of(dir, root)?;
    for _ in 0..TRIES_MAX {
        let mut keys: Vec<_> = related.iter().map(|it| it.key.as_str()).chain([key]).collect();
        keys.sort_unstable();
        let mut locks = Vec::new();
        for key in keys {
            let path = dir.join(format!("{key}.lock"));
            locks.push(files::lock(&path).map_err(WorkspaceError::io(&path))?);
        }
        // One that became known meanwhile may have been left already. Later ones wait for us.
        let again = of(dir, root)?;
        if again == related {
            return Ok((related, locks));
        }
        related = again;
    }
    Err(WorkspaceError::TooManyInside { path: root.to_owned() })
}

/// Is a path a folder's, or below it?
fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

/// A path as a manifest has it.
fn as_name(path: &Path) -> String {
    path.iter().fold(String::new(), |name, it| joined(&name, it.as_bytes()))
}
