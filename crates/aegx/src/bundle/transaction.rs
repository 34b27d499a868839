//! One addition to a bundle: all of it or nothing, whoever else is writing, whenever it is killed.
//!
//! Three files change together. Before the first of them does, their lengths are written to a
//! note beside them ([`pending`]); replacing the manifest is the moment at which the addition
//! counts. Whoever opens the bundle next and finds the note cuts the files back, unless the
//! manifest says that everything was done.
//!
//! The directory may come from anybody: nothing in it is opened that is not a plain file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::BundleError;
use super::{files, pending};
use crate::audit::{self, AuditEntry};
use crate::digest::{Digest, Hasher};
use crate::manifest::Manifest;
use crate::record::Record;
use crate::source::{AUDIT_LOG, BLOBS, BUNDLE_NOTE, KEEP, MANIFEST, RECORDS};

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
            let _ = pending::mend(&self.dir);
        }
    }
}

/// Longer than any audit line.
const TAIL_BYTES: u64 = 4096;
/// How much of `records.jsonl` is searched at a time.
const SEARCH_BYTES: u64 = 1 << 20;

impl Transaction {
    /// Waits for the bundle, mends what an interrupted addition left, and checks that manifest and
    /// logs agree.
    pub(crate) fn begin(dir: &Path) -> Result<Self, BundleError> {
        let lock = files::lock(dir)?;
        if fs::symlink_metadata(dir.join(BUNDLE_NOTE)).is_ok() {
            return Err(BundleError::Signed);
        }
        check_blobs_folder(dir)?;
        pending::mend(dir)?;
        let manifest = read_manifest(dir)?;
        let head = check_ends(dir, &manifest)?;
        Ok(Self { dir: dir.to_owned(), manifest, head, noted: false, _lock: lock })
    }

    pub(crate) fn add_record(mut self, record: &Record) -> Result<Digest, BundleError> {
        let id = record.compute_id();
        let ts = record.ts().unwrap_or_default();
        let mut line = record.to_line()?.into_bytes();
        BundleError::check_length(&line)?;
        line.push(b'\n');
        let record_count = self.manifest.record_count.checked_add(1).ok_or_else(|| {
            BundleError::Inconsistent { what: "`record_count` cannot grow".to_owned() }
        })?;
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
        self.manifest.record_count = record_count;
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
        if fs::symlink_metadata(&path).is_err() {
            self.note(Some(&blob))?;
        }
        // Also over what has the name already: it may be a link or damaged, the new one is neither.
        fs::rename(&temporary, &path).map_err(|error| BundleError::io(&path, error))?;
        files::sync_directory(&blobs)?;
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
            let mut file = files::open_plain(&path)?;
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
        let actual = files::length(&path).map_err(|_| unknown())?;
        if actual == claimed {
            Ok(())
        } else {
            Err(BundleError::FalseSize { blob: digest, claimed, actual })
        }
    }

    fn note(&mut self, blob: Option<&Digest>) -> Result<(), BundleError> {
        self.noted = true;
        pending::note(&self.dir, &self.manifest, blob)
    }

    fn commit(mut self) -> Result<(), BundleError> {
        self.manifest.blob_count = count_blobs(&self.dir.join(BLOBS))?;
        files::replace(&self.dir, MANIFEST, &self.manifest.to_bytes()?)?;
        self.noted = false;
        pending::clear(&self.dir)
    }
}

pub(super) fn read_manifest(dir: &Path) -> Result<Manifest, BundleError> {
    let not_a_bundle = |why: String| BundleError::NotABundle { dir: dir.to_owned(), why };
    let bytes =
        files::read(&dir.join(MANIFEST)).map_err(|error| not_a_bundle(error.to_string()))?;
    let manifest: Manifest =
        serde_json::from_slice(&bytes).map_err(|error| not_a_bundle(error.to_string()))?;
    let empty = Manifest::empty("");
    let is_known = manifest.aegx_version == empty.aegx_version
        && manifest.hash_alg == empty.hash_alg
        && manifest.canonicalization == empty.canonicalization;
    if is_known { Ok(manifest) } else { Err(not_a_bundle("of an unknown version".to_owned())) }
}

/// What is in the place of a folder could lead out of the bundle.
fn check_blobs_folder(dir: &Path) -> Result<(), BundleError> {
    match fs::symlink_metadata(dir.join(BLOBS)) {
        Ok(metadata) if !metadata.is_dir() => {
            Err(BundleError::Inconsistent { what: format!("`{BLOBS}` is not a folder") })
        }
        _ => Ok(()),
    }
}

/// The hash to chain on to, if both logs end where the manifest says.
fn check_ends(dir: &Path, manifest: &Manifest) -> Result<Digest, BundleError> {
    let inconsistent = |what: &str| BundleError::Inconsistent { what: what.to_owned() };
    let head = Digest::from_hex(manifest.audit_head.as_bytes())
        .ok_or_else(|| inconsistent("`audit_head` is no hash"))?;
    let tail = |name: &str| {
        let path = dir.join(name);
        read_tail(&path).map_err(|error| BundleError::io(&path, error))
    };
    let (records, entries) = (tail(RECORDS)?, tail(AUDIT_LOG)?);
    if records.is_empty() != entries.is_empty() {
        return Err(inconsistent("there are records without an audit log, or the other way round"));
    }
    if entries.is_empty() {
        let is_empty = manifest.record_count == 0 && head == Digest::ZERO;
        return if is_empty { Ok(head) } else { Err(inconsistent("the audit log is empty")) };
    }
    if !records.ends_with(b"\n") {
        // What is appended would become part of the last record.
        return Err(inconsistent("the last record has no newline"));
    }
    let last =
        entries.strip_suffix(b"\n").ok_or_else(|| inconsistent("the audit log has no end"))?;
    let last = last.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let entry: AuditEntry = serde_json::from_slice(last)
        .map_err(|_| inconsistent("the last line of the audit log is no entry"))?;
    if entry.compute_hash() != head || Some(manifest.record_count) != entry.idx.checked_add(1) {
        return Err(inconsistent("the audit log does not end where the manifest says"));
    }
    Ok(head)
}

fn read_tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = files::open_plain(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
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
