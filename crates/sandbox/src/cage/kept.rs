//! What was not there when a command began and would be obeyed if it were there now: it is set aside when the command has
//! ended, and told.
//!
//! What is there is mounted over and cannot be changed. A name that is not there cannot be forbidden in a directory that
//! may be written. So until the command has ended such a file is there for whoever looks meanwhile, and it stays if we
//! are killed before; then the next cage keeps it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::places;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, openat2, readlinkat,
    renameat_with, statat, symlinkat,
};

use super::git;

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
}

/// How one place looked.
#[derive(Debug)]
enum Before {
    Nothing,
    /// A link cannot be mounted over.
    Link(PathBuf),
}

impl Kept {
    /// Looks at the places of these workspaces. What is a file or directory is kept by other means.
    pub(crate) fn of(workspaces: &[PathBuf]) -> Self {
        let mut before = Vec::new();
        for workspace in workspaces {
            for place in places_and_above() {
                let at = workspace.join(&place);
                match at.symlink_metadata() {
                    Err(_) => before.push((workspace.clone(), place, Before::Nothing)),
                    Ok(meta) if meta.is_symlink() => {
                        if let Ok(target) = std::fs::read_link(&at) {
                            before.push((workspace.clone(), place, Before::Link(target)));
                        }
                    }
                    Ok(_) => {}
                }
            }
        }
        Self { before }
    }

    /// Sets aside what is new. Nothing of the command runs any more.
    pub(crate) fn restore(&mut self) -> Vec<SetAside> {
        let all = std::mem::take(&mut self.before);
        all.iter()
            .filter_map(|(workspace, place, before)| restore(workspace, place, before))
            .collect()
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

fn restore(workspace: &Path, place: &Path, before: &Before) -> Option<SetAside> {
    let name = place.file_name()?;
    // By way of real directories only: a link that was made above would lead us to somebody else's files.
    let above = workspace.join(place.parent()?);
    let above_fd = open_dir(&above).ok()?;
    let now = statat(&above_fd, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let kind = now.map(|it| FileType::from_raw_mode(it.st_mode));
    let target = match before {
        Before::Nothing => None,
        Before::Link(target) => Some(target),
    };
    match (kind, target) {
        // A new directory above others may stay: what is in it is looked at next.
        (Some(FileType::Directory), None) if !is_kept(place) => return None,
        (Some(FileType::Symlink), Some(target))
            if readlinkat(&above_fd, name, Vec::new())
                .is_ok_and(|it| it.as_bytes() == target.as_os_str().as_encoded_bytes()) =>
        {
            return None;
        }
        (None, None) => return None,
        // A repository that the command has made is one that git has made.
        (Some(_), None) if git::made_harmless(place, &above_fd) => return None,
        (Some(_), None) | (None | Some(_), Some(_)) => {}
    }
    let moved = match kind {
        Some(_) => set_aside(&above_fd, name).ok().map(|it| above.join(it)),
        None => None,
    };
    if let Some(target) = target {
        let _in_the_way = symlinkat(target, &above_fd, name);
    }
    Some(SetAside { at: workspace.join(place), now: moved })
}

fn is_kept(place: &Path) -> bool {
    places::KEPT_IN_WORKSPACE.iter().any(|it| Path::new(it) == place)
}

fn open_dir(at: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat2(CWD, at, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
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
