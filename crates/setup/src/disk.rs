//! Other programs' files: read with a bound, written whole or not at all, with the mode and owner they had.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::fs::{PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use files::private;
use sha2::{Digest as _, Sha256};

/// Bytes of a settings file that are read at most.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The bits of a mode that are kept.
const MODE_BITS: u32 = 0o7777;
/// Names that are tried for a temporary file.
const TEMPORARY_TRIES_MAX: u32 = 64;

/// Why a file cannot be worked with.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// It cannot be read, or it is too long, or it is no plain file.
    #[error("`{path}` cannot be read: {source}; make it a readable plain file and try again")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A link on the way leads out of the folders that may be changed.
    #[error(
        "`{path}` leads to `{to}`, outside of your home; replace the link by a file, or change that file yourself"
    )]
    LeadsAway {
        /// The file as it is named.
        path: PathBuf,
        /// Where it really lies.
        to: PathBuf,
    },
    /// A link that leads nowhere.
    #[error("`{path}` is a link that leads nowhere; remove it or make what it names")]
    LeadsNowhere {
        /// The link.
        path: PathBuf,
    },
}

/// A file as it was found.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Seen {
    /// Where it really lies.
    pub(crate) real: PathBuf,
    /// What is in it, if it is there.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Its mode, if it is there.
    pub(crate) mode: Option<u32>,
}

/// Looks at a file, through links that stay beneath one of `roots`.
pub(crate) fn look(path: &Path, roots: &[PathBuf]) -> Result<Seen, DiskError> {
    let unreadable = |source| DiskError::Unreadable { path: path.to_owned(), source };
    let found = match fs::symlink_metadata(path) {
        Err(error) if is_absent(&error) => None,
        found => Some(found.map_err(unreadable)?),
    };
    let Some(found) = found else {
        // What it would be made in must lie beneath a root, too.
        let folder = path.ancestors().skip(1).find(|it| it.exists()).unwrap_or(path);
        within(path, &files::resolved(folder).map_err(unreadable)?, roots)?;
        return Ok(Seen { real: path.to_owned(), bytes: None, mode: None });
    };
    let real = match files::resolved(path) {
        Err(error) if is_absent(&error) && found.is_symlink() => {
            return Err(DiskError::LeadsNowhere { path: path.to_owned() });
        }
        real => real.map_err(unreadable)?,
    };
    within(path, &real, roots)?;
    let bytes = private::read(&real, FILE_BYTES_MAX).map_err(unreadable)?;
    let mode = fs::metadata(&real).map_err(unreadable)?.permissions().mode() & MODE_BITS;
    Ok(Seen { real, bytes: Some(bytes), mode: Some(mode) })
}

fn within(path: &Path, real: &Path, roots: &[PathBuf]) -> Result<(), DiskError> {
    // A root that is not there yet is made in a folder above it; there is no link below it then.
    let is_made = |it: &Path| path.starts_with(it) && it.starts_with(real) && !it.exists();
    let is_fine = roots.iter().any(|it| real.starts_with(it) || is_made(it));
    if is_fine {
        return Ok(());
    }
    Err(DiskError::LeadsAway { path: path.to_owned(), to: real.to_owned() })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Folders above `path` that are not there, the outermost first.
pub(crate) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().skip(1).take_while(|it| !it.exists());
    let mut missing: Vec<_> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Makes folders, each in one that is there.
pub(crate) fn make_folders(folders: &[PathBuf], mode: u32) -> io::Result<()> {
    for folder in folders {
        match DirBuilder::new().mode(mode).create(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made?;
                private::sync_parent(folder)?;
            }
        }
    }
    Ok(())
}

/// Puts `bytes` at `real`, whole or not at all; the owner is the one of the file that was there.
pub(crate) fn put(real: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let owner = fs::symlink_metadata(real).ok().map(|it| (it.uid(), it.gid()));
    let (mut file, temporary) = temporary(real)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| owned(&file, owner))
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, real));
    if let Err(error) = written {
        // Best effort: the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    private::sync_parent(real)
}

fn owned(file: &File, owner: Option<(u32, u32)>) -> io::Result<()> {
    let own = file.metadata()?;
    match owner {
        Some((user, group)) if (user, group) != (own.uid(), own.gid()) => {
            fchown(file, Some(user), Some(group))
        }
        _ => Ok(()),
    }
}

/// A new file beside `real`, opened exclusively: whatever somebody planted at its name is not written into.
fn temporary(real: &Path) -> io::Result<(File, PathBuf)> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..TEMPORARY_TRIES_MAX {
        let name = format!("{}{:x}-{attempt:x}", private::TEMPORARY, std::process::id());
        let path = real.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}
