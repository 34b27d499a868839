//! Files that are replaced whole, and reading where somebody may have planted something.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Names that are tried for a temporary file before giving up.
const NAMES_MAX: u32 = 1000;

/// Makes a directory that only its owner can enter.
pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path)
}

/// Opens a plain file. A link is not followed and a pipe is not waited for: both are errors.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let bits = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(bits).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"))
}

/// Reads a plain file of at most `bytes_max`; `None` if there is nothing at that name.
pub(super) fn read(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let what = format!("it has more than the {bytes_max} bytes that can belong here");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(Some(bytes))
}

/// Puts `bytes` at `path`, whole or not at all. A link there is replaced, not followed.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (temporary, mut file) = create_beside(path)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        // Best effort: the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// Gives a file a second name, durable when it returns. Neither name is ever written into.
pub(super) fn link(path: &Path, second: &Path) -> io::Result<()> {
    remove(second)?;
    if fs::hard_link(path, second).is_err() {
        // A disk that has no second names.
        return replace(second, &fs::read(path)?);
    }
    File::open(second.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// A new file beside `path`, under a name at which there is nothing.
fn create_beside(path: &Path) -> io::Result<(std::path::PathBuf, File)> {
    let process = std::process::id();
    for number in 0..NAMES_MAX {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{process}-{number}.new"));
        let temporary = path.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (temporary, file)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name for a temporary file is taken"))
}

/// Removes a file if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Waits until nobody else holds this lock. It is free again when the file is dropped.
pub(super) fn lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(FILE_MODE).open(path)?;
    file.lock()?;
    Ok(file)
}
