//! Bundles as directories: making them, adding to them, building whole ones.

mod builder;
mod error;
mod files;
mod pack;
mod pending;
mod transaction;

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

pub use builder::Builder;
pub use error::BundleError;
pub use pack::{pack, pack_showing};

use crate::digest::Digest;
use crate::manifest::Manifest;
use crate::record::{Draft, Payload};
use crate::source::{AUDIT_LOG, BLOBS, MANIFEST, RECORDS};
use transaction::Transaction;

/// Makes an empty bundle in a directory that does not exist or is empty.
///
/// # Errors
/// If there is anything in the directory: an existing bundle is never emptied.
pub fn init(dir: &Path, created_at: &str) -> Result<(), BundleError> {
    fs::create_dir_all(dir).map_err(|error| BundleError::io(dir, error))?;
    let lock = files::lock(dir)?;
    let mut listing = fs::read_dir(dir).map_err(|error| BundleError::io(dir, error))?;
    if listing.next().is_some() {
        return Err(BundleError::NotEmpty { dir: dir.to_owned() });
    }
    let blobs = dir.join(BLOBS);
    fs::create_dir(&blobs).map_err(|error| BundleError::io(&blobs, error))?;
    files::create(&dir.join(RECORDS), b"")?;
    files::create(&dir.join(AUDIT_LOG), b"")?;
    // Last: a directory with a manifest is a bundle.
    files::replace(dir, MANIFEST, &Manifest::empty(created_at).to_bytes()?)?;
    files::sync_directory(dir)?;
    drop(lock);
    Ok(())
}

/// Copies `input` into the bundle under the hash of its content.
///
/// # Errors
/// If it cannot be read or stored; the bundle is then as before.
pub fn add_blob(dir: &Path, input: impl Read) -> Result<Digest, BundleError> {
    Transaction::begin(dir)?.add_blob(input)
}

/// Adds a record and its audit entry.
///
/// # Errors
/// If a parent or the blob is not in the bundle, if `size` is not the blob's, or if the bundle
/// contradicts itself; the bundle is then as before.
pub fn add_record(dir: &Path, draft: Draft) -> Result<Digest, BundleError> {
    let transaction = Transaction::begin(dir)?;
    let parents = draft.parents.clone();
    let record = draft.seal()?;
    for parent in parents {
        if !transaction.has_record(&parent)? {
            return Err(BundleError::UnknownParent { parent });
        }
    }
    if let Payload::Blob { blob, size, .. } = &record.payload {
        transaction.check_blob(blob, *size)?;
    }
    transaction.add_record(&record)
}

/// Keeps writers out of a bundle as long as the file lives; `None` where that cannot be had.
pub(crate) fn hold(dir: &Path) -> Option<File> {
    files::lock_shared(dir).ok()
}

/// Is this the name of a file that an interrupted addition leaves behind?
pub(crate) fn is_leftover(name: &str) -> bool {
    name == pending::PENDING || name == files::TEMPORARY
}
