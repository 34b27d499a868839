//! Texts that are signed in the journal's name, beside its checkpoints: a person's word that has to hold elsewhere.

use aegx::note::{SignedNote, VerifierKey};

use crate::checkpoints::{self, CheckpointError};
use crate::reader::Reader;

/// Why a text was not signed, or a signature is not believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignedError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] CheckpointError),
    /// There is none: nothing was recorded yet.
    #[error("the journal has no key yet; it gets one with its first record")]
    NoKey,
    /// No note, or one of somebody else.
    #[error("it is not signed by this key: {0}")]
    Refused(String),
}

impl Reader {
    /// Signs a text with the journal's key. Its first line says what it is, so that it is none of the checkpoints.
    ///
    /// # Errors
    /// If there is no key, or the text is no text of a note.
    pub fn sign(&self, text: &str) -> Result<String, SignedError> {
        let key = checkpoints::signing_key(self.layout())?.ok_or(SignedError::NoKey)?;
        let note = SignedNote::sign(text, &[&key]);
        note.map(|it| it.to_text()).map_err(|error| SignedError::Refused(error.to_string()))
    }

    /// Returns the text of a note that the journal's key has signed.
    ///
    /// # Errors
    /// If there is no key, or it has not signed this.
    pub fn signed_text(&self, note: &[u8]) -> Result<String, SignedError> {
        let key = checkpoints::own_key(self.layout()).ok_or(SignedError::NoKey)?;
        signed_text(note, &key)
    }
}

/// Returns the text of a note that `key` has signed.
///
/// # Errors
/// If it has not.
pub fn signed_text(note: &[u8], key: &VerifierKey) -> Result<String, SignedError> {
    let refused = |error: String| SignedError::Refused(error);
    let note = SignedNote::parse(note).map_err(|error| refused(error.to_string()))?;
    let verified = note.verify(key).map_err(|error| refused(error.to_string()))?;
    Ok(verified.text().to_owned())
}
