//! Builds a whole bundle in one go: beside its place, moved there when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::error::BundleError;
use super::{files, pack};
use crate::archive::Overwrite;
use crate::audit;
use crate::bundle_note::Statement;
use crate::digest::{Digest, Hasher};
use crate::manifest::Manifest;
use crate::note::SigningKey;
use crate::record::Record;
use crate::source::{AUDIT_LOG, BLOBS, BUNDLE_NOTE, MANIFEST, RECORDS, Source};

/// A bundle under construction. Dropped unfinished, it leaves nothing behind.
pub struct Builder {
    work: PathBuf,
    records: BufWriter<File>,
    audit: BufWriter<File>,
    manifest: Manifest,
    head: Digest,
    signer: Option<SigningKey>,
}

impl Builder {
    /// Begins a bundle that will stand at `target`, which must not exist.
    ///
    /// # Errors
    /// If something is there already or the directory cannot be made.
    pub fn create(target: &Path, created_at: &str) -> Result<Self, BundleError> {
        if fs::symlink_metadata(target).is_ok() {
            return Err(BundleError::NotEmpty { dir: target.to_owned() });
        }
        let work = beside(target);
        let blobs = work.join(BLOBS);
        fs::create_dir_all(&blobs).map_err(|error| BundleError::io(&blobs, error))?;
        let open = |name: &str| {
            let path = work.join(name);
            let file = File::create_new(&path).map_err(|error| BundleError::io(&path, error))?;
            Ok::<_, BundleError>(BufWriter::with_capacity(BUFFER_BYTES, file))
        };
        Ok(Self {
            records: open(RECORDS)?,
            audit: open(AUDIT_LOG)?,
            manifest: Manifest::empty(created_at),
            head: Digest::ZERO,
            signer: None,
            work,
        })
    }

    /// Signs the bundle as a whole when it is complete.
    pub fn sign_with(&mut self, key: SigningKey) {
        self.signer = Some(key);
    }

    /// Adds a record that has its id already.
    ///
    /// # Errors
    /// If it is too long for a reader, or the disk refuses.
    pub fn add_record(&mut self, record: &Record) -> Result<(), BundleError> {
        let id = record.compute_id();
        let line = record.to_line()?;
        let ts = record.ts().unwrap_or_default().to_owned();
        self.add_line(line.as_bytes(), &id, &ts, record.parents.is_empty())
    }

    /// Adds the stored line of a record whose id and time are known.
    ///
    /// # Errors
    /// If it is too long for a reader, or the disk refuses.
    pub fn add_line(
        &mut self,
        line: &[u8],
        id: &Digest,
        ts: &str,
        is_root: bool,
    ) -> Result<(), BundleError> {
        BundleError::check_length(line)?;
        let mut entry = Vec::with_capacity(ENTRY_BYTES);
        let idx = self.manifest.record_count;
        self.head = audit::write_entry(&mut entry, idx, ts.as_bytes(), id, &self.head);
        self.manifest.record_count += 1;
        if is_root {
            self.manifest.root_records.push(id.to_string());
        }
        let write = |out: &mut BufWriter<File>, line: &[u8]| -> io::Result<()> {
            out.write_all(line)?;
            out.write_all(b"\n")
        };
        write(&mut self.records, line)
            .and_then(|()| write(&mut self.audit, &entry))
            .map_err(|error| BundleError::io(&self.work, error))
    }

    /// Copies a blob in; its content must have the hash `blob`. A repeat is no error.
    ///
    /// # Errors
    /// If the content is not what its name says, or the disk refuses.
    pub fn add_blob(&mut self, blob: &Digest, mut input: impl Read) -> Result<(), BundleError> {
        let path = self.work.join(BLOBS).join(blob.to_string());
        if path.exists() {
            return Ok(());
        }
        let mut copy = || -> io::Result<Digest> {
            let file = File::create_new(&path)?;
            let mut out = Hashing { hasher: Hasher::new(), out: file };
            io::copy(&mut input, &mut out)?;
            out.out.sync_all()?;
            Ok(out.hasher.finish())
        };
        let actual = copy().map_err(|error| BundleError::io(&path, error))?;
        if actual != *blob {
            let what = format!("the content of the blob {blob} has the hash {actual}");
            return Err(BundleError::Inconsistent { what });
        }
        self.manifest.blob_count += 1;
        Ok(())
    }

    /// Completes the bundle as a directory at `target`.
    ///
    /// # Errors
    /// If the disk refuses or something appeared at `target` meanwhile.
    pub fn finish_directory(mut self, target: &Path) -> Result<Manifest, BundleError> {
        self.complete()?;
        fs::rename(&self.work, target).map_err(|error| BundleError::io(target, error))?;
        files::sync_directory(parent(target))?;
        Ok(self.manifest.clone())
    }

    /// Completes the bundle as an archive at `target`.
    ///
    /// # Errors
    /// If the disk refuses or something is at `target`.
    pub fn finish_zip(mut self, target: &Path) -> Result<Manifest, BundleError> {
        self.complete()?;
        pack::pack(&self.work, target, Overwrite::No)?;
        Ok(self.manifest.clone())
    }

    fn complete(&mut self) -> Result<(), BundleError> {
        let sync = |out: &mut BufWriter<File>| out.flush().and_then(|()| out.get_ref().sync_all());
        sync(&mut self.records)
            .and_then(|()| sync(&mut self.audit))
            .map_err(|error| BundleError::io(&self.work, error))?;
        self.manifest.audit_head = self.head.to_string();
        files::replace(&self.work, MANIFEST, &self.manifest.to_bytes()?)?;
        let Some(key) = &self.signer else { return Ok(()) };
        let statement = Statement::of(&Source::Directory(self.work.clone()))
            .map_err(|error| BundleError::io(&self.work, error))?;
        let note = statement.sign(key).map_err(|error| BundleError::Sign(error.to_string()))?;
        files::replace(&self.work, BUNDLE_NOTE, note.to_text().as_bytes())
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // After `finish_directory` there is nothing at this name any more.
        let _ = fs::remove_dir_all(&self.work);
    }
}

const BUFFER_BYTES: usize = 1 << 20;
const ENTRY_BYTES: usize = 512;

struct Hashing<W> {
    hasher: Hasher,
    out: W,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A name beside `target` that no other run of ours uses at the same time.
fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    parent(target).join(format!(".{name}.{}.new", std::process::id()))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
