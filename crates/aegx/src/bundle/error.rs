//! Why a bundle could not be written.

use std::io;
use std::path::{Path, PathBuf};

use crate::archive::ArchiveError;
use crate::digest::Digest;
use crate::record::DraftError;
use crate::verify::LINE_BYTES_MAX;

/// Why a bundle could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// `init` where there is something already.
    #[error("`{}` is not empty; choose a new directory", dir.display())]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory is no bundle.
    #[error("`{}` is no bundle: it has no readable manifest.json ({why})", dir.display())]
    NotABundle {
        /// The directory.
        dir: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// Manifest and files do not agree, so nothing can be added honestly.
    #[error("the bundle contradicts itself: {what}; see `aegx verify`")]
    Inconsistent {
        /// What does not agree.
        what: String,
    },
    /// A signature covers what is there, and nothing else.
    #[error("the bundle is signed as a whole; nothing can be added while `bundle.note` is in it")]
    Signed,
    /// A parent that is not there.
    #[error("the parent {parent} is no record of this bundle")]
    UnknownParent {
        /// The id.
        parent: Digest,
    },
    /// A blob that is not there.
    #[error("there is no blob `{blob}` in this bundle; add it first with `aegx add-blob`")]
    UnknownBlob {
        /// What was asked for.
        blob: String,
    },
    /// A false size.
    #[error("the blob {blob} has {actual} bytes, not {claimed}")]
    FalseSize {
        /// The blob.
        blob: Digest,
        /// What the record says.
        claimed: u64,
        /// What is true.
        actual: u64,
    },
    /// A record that no reader would take.
    #[error("the record takes {bytes} bytes; a line may have {LINE_BYTES_MAX}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Something in the directory that does not belong to a bundle.
    #[error("`{name}` does not belong to a bundle; remove it first")]
    Stray {
        /// Its name.
        name: String,
    },
    /// The record is not well-formed.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// The archive could not be written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It could not be signed.
    #[error("the bundle cannot be signed: {0}")]
    Sign(String),
    /// A value could not be printed.
    #[error("cannot print as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The disk.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl BundleError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }

    /// Refuses a line that the verifier would not read.
    pub(crate) fn check_length(line: &[u8]) -> Result<(), Self> {
        let bytes = line.len();
        if bytes <= LINE_BYTES_MAX { Ok(()) } else { Err(Self::TooLong { bytes }) }
    }
}
