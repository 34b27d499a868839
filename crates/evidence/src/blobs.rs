//! Content too long for a record, in files named by their hash.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use aegx::Digest;

/// The folder of blobs. Its files are written whole, once, and never changed.
pub(crate) struct Blobs {
    dir: PathBuf,
    next: AtomicU64,
}

impl Blobs {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, next: AtomicU64::new(0) }
    }

    /// Makes `bytes` durable under `name`.
    pub(crate) fn put(&self, name: &Digest, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        let folder = path.parent().unwrap_or(&self.dir);
        if !folder.is_dir() {
            fs::create_dir_all(folder)?;
            sync(&self.dir)?;
        }
        if !path.is_file() {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let temporary = self.dir.join(format!("{TEMPORARY}{number}"));
            let written = write(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
            if written.is_err() {
                let _ = fs::remove_file(&temporary);
            }
            written?;
        }
        // Also if it was there: another producer may not have synced the folder yet.
        sync(folder)
    }

    /// Opens a blob for reading.
    pub(crate) fn open(&self, name: &Digest) -> io::Result<File> {
        File::open(self.path(name))
    }

    /// Removes a blob if it is there.
    pub(crate) fn remove(&self, name: &Digest) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes what an earlier run did not finish. Only the holder of the journal's lock may.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn path(&self, name: &Digest) -> PathBuf {
        let name = name.to_string();
        let folder: String = name.chars().take(2).collect();
        self.dir.join(folder).join(name)
    }
}

const TEMPORARY: &str = ".new-";

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
