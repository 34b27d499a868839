//! Files and directories that vanish unless they are kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;

/// A path that is removed on drop.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    File,
    Directory,
    Kept,
}

impl Temporary {
    /// Creates an empty file beside `target`, open to its owner alone.
    ///
    /// Also says which permissions an ordinary new file would have.
    pub(super) fn file_beside(target: &Path) -> io::Result<(Self, File, fs::Permissions)> {
        let path = unpredictable_sibling(target)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE_MODE);
        let file = options.open(&path)?;
        let temporary = Self { path, kind: Kind::File };
        // Asked of the file because the process's mask cannot be read without changing it.
        let ordinary = file.metadata()?.permissions();
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(PRIVATE_FILE_MODE))?;
        Ok((temporary, file, ordinary))
    }

    /// Creates an empty directory beside `target`, open to its owner alone.
    pub(super) fn directory_beside(target: &Path) -> io::Result<Self> {
        let path = unpredictable_sibling(target)?;
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, PRIVATE_DIRECTORY_MODE);
        builder.create(&path)?;
        Ok(Self { path, kind: Kind::Directory })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the file to `target`, over whatever is there.
    pub(super) fn replace(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.kind = Kind::Kept;
        sync_directory(parent(target))
    }

    /// Moves the file to `target` unless something is there.
    pub(super) fn place(self, target: &Path) -> io::Result<()> {
        match fs::hard_link(&self.path, target) {
            Ok(()) => {
                drop(self);
                sync_directory(parent(target))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Not every file system has hard links; a rename cannot refuse, so look first.
            Err(_) if fs::symlink_metadata(target).is_ok() => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            Err(_) => self.replace(target),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nobody is left to tell: the error that led here is the one to report.
        let _ = match self.kind {
            Kind::File => fs::remove_file(&self.path),
            Kind::Directory => fs::remove_dir_all(&self.path),
            Kind::Kept => Ok(()),
        };
    }
}

/// The directory that holds `path`.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Makes names created or moved in `directory` survive a power cut.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    // Elsewhere directories cannot be opened, and need not be.
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

fn unpredictable_sibling(target: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(parent(target).join(format!(".aegx-{}.tmp", HEXLOWER.encode(&random))))
}

#[cfg(unix)]
const FILE_MODE: u32 = 0o644;
#[cfg(unix)]
const PRIVATE_FILE_MODE: u32 = 0o600;
#[cfg(unix)]
const PRIVATE_DIRECTORY_MODE: u32 = 0o700;
