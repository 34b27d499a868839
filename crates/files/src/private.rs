//! Files of the state directory: plain ones, for the owner's eyes only, durable when the call
//! returns.
//!
//! What somebody planted where a file should be, a link, a pipe, a device, is refused and neither
//! followed nor waited for.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

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
    // A link is not followed, and a pipe is not waited for.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let bits = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = match options.mode(FILE_MODE).custom_flags(bits).open(path) {
        // A link; a pipe or a socket that is to be written to; a folder.
        Err(error) if is_no_file(&error) => return Err(misplaced(path, "file")),
        file => file?,
    };
    // What was opened is looked at, not what had the name before.
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(misplaced(path, "file"));
    }
    let writes = rustix::fs::fcntl_getfl(&file)?.intersects(OFlags::WRONLY | OFlags::RDWR);
    if writes && found.permissions().mode() & OTHERS != 0 {
        // One that was there before with a wider mode would keep it.
        file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
    }
    Ok(file)
}

fn is_no_file(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(Errno::LOOP | Errno::MLINK | Errno::NXIO | Errno::ISDIR))
}

/// Opens a plain file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().read(true))
}

/// Reads a plain file of at most `bytes_max`.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_open(&open(path)?, bytes_max)
}

/// As [`read`], of a file that was just opened.
pub fn read_open(file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let too_long = |length: u64| {
        let what = format!("it has {length} bytes, at most {bytes_max} can belong here");
        io::Error::new(io::ErrorKind::FileTooLarge, what)
    };
    if length > bytes_max {
        return Err(too_long(length));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    // One byte more: one that grows is not taken for a whole one.
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_long(bytes.len() as u64)) } else { Ok(bytes) }
}

/// As [`read`]; `None` if there is no such file.
pub fn read_if_there(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    match read(path, bytes_max) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some),
    }
}

/// The end of a file of lines: at most `bytes_max`, from the beginning of a line on. `None` if there is no such file.
///
/// # Errors
/// What the system says.
pub fn read_last_lines(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let skipped = file.metadata()?.len().saturating_sub(bytes_max);
    // One byte more: whether a line begins at the first of them is said by the one before.
    file.seek(SeekFrom::Start(skipped.saturating_sub(1)))?;
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if skipped > 0 {
        let begins = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |it| it + 1);
        bytes.drain(..begins);
    }
    Ok(Some(bytes))
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

/// Puts `bytes` at `path`, whole or not at all. A link there is replaced, not followed.
///
/// The temporary file lies beside it, is opened exclusively, and has a name that nobody can know
/// before: two writers do not meet, and nobody plants something for us.
///
/// # Errors
/// What the system says. Then the old file is there as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_file_name(random_name()?);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(FILE_MODE).open(&temporary)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        // Best effort: the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_parent(path)
}

/// A name for a temporary file that nobody can guess.
pub(crate) fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{TEMPORARY}{:016x}", u64::from_be_bytes(bytes)))
}

/// How the name of a temporary file begins. What a crash left of one is nobody's file.
pub const TEMPORARY: &str = ".lazaret-new-";

/// Appends a line. A torn one before it is cut off first.
pub fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    append_line_soon(path, line)?.sync_data()
}

/// As [`append_line`], durable no later than the next line that is appended so: the process may end, not the machine.
pub fn append_line_soon(path: &Path, line: &[u8]) -> io::Result<File> {
    let is_new = !path.exists();
    let mut file = open_with(path, OpenOptions::new().read(true).append(true).create(true))?;
    cut_torn_line(&file)?;
    let mut line = line.to_vec();
    line.push(b'\n');
    file.write_all(&line)?;
    if is_new {
        sync_parent(path)?;
    }
    Ok(file)
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
