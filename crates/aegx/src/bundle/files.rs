//! The few file operations that writing a bundle is made of.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use super::error::BundleError;

/// The name under which new content is written before it is moved into place. One is enough: only
/// the holder of the lock writes.
pub(crate) const TEMPORARY: &str = ".aegx-new";

/// Waits until no other process or thread holds the bundle. Ends when the file is dropped.
///
/// The directory itself is locked, so that no lock file becomes part of the bundle.
pub(crate) fn lock(dir: &Path) -> Result<File, BundleError> {
    let handle = open(dir)?;
    handle.lock().map_err(|error| BundleError::io(dir, error))?;
    Ok(handle)
}

/// As [`lock`], for readers: they wait for a writer but not for each other.
pub(crate) fn lock_shared(dir: &Path) -> Result<File, BundleError> {
    let handle = open(dir)?;
    handle.lock_shared().map_err(|error| BundleError::io(dir, error))?;
    Ok(handle)
}

/// Creates a file that must not exist and syncs it.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<(), BundleError> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|error| BundleError::io(path, error))
}

/// Puts `bytes` under `name`, whole or not at all.
pub(crate) fn replace(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
    let temporary = dir.join(TEMPORARY);
    remove(&temporary)?;
    create(&temporary, bytes)?;
    let path = dir.join(name);
    fs::rename(&temporary, &path).map_err(|error| BundleError::io(&path, error))?;
    sync_directory(dir)
}

/// Appends to a plain file and syncs it.
pub(crate) fn append(path: &Path, bytes: &[u8]) -> Result<(), BundleError> {
    let write = || -> io::Result<()> {
        check_plain(path)?;
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    };
    write().map_err(|error| BundleError::io(path, error))
}

/// Cuts a plain file back to `bytes`.
pub(crate) fn truncate(path: &Path, bytes: u64) -> Result<(), BundleError> {
    let cut = || -> io::Result<()> {
        check_plain(path)?;
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(bytes)?;
        file.sync_all()
    };
    cut().map_err(|error| BundleError::io(path, error))
}

/// Removes a file if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), BundleError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BundleError::io(path, error)),
        _ => Ok(()),
    }
}

/// Makes renames and removals in a directory durable.
pub(crate) fn sync_directory(dir: &Path) -> Result<(), BundleError> {
    open(dir)?.sync_all().map_err(|error| BundleError::io(dir, error))
}

/// Length of a plain file.
pub(crate) fn length(path: &Path) -> Result<u64, BundleError> {
    check_plain(path).map_err(|error| BundleError::io(path, error))
}

/// Opens a plain file for reading.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    check_plain(path)?;
    File::open(path)
}

/// Reads a plain file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Links are refused because they lead out of the bundle, pipes because they wait for their writer.
/// Gives the length.
fn check_plain(path: &Path) -> io::Result<u64> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_file() { Ok(metadata.len()) } else { Err(io::Error::other("not a plain file")) }
}

fn open(dir: &Path) -> Result<File, BundleError> {
    let open = || -> io::Result<File> {
        if !fs::metadata(dir)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        File::open(dir)
    };
    open().map_err(|error| BundleError::io(dir, error))
}
