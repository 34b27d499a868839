//! Signed checkpoints: statements, verifiable by anybody, of what the journal held and when.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use aegx::Digest;
use aegx::checkpoint::Checkpoint;
use aegx::note::{NoteName, SEED_BYTES, SignedNote, SigningKey, VerifierKey};
use serde::{Deserialize, Serialize};

use crate::clean::Clean;
use crate::disk::Disk;
use crate::layout::Layout;
use files::private;

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
        "`{path}` can be read by others (mode {mode:03o}); `chmod 600` it; if somebody may have copied it, begin a new journal, which gets a new key"
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
    /// A new key would make everything that was signed before look forged.
    #[error(
        "`{path}` is gone, but the journal was signed with it; put it back, or move \
         `checkpoint.pub` and `checkpoints.jsonl` away to go on with a new one"
    )]
    KeyLost {
        /// The file.
        path: String,
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
    /// A checkpoint that is not what it says.
    #[error("the checkpoint does not verify: {0}")]
    Unverified(String),
    /// Nothing could be signed.
    #[error("cannot sign a checkpoint: {0}")]
    Sign(String),
}

/// Signs and keeps checkpoints of one journal.
pub(crate) struct Checkpoints {
    layout: Layout,
    key: SigningKey,
    disk: Arc<dyn Disk>,
}

impl Checkpoints {
    /// Loads the journal's key, or makes it on the first start. `signed` is the newest checkpoint.
    pub(crate) fn open(
        layout: &Layout,
        disk: &Arc<dyn Disk>,
        journal: &str,
        signed: Option<&Kept>,
    ) -> Result<Self, CheckpointError> {
        let path = layout.key();
        let io = |error| io_error(&path, error);
        let text = || path.display().to_string();
        let key = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // The public half is written after the key, so there was one if it is there.
                if signed.is_some() || layout.public_key().exists() {
                    return Err(CheckpointError::KeyLost { path: text() });
                }
                let key = generate(journal).map_err(CheckpointError::Sign)?;
                private::replace(&path, key.to_secret_text().as_bytes()).map_err(io)?;
                key
            }
            Err(error) => return Err(io(error)),
            Ok(metadata) => {
                check_mode(&path, &metadata)?;
                load(&path)?
            }
        };
        if key.verifier().name().as_str() != origin(journal) {
            return Err(CheckpointError::OtherJournal { path: text() });
        }
        Ok(Self { layout: layout.clone(), key, disk: Arc::clone(disk) })
    }

    /// Puts the public half beside the key.
    pub(crate) fn publish(&self) -> Result<(), CheckpointError> {
        let path = self.layout.public_key();
        let io = |error| io_error(&path, error);
        let public = format!("{}\n", self.key.verifier());
        let known = private::read_if_there(&path, KEY_BYTES_MAX).map_err(io)?;
        if known.as_deref() == Some(public.as_bytes()) {
            return Ok(());
        }
        private::replace(&path, public.as_bytes()).map_err(io)
    }

    /// The checkpoint that was kept, if this key signed it.
    pub(crate) fn verify(&self, kept: &Kept) -> Result<Checkpoint, String> {
        verify(&kept.note, self.key.verifier())
    }

    /// Signs the tree of `size` records with this root.
    pub(crate) fn sign(&self, size: u64, root: Digest, ts: &str) -> Result<Kept, CheckpointError> {
        let sign = |error: &dyn std::fmt::Display| CheckpointError::Sign(error.to_string());
        let origin = self.key.verifier().name().as_str();
        let checkpoint = Checkpoint::new(origin, size, root).map_err(|error| sign(&error))?;
        let note = checkpoint.sign(&self.key).map_err(|error| sign(&error))?;
        Ok(Kept { size, ts: ts.to_owned(), note: note.to_text() })
    }

    /// The last one on the list, if the list ends with one.
    pub(crate) fn newest_listed(&self) -> io::Result<Option<Kept>> {
        let file = match private::open(&self.layout.checkpoints()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let length = file.metadata()?.len();
        let start = length.saturating_sub(LINE_BYTES_MAX);
        let mut end = vec![0; usize::try_from(length - start).unwrap_or(0)];
        file.read_exact_at(&mut end, start)?;
        let Some(lines) = end.strip_suffix(b"\n") else { return Ok(None) };
        let begin = memchr::memrchr(b'\n', lines).map_or(0, |it| it + 1);
        Ok(serde_json::from_slice(lines.get(begin..).unwrap_or_default()).ok())
    }

    /// Puts one on the list.
    pub(crate) fn keep(&self, kept: &Kept) -> Result<(), CheckpointError> {
        let sign = |error: serde_json::Error| CheckpointError::Sign(error.to_string());
        let line = serde_json::to_vec(kept).map_err(sign)?;
        let path = self.layout.checkpoints();
        self.disk.append_line(&path, &line).map_err(|error| io_error(&path, error))
    }
}

/// The checkpoints that are kept, oldest first, with the one of the note if it is newer. A torn last line is not one
/// of them.
pub(crate) fn read(layout: &Layout) -> Result<Vec<Kept>, CheckpointError> {
    let (mut listed, noted) = read_both(layout)?;
    listed.extend(noted);
    Ok(listed)
}

/// The list, and the checkpoint of the note if it is newer.
pub(crate) fn read_both(layout: &Layout) -> Result<(Vec<Kept>, Option<Kept>), CheckpointError> {
    let note = Clean::read(layout).map_err(|error| io_error(&layout.clean(), error))?;
    let listed = read_list(layout)?;
    let size = listed.last().map_or(0, |it| it.size);
    let noted = note.and_then(|it| it.standing).map(|it| it.checkpoint);
    Ok((listed, noted.filter(|it| it.size > size)))
}

fn read_list(layout: &Layout) -> Result<Vec<Kept>, CheckpointError> {
    let path = layout.checkpoints();
    let text = private::read_if_there(&path, CHECKPOINTS_BYTES_MAX);
    let text = text.map_err(|error| io_error(&path, error))?.unwrap_or_default();
    private::whole_lines(&text)
        .enumerate()
        .map(|(number, line)| {
            serde_json::from_slice(line).map_err(|_| CheckpointError::Line {
                path: path.display().to_string(),
                line: number + 1,
            })
        })
        .collect()
}

/// A checkpoint is shorter than this, as a line.
const LINE_BYTES_MAX: u64 = 4096;
/// One a minute for ten years.
const CHECKPOINTS_BYTES_MAX: u64 = 4 << 30;

/// The public key that lies beside the journal, for whoever pins none.
pub(crate) fn own_key(layout: &Layout) -> Option<VerifierKey> {
    let bytes = private::read(&layout.public_key(), KEY_BYTES_MAX).ok()?;
    VerifierKey::parse(std::str::from_utf8(&bytes).ok()?.trim_end()).ok()
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

/// The key that signs in the journal's name, if it is there.
pub(crate) fn signing_key(layout: &Layout) -> Result<Option<SigningKey>, CheckpointError> {
    let path = layout.key();
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(&path, error)),
        Ok(metadata) => {
            check_mode(&path, &metadata)?;
            load(&path).map(Some)
        }
    }
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
    let bytes = private::read(path, KEY_BYTES_MAX).map_err(|error| io_error(path, error))?;
    let bytes = zeroize::Zeroizing::new(bytes);
    let no_key = |why: String| CheckpointError::Key { path: path.display().to_string(), why };
    let text = std::str::from_utf8(&bytes).map_err(|error| no_key(error.to_string()))?;
    SigningKey::parse(text.trim_end()).map_err(|error| no_key(error.to_string()))
}

const KEY_BYTES_MAX: u64 = 4096;

fn check_mode(path: &Path, metadata: &fs::Metadata) -> Result<(), CheckpointError> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
    let exposed = mode & 0o077 != 0 || !metadata.is_file();
    let path = path.display().to_string();
    if exposed { Err(CheckpointError::KeyExposed { path, mode }) } else { Ok(()) }
}

fn io_error(path: &Path, error: io::Error) -> CheckpointError {
    CheckpointError::Io { path: path.display().to_string(), error }
}
