//! What was not there when a command began and would be obeyed if it were there now: it is set aside when the command has
//! ended, and told. So are settings and hooks of repositories that it has made anywhere in a workspace, unless they are
//! what git itself makes.
//!
//! What is there is mounted over and cannot be changed. A name that is not there cannot be forbidden in a directory that
//! may be written. So such a file is there for a moment, until we look again, and it stays if we are killed before; then the
//! next cage keeps it.

use std::io;
use std::os::fd::OwnedFd;
#[cfg(not(target_os = "linux"))]
use std::path::Component;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::places;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, readlinkat, renameat_with, statat, symlinkat,
};

use super::error::CageError;
use super::git;
use super::given::real;
use super::nested::Nested;

/// What the new name ends with.
const ENDING: &str = "set-aside";
/// Names that are tried.
const NAMES_MAX: u32 = 1000;

/// Something that a command has made where nobody may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Where it was made.
    pub at: PathBuf,
    /// Where it is now; none if it could not be moved, which the operator must be told.
    pub now: Option<PathBuf>,
}

/// How the places of all workspaces looked before.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    before: Vec<(PathBuf, PathBuf, Before)>,
    nested: Nested,
    workspaces: Vec<PathBuf>,
    /// Where files of git lead that lead nowhere yet.
    nowhere: Vec<PathBuf>,
    /// What was set aside while the command ran.
    meanwhile: Vec<SetAside>,
}

/// How often we look whether something was made that somebody outside would obey.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often a command may make one of these places while it runs.
const AGAIN_MAX: usize = 10;
/// Places that are looked at while it runs: those of the workspaces, and of about twenty repositories in them.
const LOOKED_AT_MAX: usize = 500;

/// What git obeys of a repository that was not there before, seen from the directory that it is in.
const OF_NEW_REPOSITORIES: &[&str] =
    &[".git", ".git/commondir", ".git/config", ".git/config.worktree", ".git/hooks"];
/// The same of a directory that is a repository itself.
const OF_NEW_BARE: &[&str] = &["commondir", "config", "config.worktree", "hooks"];

/// How one place looked.
#[derive(Debug)]
enum Before {
    Nothing,
    /// A link cannot be mounted over.
    Link(PathBuf),
}

impl Kept {
    /// Looks at the places of these workspaces and of the repositories in them. What is a file or directory is kept by
    /// other means.
    pub(crate) fn of(workspaces: &[PathBuf], nested: Nested) -> Self {
        let mut kept = Self { workspaces: workspaces.to_vec(), ..Self::default() };
        let places = places_and_above();
        for root in nested.roots() {
            for place in &places {
                let at = root.join(place);
                match at.symlink_metadata() {
                    Err(_) => kept.before.push((root.clone(), place.clone(), Before::Nothing)),
                    Ok(meta) if meta.is_symlink() => {
                        if let Ok(target) = std::fs::read_link(&at) {
                            kept.before.push((root.clone(), place.clone(), Before::Link(target)));
                        }
                    }
                    Ok(_) => {}
                }
            }
            kept.nowhere.extend(git::led_to(root).filter(|it| !it.exists()));
        }
        kept.nested = nested;
        kept
    }

    /// Sets aside what is new while the command still runs.
    ///
    /// To be told by the kernel would be quicker, but it takes 20 ms to stop being told.
    ///
    /// # Errors
    ///
    /// It makes the same again and again: sooner or later somebody outside would obey it.
    pub(crate) fn look(&mut self) -> Result<(), CageError> {
        for (root, place, before) in self.before.iter().take(LOOKED_AT_MAX) {
            // What was taken away is put back at the end: it may be about to be made anew.
            if root.join(place).symlink_metadata().is_ok() {
                self.meanwhile.extend(restore(root, place, before, &self.workspaces));
            }
        }
        let again = self
            .meanwhile
            .iter()
            .find(|it| self.meanwhile.iter().filter(|other| other.at == it.at).count() > AGAIN_MAX);
        match again {
            Some(it) => {
                let step = format!("keep {}", it.at.display());
                Err(CageError::step(step, "the command makes it again and again"))
            }
            None => Ok(()),
        }
    }

    /// Sets aside what is new. Nothing of the command runs any more.
    pub(crate) fn restore(&mut self) -> Vec<SetAside> {
        let Self { before, nested, workspaces, nowhere, meanwhile } = std::mem::take(self);
        let mut aside = meanwhile;
        for (root, place, before) in &before {
            aside.extend(restore(root, place, before, &workspaces));
        }
        let made = nested.made();
        let new = |roots: &[PathBuf], places: &[&str]| -> Vec<SetAside> {
            let each = roots.iter().flat_map(|root| places.iter().map(move |it| (root, it)));
            each.filter_map(|(root, place)| {
                restore(root, Path::new(place), &Before::Nothing, &workspaces)
            })
            .collect()
        };
        let nowhere: Vec<PathBuf> = nowhere.iter().filter_map(|it| real(it)).collect();
        aside.extend(new(&made.repositories, OF_NEW_REPOSITORIES));
        aside.extend(new(&made.bare, OF_NEW_BARE));
        aside.extend(new(&nowhere, OF_NEW_BARE));
        if made.is_cut {
            // Nobody knows what else is there.
            aside.extend(workspaces.iter().map(|it| SetAside { at: it.clone(), now: None }));
        }
        aside
    }
}

/// Every place, and before it the directory that it lies in.
fn places_and_above() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for place in places::KEPT_IN_WORKSPACE.iter().map(Path::new) {
        let above = place.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
        for it in above.chain([place]).map(Path::to_owned) {
            if !all.contains(&it) {
                all.push(it);
            }
        }
    }
    all
}

fn restore(root: &Path, place: &Path, before: &Before, workspaces: &[PathBuf]) -> Option<SetAside> {
    let name = place.file_name()?;
    // By way of real directories only: a link that was made above would lead us to somebody else's files.
    let above = root.join(place.parent()?);
    if !workspaces.iter().any(|it| above.starts_with(it)) {
        return None;
    }
    let above_fd = open_dir(&above).ok()?;
    let now = statat(&above_fd, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let kind = now.map(|it| FileType::from_raw_mode(it.st_mode));
    let target = match before {
        Before::Nothing => None,
        Before::Link(target) => Some(target),
    };
    match (kind, target) {
        // A new directory above others may stay: what is in it is looked at next.
        (Some(FileType::Directory), None) if is_above(place) => return None,
        (Some(FileType::Symlink), Some(target))
            if readlinkat(&above_fd, name, Vec::new())
                .is_ok_and(|it| it.as_bytes() == target.as_os_str().as_encoded_bytes()) =>
        {
            return None;
        }
        (None, None) => return None,
        // A repository that the command has made is one that git has made.
        (Some(_), None) if git::made_harmless(name, &above_fd) => return None,
        (Some(FileType::RegularFile), None)
            if name == ".git" && git::leads_to_harmless(&above, workspaces) =>
        {
            return None;
        }
        (Some(_), None) | (None | Some(_), Some(_)) => {}
    }
    let moved = match kind {
        Some(_) => set_aside(&above_fd, name).ok().map(|it| above.join(it)),
        None => None,
    };
    if let Some(target) = target {
        let _in_the_way = symlinkat(target, &above_fd, name);
    }
    Some(SetAside { at: root.join(place), now: moved })
}

/// Is it only on the way to something that is kept?
fn is_above(place: &Path) -> bool {
    let mut all = places::KEPT_IN_WORKSPACE.iter().map(Path::new);
    all.clone().all(|it| it != place) && all.any(|it| it.starts_with(place))
}

/// Opens a directory that no link leads to.
#[cfg(target_os = "linux")]
fn open_dir(at: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat2(CWD, at, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// The same name by name, where the kernel cannot do it in one step.
#[cfg(not(target_os = "linux"))]
fn open_dir(at: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut dir = rustix::fs::openat(CWD, "/", flags, Mode::empty())?;
    for part in at.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => {
                dir = rustix::fs::openat(&dir, name, flags, Mode::empty())?;
            }
            Component::Prefix(_) | Component::CurDir | Component::ParentDir => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain path"));
            }
        }
    }
    Ok(dir)
}

/// Gives it another name in the same directory, over nothing that is there.
fn set_aside(above: &OwnedFd, name: &std::ffi::OsStr) -> io::Result<PathBuf> {
    for number in 1..=NAMES_MAX {
        let mut to = name.to_owned();
        to.push(format!(".{ENDING}-{number}"));
        match renameat_with(above, name, above, &to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(to.into()),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("too many were set aside already"))
}
