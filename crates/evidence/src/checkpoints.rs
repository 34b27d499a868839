//! Signed checkpoints: statements, verifiable by anybody, of what the journal held and when.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use aegx::Digest;
use aegx::checkpoint::Checkpoint;
use aegx::note::{NoteName, SEED_BYTES, SignedNote, SigningKey, VerifierKey};
use serde::{Deserialize, Serialize};

use crate::layout::{self, Layout};

/// A checkpoint as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Records that it covers.
    pub size: u64,
    /// When it was signed; the signature does not cover it.
    pub ts: String,
    /// The signed note.
    pub note: String,
}

/// Why checkpoints cannot be signed or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The disk.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A key that others may have read is no key.
    #[error(
        "`{path}` can be read by others (mode {mode:03o}); `chmod 600` it, or remove it if others may have used it"
    )]
    KeyExposed {
        /// The file.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// The key file holds no key.
    #[error("`{path}` holds no signing key: {why}")]
    Key {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The key and the segments do not belong together.
    #[error("`{path}` is the key of another journal, or the journal's name was changed")]
    OtherJournal {
        /// The file.
        path: String,
    },
    /// A line that is no checkpoint, other than a torn last one.
    #[error("`{path}` line {line} is no checkpoint")]
    Line {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// Nothing could be signed.
    #[error("cannot sign a checkpoint: {0}")]
    Sign(String),
}

/// Signs and keeps checkpoints of one journal.
pub(crate) struct Checkpoints {
    layout: Layout,
    key: SigningKey,
}

impl Checkpoints {
    /// Loads the journal's key, or makes it on the first start.
    pub(crate) fn open(layout: &Layout, journal: &str) -> Result<Self, CheckpointError> {
        let path = layout.key();
        let io = |error| io_error(&path, error);
        let key = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = generate(journal).map_err(CheckpointError::Sign)?;
                write_private(&path, key.to_secret_text().as_bytes()).map_err(io)?;
                key
            }
            Err(error) => return Err(io(error)),
            Ok(metadata) => {
                check_mode(&path, &metadata)?;
                load(&path)?
            }
        };
        if key.verifier().name().as_str() != origin(journal) {
            let path = path.display().to_string();
            return Err(CheckpointError::OtherJournal { path });
        }
        let public = format!("{}\n", key.verifier());
        let known = fs::read_to_string(layout.public_key()).unwrap_or_default();
        if known != public {
            layout::replace(&layout.public_key(), public.as_bytes())
                .map_err(|error| io_error(&layout.public_key(), error))?;
        }
        Ok(Self { layout: layout.clone(), key })
    }

    /// Signs the tree of `size` records with this root, and keeps it.
    pub(crate) fn sign(&self, size: u64, root: Digest, ts: &str) -> Result<Kept, CheckpointError> {
        let sign = |error: &dyn std::fmt::Display| CheckpointError::Sign(error.to_string());
        let origin = self.key.verifier().name().as_str();
        let checkpoint = Checkpoint::new(origin, size, root).map_err(|error| sign(&error))?;
        let note = checkpoint.sign(&self.key).map_err(|error| sign(&error))?;
        let kept = Kept { size, ts: ts.to_owned(), note: note.to_text() };
        let line = serde_json::to_vec(&kept).map_err(|error| sign(&error))?;
        let path = self.layout.checkpoints();
        layout::append_line(&path, &line).map_err(|error| io_error(&path, error))?;
        Ok(kept)
    }
}

/// The checkpoints that are kept, oldest first. A torn last line is not one of them.
pub(crate) fn read(layout: &Layout) -> Result<Vec<Kept>, CheckpointError> {
    let path = layout.checkpoints();
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|error| io_error(&path, error))?,
    };
    let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
    let lines = text.get(..whole).unwrap_or_default().split_inclusive(|byte| *byte == b'\n');
    lines
        .enumerate()
        .map(|(number, line)| {
            serde_json::from_slice(line).map_err(|_| CheckpointError::Line {
                path: path.display().to_string(),
                line: number + 1,
            })
        })
        .collect()
}

/// Cuts a torn last line off, so that the next one stands on a line of its own.
pub(crate) fn mend(layout: &Layout) -> io::Result<()> {
    let path = layout.checkpoints();
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
    if whole < text.len() {
        let file = OpenOptions::new().write(true).open(&path)?;
        file.set_len(whole as u64)?;
        file.sync_all()?;
    }
    Ok(())
}

/// The checkpoint in a note, if `key` signed it for the log of its own name.
pub(crate) fn verify(note: &str, key: &VerifierKey) -> Result<Checkpoint, String> {
    let note = SignedNote::parse(note.as_bytes()).map_err(|error| error.to_string())?;
    let verified = note.verify(key).map_err(|error| error.to_string())?;
    let checkpoint = Checkpoint::from_verified(&verified).map_err(|error| error.to_string())?;
    if checkpoint.origin() == key.name().as_str() {
        Ok(checkpoint)
    } else {
        Err(format!("the checkpoint is of another log, `{}`", checkpoint.origin().escape_debug()))
    }
}

/// The name of a journal's log, and of the key that signs it.
pub(crate) fn origin(journal: &str) -> String {
    format!("lazaret-{journal}")
}

fn generate(journal: &str) -> Result<SigningKey, String> {
    let name = NoteName::new(&origin(journal)).map_err(|error| error.to_string())?;
    let mut seed = [0; SEED_BYTES];
    getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
    let key = SigningKey::from_seed(name, &seed);
    zeroize::Zeroize::zeroize(&mut seed);
    Ok(key)
}

fn load(path: &Path) -> Result<SigningKey, CheckpointError> {
    const KEY_BYTES_MAX: u64 = 4096;
    let mut text = zeroize::Zeroizing::new(String::new());
    File::open(path)
        .and_then(|file| file.take(KEY_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| io_error(path, error))?;
    SigningKey::parse(text.trim_end()).map_err(|error| CheckpointError::Key {
        path: path.display().to_string(),
        why: error.to_string(),
    })
}

#[cfg(unix)]
fn check_mode(path: &Path, metadata: &fs::Metadata) -> Result<(), CheckpointError> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
    let exposed = mode & 0o077 != 0 || !metadata.is_file();
    let path = path.display().to_string();
    if exposed { Err(CheckpointError::KeyExposed { path, mode }) } else { Ok(()) }
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: &fs::Metadata) -> Result<(), CheckpointError> {
    Ok(())
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    layout::sync_parent(path)
}

fn io_error(path: &Path, error: io::Error) -> CheckpointError {
    CheckpointError::Io { path: path.display().to_string(), error }
}
