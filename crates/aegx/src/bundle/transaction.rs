//! One addition to a bundle: all of it or nothing, whoever else is writing, whenever it is killed.
//!
//! Three files change together. Before the first of them does, their lengths are written to a
//! note beside them; replacing the manifest is the moment at which the addition counts. Whoever
//! opens the bundle next and finds the note cuts the files back, unless the manifest says that
//! everything was done.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::BundleError;
use super::files;
use crate::audit::{self, AuditEntry};
use crate::digest::{Digest, Hasher};
use crate::manifest::Manifest;
use crate::record::Record;
use crate::source::{AUDIT_LOG, BLOBS, KEEP, MANIFEST, RECORDS};

pub(crate) struct Transaction {
    dir: PathBuf,
    manifest: Manifest,
    head: Digest,
    /// Was a note written that is not yet taken back?
    noted: bool,
    _lock: File,
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.noted {
            // Failed on the way, with the lock still held. If mending fails too, the note stays
            // and the next writer tries again.
            let _ = mend(&self.dir);
        }
    }
}

/// The note that makes an interrupted addition undoable.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pending {
    /// The manifest before the addition.
    manifest: Manifest,
    records_bytes: u64,
    audit_bytes: u64,
    /// A blob that was not there before.
    blob: Option<String>,
}

const PENDING: &str = ".aegx-pending";
/// Longer than any audit line.
const AUDIT_TAIL_BYTES: u64 = 4096;
/// How much of `records.jsonl` is searched at a time.
const SEARCH_BYTES: u64 = 1 << 20;

impl Transaction {
    /// Waits for the bundle, mends what an interrupted addition left, and checks that manifest and
    /// audit log agree.
    pub(crate) fn begin(dir: &Path) -> Result<Self, BundleError> {
        let lock = files::lock(dir)?;
        mend(dir)?;
        let manifest = read_manifest(dir)?;
        let head = check_head(dir, &manifest)?;
        Ok(Self { dir: dir.to_owned(), manifest, head, noted: false, _lock: lock })
    }

    pub(crate) fn add_record(mut self, record: &Record) -> Result<Digest, BundleError> {
        let id = record.compute_id();
        let ts = record.ts().unwrap_or_default();
        let mut line = record.to_line()?.into_bytes();
        line.push(b'\n');
        let mut entry = Vec::new();
        let head = audit::write_entry(
            &mut entry,
            self.manifest.record_count,
            ts.as_bytes(),
            &id,
            &self.head,
        );
        entry.push(b'\n');

        self.note(None)?;
        files::append(&self.dir.join(RECORDS), &line)?;
        files::append(&self.dir.join(AUDIT_LOG), &entry)?;
        self.manifest.record_count += 1;
        self.manifest.audit_head = head.to_string();
        if record.parents.is_empty() {
            self.manifest.root_records.push(id.to_string());
        }
        self.commit()?;
        Ok(id)
    }

    pub(crate) fn add_blob(mut self, mut input: impl Read) -> Result<Digest, BundleError> {
        let temporary = self.dir.join(files::TEMPORARY);
        files::remove(&temporary)?;
        let stored = copy_and_hash(&mut input, &temporary);
        let blob = match stored {
            Ok(blob) => blob,
            Err(error) => {
                files::remove(&temporary)?;
                return Err(BundleError::io(&temporary, error));
            }
        };
        let blobs = self.dir.join(BLOBS);
        fs::create_dir_all(&blobs).map_err(|error| BundleError::io(&blobs, error))?;
        let path = blobs.join(blob.to_string());
        if path.exists() {
            files::remove(&temporary)?;
        } else {
            self.note(Some(&blob))?;
            fs::rename(&temporary, &path).map_err(|error| BundleError::io(&path, error))?;
            files::sync_directory(&blobs)?;
        }
        self.commit()?;
        Ok(blob)
    }

    /// Is there a record with this id? Looks from the end: parents are mostly recent.
    pub(crate) fn has_record(&self, id: &Digest) -> Result<bool, BundleError> {
        let path = self.dir.join(RECORDS);
        let search = || -> io::Result<bool> {
            // A string cannot hold a raw newline, so only the start of a record looks like this.
            let needle = format!("\n{{\"recordId\":\"{id}\"");
            let finder = memchr::memmem::Finder::new(needle.as_bytes());
            let mut file = File::open(&path)?;
            let mut end = file.metadata()?.len();
            loop {
                let start = end.saturating_sub(SEARCH_BYTES);
                file.seek(SeekFrom::Start(start))?;
                let mut block = if start == 0 { vec![b'\n'] } else { Vec::new() };
                let span = end - start + needle.len() as u64;
                (&mut file).take(span).read_to_end(&mut block)?;
                if finder.find(&block).is_some() {
                    return Ok(true);
                }
                if start == 0 {
                    return Ok(false);
                }
                end = start;
            }
        };
        search().map_err(|error| BundleError::io(&path, error))
    }

    /// Is this blob there, with this length?
    pub(crate) fn check_blob(&self, blob: &str, claimed: u64) -> Result<(), BundleError> {
        let unknown = || BundleError::UnknownBlob { blob: blob.to_owned() };
        // Only a digest may become part of a path.
        let digest = Digest::from_hex(blob.as_bytes()).ok_or_else(unknown)?;
        let path = self.dir.join(BLOBS).join(digest.to_string());
        let actual = fs::symlink_metadata(path).map_err(|_| unknown())?.len();
        if actual == claimed {
            Ok(())
        } else {
            Err(BundleError::FalseSize { blob: digest, claimed, actual })
        }
    }

    fn note(&mut self, blob: Option<&Digest>) -> Result<(), BundleError> {
        let pending = Pending {
            manifest: self.manifest.clone(),
            records_bytes: files::length(&self.dir.join(RECORDS))?,
            audit_bytes: files::length(&self.dir.join(AUDIT_LOG))?,
            blob: blob.map(Digest::to_string),
        };
        self.noted = true;
        files::create(&self.dir.join(PENDING), &serde_json::to_vec(&pending)?)?;
        files::sync_directory(&self.dir)
    }

    fn commit(mut self) -> Result<(), BundleError> {
        self.manifest.blob_count = count_blobs(&self.dir.join(BLOBS))?;
        files::replace(&self.dir, MANIFEST, &self.manifest.to_bytes()?)?;
        self.noted = false;
        files::remove(&self.dir.join(PENDING))
    }
}

/// Undoes an addition that did not come to its end.
fn mend(dir: &Path) -> Result<(), BundleError> {
    files::remove(&dir.join(files::TEMPORARY))?;
    let path = dir.join(PENDING);
    let note = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        note => note.map_err(|error| BundleError::io(&path, error))?,
    };
    // A note that was not written whole was written before anything else was touched.
    if let Ok(pending) = serde_json::from_slice::<Pending>(&note)
        && read_manifest(dir)? == pending.manifest
    {
        cut_back(&dir.join(RECORDS), pending.records_bytes)?;
        cut_back(&dir.join(AUDIT_LOG), pending.audit_bytes)?;
        if let Some(blob) = pending.blob.and_then(|it| Digest::from_hex(it.as_bytes())) {
            files::remove(&dir.join(BLOBS).join(blob.to_string()))?;
        }
    }
    files::remove(&path)?;
    files::sync_directory(dir)
}

fn cut_back(path: &Path, bytes: u64) -> Result<(), BundleError> {
    if files::length(path)? < bytes {
        let what = format!("`{}` is shorter than before an interrupted addition", path.display());
        return Err(BundleError::Inconsistent { what });
    }
    files::truncate(path, bytes)
}

fn read_manifest(dir: &Path) -> Result<Manifest, BundleError> {
    let not_a_bundle = |why: String| BundleError::NotABundle { dir: dir.to_owned(), why };
    let bytes = fs::read(dir.join(MANIFEST)).map_err(|error| not_a_bundle(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| not_a_bundle(error.to_string()))
}

/// The hash to chain on to, if the log's last entry is the one that the manifest says.
fn check_head(dir: &Path, manifest: &Manifest) -> Result<Digest, BundleError> {
    let inconsistent = |what: &str| BundleError::Inconsistent { what: what.to_owned() };
    let head = Digest::from_hex(manifest.audit_head.as_bytes())
        .ok_or_else(|| inconsistent("`audit_head` is no hash"))?;
    let path = dir.join(AUDIT_LOG);
    let tail = read_tail(&path).map_err(|error| BundleError::io(&path, error))?;
    if tail.is_empty() {
        let is_empty = manifest.record_count == 0 && head == Digest::ZERO;
        return if is_empty { Ok(head) } else { Err(inconsistent("the audit log is empty")) };
    }
    let last = tail.strip_suffix(b"\n").ok_or_else(|| inconsistent("the audit log has no end"))?;
    let last = last.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let entry: AuditEntry = serde_json::from_slice(last)
        .map_err(|_| inconsistent("the last line of the audit log is no entry"))?;
    if entry.entry_hash != manifest.audit_head
        || Some(manifest.record_count) != entry.idx.checked_add(1)
    {
        return Err(inconsistent("the audit log does not end where the manifest says"));
    }
    Ok(head)
}

fn read_tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(AUDIT_TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(AUDIT_TAIL_BYTES).read_to_end(&mut tail)?;
    Ok(tail)
}

fn copy_and_hash(input: &mut impl Read, path: &Path) -> io::Result<Digest> {
    const BUFFER_BYTES: usize = 256 << 10;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = match input.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let Some(bytes) = buffer.get(..read).filter(|it| !it.is_empty()) else { break };
        hasher.update(bytes);
        file.write_all(bytes)?;
    }
    file.sync_all()?;
    Ok(hasher.finish())
}

fn count_blobs(dir: &Path) -> Result<u64, BundleError> {
    let listing = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        listing => listing.map_err(|error| BundleError::io(dir, error))?,
    };
    let mut count = 0;
    for entry in listing {
        let entry = entry.map_err(|error| BundleError::io(dir, error))?;
        count += u64::from(entry.path().is_file() && entry.file_name() != KEEP);
    }
    Ok(count)
}
