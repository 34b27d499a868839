//! Files of the state directory: plain ones, for the owner's eyes only, durable when the call
//! returns.
//!
//! What somebody planted where a file should be, a link, a pipe, a device, is refused and neither
//! followed nor waited for.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const OTHERS: u32 = 0o077;

/// Makes a directory that only its owner can enter, and what it lies in. One that is there is
/// closed to others.
///
/// # Errors
/// What the system says, or that there is something else at the name.
pub fn create_dir(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(found) if found.is_dir() => return close_to_others(path, &found),
        Ok(_) => return Err(misplaced(path, "directory")),
    }
    if let Some(parent) = path.parent().filter(|it| !it.as_os_str().is_empty() && !it.exists()) {
        create_dir(parent)?;
    }
    match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => sync_parent(path),
    }
}

/// Takes from others what they may do in a directory.
pub fn close_to_others(path: &Path, found: &Metadata) -> io::Result<()> {
    if found.permissions().mode() & OTHERS == 0 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(DIRECTORY_MODE))
}

/// Opens a plain file as `options` say; one that they make is private.
///
/// # Errors
/// What the system says, or that there is something else at the name.
pub fn open_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Looked at first: opening a pipe would wait for its other end.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(misplaced(path, "file")),
    }
    options.mode(FILE_MODE).open(path)
}

/// Opens a plain file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().read(true))
}

/// Reads a plain file of at most `bytes_max`.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > bytes_max {
        let what = format!("it has {length} bytes, at most {bytes_max} can belong here");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`read`]; `None` if there is no such file.
pub fn read_if_there(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    match read(path, bytes_max) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some),
    }
}

/// Makes a private file anew. What an earlier run left at its name is removed, not written into:
/// somebody may still hold it open.
pub fn create(path: &Path) -> io::Result<File> {
    remove(path)?;
    OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Removes a file if it is there.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Puts `bytes` at `path`, whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    let mut file = create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    sync_parent(path)
}

/// Appends a line. A torn one before it is cut off first.
pub fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let is_new = !path.exists();
    let mut file = open_with(path, OpenOptions::new().read(true).append(true).create(true))?;
    cut_torn_line(&file)?;
    let mut line = line.to_vec();
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()?;
    if is_new { sync_parent(path) } else { Ok(()) }
}

/// Cuts off what a crash left of a last line.
fn cut_torn_line(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut last = [0];
    if length == 0 || file.read_at(&mut last, length - 1)? == 1 && last == *b"\n" {
        return Ok(());
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    file.set_len(memchr::memrchr(b'\n', &bytes).map_or(0, |end| end as u64 + 1))?;
    file.sync_all()
}

/// The whole lines of `bytes`; what a crash left of a last one is none.
pub fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
    bytes.get(..end).unwrap_or_default().split_inclusive(|byte| *byte == b'\n')
}

/// Makes what happened to names in the directory of `path` durable.
///
/// # Errors
/// What the system says.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

fn misplaced(path: &Path, what: &str) -> io::Error {
    let text = format!("`{}` should be a plain {what} and is none", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
