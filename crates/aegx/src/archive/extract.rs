//! Extracts an archive, wholly or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use super::temporary::{Temporary, parent, sync_directory};
use super::{Archive, ArchiveError, Entry};

/// What was extracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Number of files.
    pub files: u64,
    /// Number of directory entries.
    pub directories: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Extracts `archive` to the directory `out_dir`, which must not exist or be empty.
///
/// Files appear in `out_dir` all at once, after the last of them was checked and is on the disk;
/// on any error nothing has changed. `progress` is told the bytes written since its last call.
///
/// No link is followed or made, and no file is executable.
pub fn extract(
    archive: &Archive,
    out_dir: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Extracted, ArchiveError> {
    let out_permissions = check_vacant(out_dir)?;

    // Only the owner can look into `shelter`; `tree` in it has the permissions it will keep.
    let shelter =
        Temporary::directory_beside(out_dir).map_err(ArchiveError::io("create", out_dir))?;
    let tree = shelter.path().join("tree");
    create_directory(&tree).map_err(ArchiveError::io("create", out_dir))?;

    let mut extracted = Extracted::default();
    for entry in archive.entries() {
        extract_entry(archive, entry, &tree, &mut extracted, progress)?;
    }

    sync_directories(&tree).map_err(ArchiveError::io("write", out_dir))?;
    if let Some(permissions) = out_permissions {
        fs::set_permissions(&tree, permissions).map_err(ArchiveError::io("write", out_dir))?;
    }
    move_into_place(&tree, out_dir)?;
    Ok(extracted)
}

/// The permissions of `out_dir` if it exists.
fn check_vacant(out_dir: &Path) -> Result<Option<fs::Permissions>, ArchiveError> {
    // Not `metadata`: a link to an empty directory is not one.
    let found = match fs::symlink_metadata(out_dir) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ArchiveError::io("look at", out_dir)(error)),
    };
    let occupied = !found.is_dir()
        || fs::read_dir(out_dir).map_err(ArchiveError::io("look at", out_dir))?.next().is_some();
    if occupied {
        return Err(ArchiveError::OutputNotEmpty { path: out_dir.to_owned() });
    }
    Ok(Some(found.permissions()))
}

fn extract_entry(
    archive: &Archive,
    entry: &Entry,
    tree: &Path,
    extracted: &mut Extracted,
    progress: &mut dyn FnMut(u64),
) -> Result<(), ArchiveError> {
    let path = tree.join(relative(entry)?);
    if entry.is_dir() {
        extracted.directories += 1;
        return create_directory(&path).map_err(in_the_way(entry, &path));
    }
    create_directory(parent(&path)).map_err(in_the_way(entry, &path))?;
    let mut file = create_file(&path).map_err(in_the_way(entry, &path))?;
    extracted.files += 1;

    let mut contents = archive.open_entry(entry)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = contents.read(&mut chunk).map_err(ArchiveError::contents(archive.path()))?;
        if read == 0 {
            break;
        }
        file.write_all(chunk.get(..read).unwrap_or_default())
            .map_err(ArchiveError::io("write", &path))?;
        extracted.bytes += read as u64;
        progress(read as u64);
    }
    file.sync_all().map_err(ArchiveError::io("write", &path))
}

/// The entry's name as a path that cannot lead anywhere but down.
#[expect(clippy::disallowed_methods, reason = "one plain part after the other, each looked at")]
fn relative(entry: &Entry) -> Result<PathBuf, ArchiveError> {
    let mut path = PathBuf::new();
    for name in entry.name().split('/').filter(|name| !name.is_empty() && *name != ".") {
        // The names were checked; this holds them against what this system makes of them.
        let mut components = Path::new(name).components();
        match (components.next(), components.next()) {
            (Some(Component::Normal(only)), None) if only == name => path.push(only),
            _ => return Err(ArchiveError::PathTraversal { name: entry.name().to_owned() }),
        }
    }
    Ok(path)
}

fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, DIRECTORY_MODE);
    builder.create(path)
}

fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // `create_new` follows no link, not even a dangling one.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE_MODE);
    options.open(path)
}

/// Two entries that meet on this file system though their names differ.
fn in_the_way(entry: &Entry, path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let name = entry.name().to_owned();
    let path = path.to_owned();
    move |source| {
        use io::ErrorKind::{AlreadyExists, NotADirectory};
        if matches!(source.kind(), AlreadyExists | NotADirectory) {
            return ArchiveError::FileAndDirectory { name };
        }
        ArchiveError::Io { action: "create", path, source }
    }
}

/// Syncs `directory` and all below it.
fn sync_directories(directory: &Path) -> io::Result<()> {
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for child in fs::read_dir(&directory)? {
            let child = child?;
            if child.file_type()?.is_dir() {
                pending.push(child.path());
            }
        }
        sync_directory(&directory)?;
    }
    Ok(())
}

fn move_into_place(tree: &Path, out_dir: &Path) -> Result<(), ArchiveError> {
    // Elsewhere a rename does not replace even an empty directory.
    if !cfg!(unix) && out_dir.is_dir() {
        fs::remove_dir(out_dir).map_err(ArchiveError::io("replace", out_dir))?;
    }
    fs::rename(tree, out_dir).map_err(|error| {
        use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
        if matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory) {
            return ArchiveError::OutputNotEmpty { path: out_dir.to_owned() };
        }
        ArchiveError::io("create", out_dir)(error)
    })?;
    sync_directory(parent(out_dir)).map_err(|error| {
        // Back to where it will be removed from.
        let _ = fs::rename(out_dir, tree);
        ArchiveError::io("write", out_dir)(error)
    })
}

const CHUNK_BYTES: usize = 64 << 10;
#[cfg(unix)]
const FILE_MODE: u32 = 0o644;
#[cfg(unix)]
const DIRECTORY_MODE: u32 = 0o755;
