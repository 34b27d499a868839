//! The state directory and the socket in it, checked to be ours alone.

use crate::failure::Failure;
use std::fs::{DirBuilder, File, Metadata};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
};
use std::path::PathBuf;

/// The rights of group and others.
const OTHERS: u32 = 0o077;
/// The rights of a state directory that is made here.
const DIRECTORY_MODE: u32 = 0o700;
/// The rights of a file that is made in it.
const FILE_MODE: u32 = 0o600;

/// The state directory, and who chose it.
pub(crate) struct Home {
    pub(crate) directory: PathBuf,
    /// Whether the command line names it. Then nothing is taken from the environment, which a project can set.
    pub(crate) is_pinned: bool,
}

impl Home {
    /// Returns the directory that the command line names, else `$LAZARET_HOME`, else `~/.lazaret`.
    pub(crate) fn find(named: Option<PathBuf>) -> Result<Self, Failure> {
        if let Some(directory) = named {
            let is_absolute = directory.is_absolute();
            let home = Self { directory, is_pinned: true };
            return is_absolute.then_some(home).ok_or(Failure::NotAbsolute);
        }
        let set = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let found = set("LAZARET_HOME").or_else(|| set("HOME").map(|it| it.join(".lazaret")));
        let directory = found.filter(|it| it.is_absolute()).ok_or(Failure::NoHome)?;
        Ok(Self { directory, is_pinned: false })
    }

    /// Returns the daemon's socket if it is there. Whoever could put one there could answer for the daemon, so the
    /// directory must belong to us and be closed to others.
    pub(crate) fn socket(&self) -> Result<Option<PathBuf>, Failure> {
        if !self.is_private()? {
            return Ok(None);
        }
        let socket = self.directory.join("doors.sock");
        let Some(about) = there(std::fs::symlink_metadata(&socket))? else { return Ok(None) };
        if !about.file_type().is_socket() || about.uid() != user()? {
            return Err(Failure::NotPrivate("its socket is not ours"));
        }
        Ok(Some(socket))
    }

    /// Opens the file by which one hook of many starts the daemon. Directory and file are made where they are not
    /// there, for us alone.
    pub(crate) fn lock_file(&self) -> Result<File, Failure> {
        let made = DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(&self.directory);
        made.map_err(|_| Failure::NoDirectory)?;
        if !self.is_private()? {
            return Err(Failure::NoDirectory);
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(FILE_MODE);
        options.open(self.directory.join("daemon.starting")).map_err(|_| Failure::NotStarted)
    }

    /// Tells whether the directory is there; one that is not ours alone is a failure.
    fn is_private(&self) -> Result<bool, Failure> {
        let Some(about) = there(std::fs::metadata(&self.directory))? else { return Ok(false) };
        if !about.is_dir() || about.mode() & OTHERS != 0 {
            return Err(Failure::NotPrivate(
                "its state directory is open to others: `chmod 700` it",
            ));
        }
        if about.uid() != user()? {
            return Err(Failure::NotPrivate("its state directory belongs to somebody else"));
        }
        Ok(true)
    }
}

fn there(about: std::io::Result<Metadata>) -> Result<Option<Metadata>, Failure> {
    match about {
        Ok(about) => Ok(Some(about)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(_) => Err(Failure::Unreachable),
    }
}

/// Returns the user that this process runs as: the owner of a pipe that it makes. The standard library has no
/// other way that works everywhere.
pub(crate) fn user() -> Result<u32, Failure> {
    let (reader, _writer) = std::io::pipe().map_err(|_| Failure::Unreachable)?;
    let about = File::from(OwnedFd::from(reader)).metadata();
    about.map(|it| it.uid()).map_err(|_| Failure::Unreachable)
}
