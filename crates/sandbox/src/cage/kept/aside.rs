//! Something that a command has made where nobody may: it gets another name, in the same directory.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{
    AtFlags, FileType, RenameFlags, Stat, readlinkat, renameat_with, statat, symlinkat,
};
use rustix::io::Errno;

use super::super::fresh::random;
use super::super::nested::Nested;
use super::super::{git, reach};

/// What the new name ends with.
const ENDING: &str = "set-aside";
/// Numbers that are tried, before one that a command cannot have taken.
const NUMBERS_MAX: u32 = 100;

/// Something that a command has made where nobody may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Where it was made.
    pub at: PathBuf,
    /// Where it is now; none if it could not be moved, or is no work of the command's but came to lie open to it: the
    /// operator must be told.
    pub now: Option<PathBuf>,
}

/// A name at which something would be obeyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) at: PathBuf,
    /// It is only on the way to something that would be: a new directory may stay.
    pub(super) is_above: bool,
}

/// How one place looked.
#[derive(Debug)]
pub(super) enum Before {
    Nothing,
    /// A link cannot be mounted over.
    Link(PathBuf),
}

/// Among what a place is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) workspaces: &'a [PathBuf],
    pub(super) nested: &'a Nested,
    /// What the person lets the command change.
    pub(super) changed: &'a [PathBuf],
}

/// Puts a place back as it was, unless what is there now is harmless.
pub(super) fn restore(place: &Place, before: &Before, around: Around<'_>) -> Option<SetAside> {
    let Around { workspaces, nested, changed } = around;
    if changed.iter().any(|it| place.at.starts_with(it)) {
        return None;
    }
    let (above, name) = (place.at.parent()?, place.at.file_name()?);
    // By way of real directories only: a link that was made above would lead us to somebody else's files.
    if !workspaces.iter().any(|it| above.starts_with(it)) {
        return None;
    }
    // As most are.
    if matches!(before, Before::Nothing) && git::is_absent(&place.at) {
        return None;
    }
    let above_fd = reach::open_dir(above).ok()?;
    let kind = named(&above_fd, name).map(|it| FileType::from_raw_mode(it.st_mode));
    let target = match before {
        Before::Nothing => None,
        Before::Link(target) => Some(target),
    };
    match (kind, target) {
        // A new directory above others may stay: what is in it is looked at next.
        (Some(FileType::Directory), None) if place.is_above => return None,
        (Some(FileType::Symlink), Some(target))
            if readlinkat(&above_fd, name, Vec::new())
                .is_ok_and(|it| it.as_bytes() == target.as_os_str().as_encoded_bytes()) =>
        {
            return None;
        }
        (None, None) => return None,
        // A repository that the command has made is one that git has made.
        (Some(_), None) if git::made_harmless(name, &above_fd, above) => return None,
        (Some(FileType::RegularFile), None)
            if name == ".git"
                && git::leads_to_harmless(above, workspaces, &|it| nested.has_repository(it)) =>
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
    Some(SetAside { at: place.at.clone(), now: moved })
}

/// What this name stands for, if it is there. A directory that the command has closed to us is opened.
fn named(dir: &OwnedFd, name: &OsStr) -> Option<Stat> {
    let ask = || statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
    match ask() {
        Err(Errno::ACCESS) => reach::open_up(dir).ok().and_then(|()| ask().ok()),
        asked => asked.ok(),
    }
}

/// Gives it another name in the same directory, over nothing that is there.
fn set_aside(above: &OwnedFd, name: &OsStr) -> io::Result<PathBuf> {
    let numbers = (1..=NUMBERS_MAX).map(|it| Ok(u64::from(it)));
    for number in numbers.chain(std::iter::once_with(random)) {
        let mut to = name.to_owned();
        to.push(format!(".{ENDING}-{}", number?));
        let rename = || renameat_with(above, name, above, &to, RenameFlags::NOREPLACE);
        let renamed = match rename() {
            Err(Errno::ACCESS) => reach::open_up(above).and_then(|()| Ok(rename()?)),
            renamed => renamed.map_err(io::Error::from),
        };
        match renamed {
            Ok(()) => return Ok(to.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many were set aside already"))
}
