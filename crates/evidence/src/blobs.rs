//! Content too long for a record, in files named by their hash.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use aegx::Digest;

use files::private;

/// The folder of blobs. Its files are written whole, once, and never changed.
pub(crate) struct Blobs {
    dir: PathBuf,
    next: AtomicU64,
    /// Folders whose own names are known to be durable.
    folders: Mutex<BTreeSet<PathBuf>>,
}

impl Blobs {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, next: AtomicU64::new(0), folders: Mutex::default() }
    }

    /// Makes `bytes` durable under `name`.
    pub(crate) fn put(&self, name: &Digest, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        let folder = path.parent().unwrap_or(&self.dir);
        self.make_folder(folder)?;
        if !holds(&path, bytes) {
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
        private::open(&self.path(name))
    }

    /// The names of all blobs.
    pub(crate) fn list(&self) -> io::Result<Vec<Digest>> {
        let mut names = Vec::new();
        for folder in fs::read_dir(&self.dir)? {
            let folder = folder?;
            if folder.file_type()?.is_dir() {
                for blob in fs::read_dir(folder.path())? {
                    names.extend(Digest::from_hex(blob?.file_name().as_encoded_bytes()));
                }
            }
        }
        Ok(names)
    }

    /// Removes a blob if it is there.
    pub(crate) fn remove(&self, name: &Digest) -> io::Result<()> {
        private::remove(&self.path(name))
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

    /// Whoever comes second waits until the first has made the folder's name durable.
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let mut known = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(folder) {
            private::create_dir(folder)?;
            sync(&self.dir)?;
            known.insert(folder.to_owned());
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

/// Does the file hold these bytes? One that holds others under their name is no reason to lose them.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let same = |found: Vec<u8>| found == bytes;
    private::read(path, bytes.len() as u64).is_ok_and(same)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
