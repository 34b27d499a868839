//! The note that makes an interrupted addition undoable.
//!
//! It holds the manifest and the lengths of the two logs before the addition. Replacing the
//! manifest is the moment at which an addition counts: a note that agrees with the manifest is of
//! one that did not come so far.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::BundleError;
use super::files;
use crate::digest::Digest;
use crate::manifest::Manifest;
use crate::source::{AUDIT_LOG, BLOBS, RECORDS};

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

pub(crate) const PENDING: &str = ".aegx-pending";

/// Writes the note, durably, before anything else is touched.
pub(crate) fn note(
    dir: &Path,
    manifest: &Manifest,
    blob: Option<&Digest>,
) -> Result<(), BundleError> {
    let pending = Pending {
        manifest: manifest.clone(),
        records_bytes: files::length(&dir.join(RECORDS))?,
        audit_bytes: files::length(&dir.join(AUDIT_LOG))?,
        blob: blob.map(Digest::to_string),
    };
    files::create(&dir.join(PENDING), &serde_json::to_vec(&pending)?)?;
    files::sync_directory(dir)
}

/// Takes the note back.
pub(crate) fn clear(dir: &Path) -> Result<(), BundleError> {
    files::remove(&dir.join(PENDING))
}

/// Did an addition leave something behind?
pub(crate) fn is_left(dir: &Path) -> bool {
    [PENDING, files::TEMPORARY].iter().any(|name| fs::symlink_metadata(dir.join(name)).is_ok())
}

/// Undoes an addition that did not come to its end. Only the holder of the lock may.
pub(crate) fn mend(dir: &Path) -> Result<(), BundleError> {
    files::remove(&dir.join(files::TEMPORARY))?;
    let path = dir.join(PENDING);
    let note = match files::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        note => note.map_err(|error| BundleError::io(&path, error))?,
    };
    // A note that was not written whole was written before anything else was touched.
    if let Ok(pending) = serde_json::from_slice::<Pending>(&note)
        && super::transaction::read_manifest(dir)? == pending.manifest
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
