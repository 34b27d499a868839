//! A directory that holds whoever works in it.
//!
//! INVARIANT (Confined): every file is opened by the kernel beneath a held handle, in one step. No link is
//! followed, inside or out, and there is no moment between a look and a deed: what was opened is looked
//! at, not what had its name before.

mod error;
mod list;
mod names;
mod open;
mod raw;
mod write;

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, OFlags};

use crate::Relative;

pub use error::DirError;
pub use list::{Found, LIST_ENTRIES_MAX};

/// A directory. Nothing that is done through it happens outside of it.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A link. It is never followed.
    Link,
    /// A pipe, a socket, a device.
    Special,
}

/// What the kernel says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Its length.
    pub bytes: u64,
    /// How many names it has. One that has several may have one outside.
    pub links: u64,
    /// Device and number of it.
    pub id: (u64, u64),
    /// When its content changed, in nanoseconds since 1970, as anybody may set it.
    pub modified: i64,
    /// When anything of it changed, as the kernel says.
    pub changed: i64,
}

impl Dir {
    /// Opens the directory that the operator chose. Links on the way to it are theirs, and are followed.
    ///
    /// # Errors
    /// If it is none, or cannot be opened.
    pub fn open(base: &Path) -> Result<Self, DirError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(base, flags, rustix::fs::Mode::empty());
        Ok(Self { fd: fd.map_err(|error| DirError::of(&Relative::base(), error))? })
    }

    /// A folder in it, to work in that one alone.
    ///
    /// # Errors
    /// If it is none, or cannot be opened.
    pub fn open_dir(&self, path: &Relative) -> Result<Self, DirError> {
        Ok(Self { fd: open::folder(&self.fd, path)? })
    }

    /// Opens a plain file for reading. A pipe is not waited for.
    ///
    /// # Errors
    /// If there is none, if it is something else, or if it has another name that may lie outside.
    pub fn open_file(&self, path: &Relative) -> Result<(File, Stat), DirError> {
        let (file, stat) = self.open_any_file(path)?;
        if stat.links > 1 && !self.holds_every_name(&file, &stat) {
            return Err(DirError::OtherNames { path: path.clone() });
        }
        Ok((file, stat))
    }

    /// As [`open_file`](Self::open_file), for whoever opens many: other names are not looked for, and a file that has
    /// some is refused.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file), or if it has another name at all.
    pub fn open_file_of_one_name(&self, path: &Relative) -> Result<(File, Stat), DirError> {
        let (file, stat) = self.open_any_file(path)?;
        if stat.links > 1 {
            return Err(DirError::OtherNames { path: path.clone() });
        }
        Ok((file, stat))
    }

    fn open_any_file(&self, path: &Relative) -> Result<(File, Stat), DirError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = open::beneath(&self.fd, path, flags)?;
        let stat = Stat::of(&rustix::fs::fstat(&fd).map_err(|error| DirError::of(path, error))?);
        stat.plain(path)?;
        Ok((File::from(fd), stat))
    }

    /// Reads a plain file of at most `bytes_max`.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file), or if it is longer.
    pub fn read(&self, path: &Relative, bytes_max: u64) -> Result<Vec<u8>, DirError> {
        read(self.open_file(path)?, path, bytes_max)
    }

    /// Reads a plain file of one name of at most `bytes_max`.
    ///
    /// # Errors
    /// As [`open_file_of_one_name`](Self::open_file_of_one_name), or if it is longer.
    pub fn read_of_one_name(&self, path: &Relative, bytes_max: u64) -> Result<Vec<u8>, DirError> {
        read(self.open_file_of_one_name(path)?, path, bytes_max)
    }

    /// What is at a path.
    ///
    /// # Errors
    /// If there is nothing, or a folder on the way is none.
    pub fn stat(&self, path: &Relative) -> Result<Stat, DirError> {
        let failed = |error| DirError::of(path, error);
        let Some((folder, name)) = path.split_last() else {
            return rustix::fs::fstat(&self.fd).map(|it| Stat::of(&it)).map_err(failed);
        };
        let folder = open::folder(&self.fd, &folder)?;
        let stat = rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        stat.map(|it| Stat::of(&it)).map_err(failed)
    }
}

fn read((file, stat): (File, Stat), path: &Relative, bytes_max: u64) -> Result<Vec<u8>, DirError> {
    let too_long = || DirError::TooLong { path: path.clone(), bytes_max };
    if stat.bytes > bytes_max {
        return Err(too_long());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.bytes).unwrap_or(0));
    // One byte more, so that one that grows is seen to be longer.
    let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| DirError::io(path, error))?;
    if bytes.len() as u64 > bytes_max { Err(too_long()) } else { Ok(bytes) }
}

impl Stat {
    fn of(stat: &rustix::fs::Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Kind::Special,
        };
        Self {
            kind,
            bytes: number(stat.st_size),
            links: number(stat.st_nlink),
            id: (number(stat.st_dev), number(stat.st_ino)),
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Is it a file? What is put in its place is a new one, so that its other names keep what they had.
    fn plain(&self, path: &Relative) -> Result<(), DirError> {
        match self.kind {
            Kind::File => Ok(()),
            Kind::Folder => Err(DirError::IsFolder { path: path.clone() }),
            Kind::Link => Err(DirError::IsLink { path: path.clone() }),
            Kind::Special => Err(DirError::NoFile { path: path.clone() }),
        }
    }
}

/// The kernels do not agree how wide these are.
fn number(value: impl TryInto<u64>) -> u64 {
    value.try_into().unwrap_or(u64::MAX)
}

fn nanoseconds(seconds: i64, more: impl TryInto<i64>) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(more.try_into().unwrap_or(0))
}
