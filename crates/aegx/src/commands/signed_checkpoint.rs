//! What the commands about checkpoints share: reading notes, keys and the ids of a bundle.

use std::io;
use std::path::Path;

use aegx::archive::ArchiveError;
use aegx::checkpoint::Checkpoint;
use aegx::note::{KeyRefused, NOTE_BYTES_MAX, SignedNote, VerifierKey};
use aegx::{Digest, Source};

use super::{Failure, input};

/// Longer than any key.
const KEY_BYTES_MAX: usize = 4096;

/// Reads a note without believing it.
pub(super) fn read_note(path: &Path) -> Result<SignedNote, Failure> {
    let bytes = input::read_file(path, NOTE_BYTES_MAX)?;
    SignedNote::parse(&bytes)
        .map_err(|error| Failure::refused(format!("`{}`: {error}", path.display())))
}

/// Demands the signature of `key` and reads what was signed.
pub(super) fn verify_note(note: SignedNote, key: &VerifierKey) -> Result<Checkpoint, Failure> {
    let verified = note.verify(key).map_err(|error| Failure::refused(error.to_string()))?;
    Checkpoint::from_verified(&verified).map_err(|error| Failure::refused(error.to_string()))
}

/// Reads a key that is given as it is or as the file that holds it.
pub(super) fn read_key(given: &str) -> Result<VerifierKey, Failure> {
    match VerifierKey::parse(given) {
        Ok(key) => return Ok(key),
        Err(error @ KeyRefused::Private) => return Err(Failure::usage(error.to_string())),
        // The name of a file, unless there is no such file and it looks like a key.
        Err(error) if given.contains('+') && !Path::new(given).exists() => {
            return Err(Failure::usage(format!("--key: {error}")));
        }
        Err(_) => {}
    }
    let bytes = input::read_file(Path::new(given), KEY_BYTES_MAX)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    VerifierKey::parse(text.trim()).map_err(|error| Failure::usage(format!("`{given}`: {error}")))
}

/// The ids of all records of a bundle, in order.
pub(super) fn read_ids(path: &Path, source: &Source) -> Result<Vec<Digest>, Failure> {
    aegx::record_ids(source).map_err(|error| {
        let message = format!("`{}`: {error}", path.display());
        let by_archive = error.get_ref().is_some_and(|it| it.is::<ArchiveError>());
        if by_archive || error.kind() == io::ErrorKind::InvalidData {
            Failure::refused(message)
        } else {
            Failure::unable(message)
        }
    })
}

/// Reads the id of a record from the command line.
pub(super) fn parse_id(text: &str) -> Result<Digest, String> {
    Digest::from_hex(text.as_bytes()).ok_or_else(|| "not 64 lower-case hex digits".to_owned())
}
