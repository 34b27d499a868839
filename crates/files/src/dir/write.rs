//! Changing what lies in a confined directory: whole or not at all, and durable when a call returns.
//!
//! No file is written into. What is replaced gets a new file under its name, so that another name of the
//! old one, outside perhaps, keeps what it had.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat as RawStat};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use super::list::each_name;
use super::{Dir, DirError, Kind, Stat, open};
use crate::Relative;
use crate::private::random_name;

const FILE_MODE: Mode = Mode::from_raw_mode(0o644);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o755);

impl Dir {
    /// Makes a file that is not there.
    ///
    /// # Errors
    /// If something has its name, or one that some disks take for the same.
    pub fn create(&self, path: &Relative, bytes: &[u8]) -> Result<(), DirError> {
        let (folder, name) = self.place(path)?;
        no_twin(&folder, path, name)?;
        put(&folder, path, name, bytes, FILE_MODE, RenameFlags::NOREPLACE)
    }

    /// Puts a file in the place of one, or where there is none.
    ///
    /// # Errors
    /// If something else than a plain file is there.
    pub fn replace(&self, path: &Relative, bytes: &[u8]) -> Result<(), DirError> {
        let (folder, name) = self.place(path)?;
        match look(&folder, path, name)? {
            None => {
                no_twin(&folder, path, name)?;
                put(&folder, path, name, bytes, FILE_MODE, RenameFlags::NOREPLACE)
            }
            Some(raw) => {
                Stat::of(&raw).plain(path)?;
                let mode = Mode::from_raw_mode(raw.st_mode & 0o777);
                put(&folder, path, name, bytes, mode, RenameFlags::empty())
            }
        }
    }

    /// Makes a folder, and those that it lies in. One that is there is left as it is.
    ///
    /// # Errors
    /// If something else is there, or a name that some disks take for the same.
    pub fn create_folders(&self, path: &Relative) -> Result<(), DirError> {
        let mut at = Relative::base();
        for name in path.names() {
            let below = at.child(name)?;
            let folder = open::folder(&self.fd, &at)?;
            if look(&folder, &below, name)?.is_none() {
                no_twin(&folder, &below, name)?;
                match rustix::fs::mkdirat(&folder, name, FOLDER_MODE) {
                    Ok(()) => sync(&folder, &below)?,
                    // Somebody else was quicker; what it is is seen at the next step.
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(DirError::of(&below, error)),
                }
            }
            at = below;
        }
        open::folder(&self.fd, path).map(|_| ())
    }

    /// Removes a file, or a link as such.
    ///
    /// # Errors
    /// If there is none, or it is a folder.
    pub fn remove(&self, path: &Relative) -> Result<(), DirError> {
        let (folder, name) = self.place(path)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty())
            .map_err(|error| DirError::of(path, error))?;
        sync(&folder, path)
    }

    /// Gives a plain file another name, at which there is nothing.
    ///
    /// # Errors
    /// If it is something else, or something has the new name.
    pub fn rename(&self, from: &Relative, to: &Relative) -> Result<(), DirError> {
        let (old_folder, old) = self.place(from)?;
        let (new_folder, new) = self.place(to)?;
        if let Some(raw) = look(&old_folder, from, old)?
            && Stat::of(&raw).kind != Kind::Folder
        {
            Stat::of(&raw).plain(from)?;
        }
        no_twin(&new_folder, to, new)?;
        rename(&old_folder, old, &new_folder, new, RenameFlags::NOREPLACE)
            .map_err(|error| DirError::of(if error == Errno::NOENT { from } else { to }, error))?;
        sync(&old_folder, from)?;
        sync(&new_folder, to)
    }

    /// The folder in which a path lies, held open, and the name there.
    fn place<'a>(&self, path: &'a Relative) -> Result<(OwnedFd, &'a str), DirError> {
        let Some((folder, name)) = path.split_last() else {
            return Err(DirError::IsFolder { path: path.clone() });
        };
        Ok((open::folder(&self.fd, &folder)?, name))
    }
}

/// What has a name in a folder; links as such.
fn look(folder: &OwnedFd, path: &Relative, name: &str) -> Result<Option<RawStat>, DirError> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(DirError::of(path, error)),
    }
}

/// Writes a new file beside the name and then gives it the name.
fn put(
    folder: &OwnedFd,
    path: &Relative,
    name: &str,
    bytes: &[u8],
    mode: Mode,
    how: RenameFlags,
) -> Result<(), DirError> {
    let temporary = random_name().map_err(|error| DirError::io(path, error))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(folder, &*temporary, flags, mode);
    let mut file = File::from(fd.map_err(|error| DirError::of(path, error))?);
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(|error| DirError::io(path, error))
        .and_then(|()| {
            let renamed = rename(folder, &temporary, folder, name, how);
            renamed.map_err(|error| DirError::of(path, error))
        });
    if written.is_err() {
        // Best effort: the first error is the one to tell.
        let _ = rustix::fs::unlinkat(folder, &*temporary, AtFlags::empty());
    }
    written.and_then(|()| sync(folder, path))
}

fn rename(
    old_folder: &OwnedFd,
    old: &str,
    new_folder: &OwnedFd,
    new: &str,
    how: RenameFlags,
) -> Result<(), Errno> {
    if how.is_empty() {
        return rustix::fs::renameat(old_folder, old, new_folder, new);
    }
    match rustix::fs::renameat_with(old_folder, old, new_folder, new, how) {
        // A disk that cannot: two names for a moment, and the first one gone.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(old_folder, old, new_folder, new, AtFlags::empty())?;
            rustix::fs::unlinkat(old_folder, old, AtFlags::empty())
        }
        done => done,
    }
}

fn sync(folder: &OwnedFd, path: &Relative) -> Result<(), DirError> {
    rustix::fs::fsync(folder).map_err(|error| DirError::of(path, error))
}

/// A disk that does not see case, or the form of an accent, would take two names for one.
fn no_twin(folder: &OwnedFd, path: &Relative, name: &str) -> Result<(), DirError> {
    let wanted = folded(name);
    let mut twin = None;
    each_name(folder, path, |other| {
        let same = other.to_str().ok().filter(|it| folded(it) == wanted);
        twin = same.map(str::to_owned);
        twin.is_none()
    })?;
    match twin {
        Some(with) => Err(DirError::Exists { path: path.clone(), with }),
        None => Ok(()),
    }
}

/// As the disks that see the least see it.
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let lower: String =
        name.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    lower.nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_disk_takes_for_one() {
        for (one, other) in [
            ("A.md", "a.md"),
            ("é", "e\u{301}"),
            ("ﬁle", "file"),
            ("Straße", "STRASSE"),
            ("K", "\u{212a}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("a"), folded("b"));
    }
}
