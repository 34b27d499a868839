//! C2SP signed notes: a text, a blank line, and the signatures over the text.
//!
//! `SignedNote` was only read; `VerifiedNote` was verified. Only the latter shows its text under a
//! name that does not warn.

mod key;
mod name;

pub use key::{KeyRefused, SEED_BYTES, SigningKey, VerifierKey};
pub use name::{NameRefused, NoteName};

use data_encoding::BASE64;

/// A well-formed note that no one has verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedNote {
    /// INVARIANT (Text): ends with a newline and holds no other control character.
    text: String,
    signatures: Vec<NoteSignature>,
}

impl SignedNote {
    /// Signs `text` with each of `keys`.
    pub fn sign(text: &str, keys: &[&SigningKey]) -> Result<Self, NoteMalformed> {
        check_characters(text)?;
        if !text.ends_with('\n') {
            return Err(NoteMalformed::TextEnd);
        }
        let mut signatures = Vec::new();
        for key in keys {
            push_signature(&mut signatures, NoteSignature::new(key, text))?;
        }
        if signatures.is_empty() {
            return Err(NoteMalformed::NoSignature);
        }
        let note = Self { text: text.to_owned(), signatures };
        check_length(note.to_text().len())?;
        Ok(note)
    }

    /// Reads a note, strictly: [`SignedNote::to_text`] gives the same bytes back.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteMalformed> {
        check_length(bytes.len())?;
        let note = std::str::from_utf8(bytes).map_err(|_| NoteMalformed::NotUtf8)?;
        check_characters(note)?;
        // The text may hold blank lines; signatures do not.
        let (text, lines) = note.rsplit_once("\n\n").ok_or(NoteMalformed::NoBlankLine)?;
        if lines.is_empty() {
            return Err(NoteMalformed::NoSignature);
        }
        let lines = lines.strip_suffix('\n').ok_or(NoteMalformed::End)?;
        let mut signatures = Vec::new();
        for (index, line) in lines.split('\n').enumerate() {
            let signature = NoteSignature::parse(line)
                .ok_or(NoteMalformed::SignatureLine { number: index + 1 })?;
            push_signature(&mut signatures, signature)?;
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// The whole note, as it is stored and sent.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut note = format!("{}\n", self.text);
        for signature in &self.signatures {
            signature.append_to(&mut note);
        }
        note
    }

    /// Demands a signature by `key`. Signatures by others are of no account.
    pub fn verify(self, key: &VerifierKey) -> Result<VerifiedNote, NoteRefused> {
        let mut verified = false;
        for signature in self.signatures.iter().filter(|signature| signature.names(key)) {
            if !key.verifies(&self.text, &signature.bytes) {
                return Err(NoteRefused::BadSignature { name: key.name().clone(), id: key.id() });
            }
            verified = true;
        }
        if !verified {
            return Err(NoteRefused::NoSignature { name: key.name().clone(), id: key.id() });
        }
        Ok(VerifiedNote { note: self, signer: key.clone() })
    }

    /// The text, which anybody may have written.
    #[must_use]
    pub fn text_unverified(&self) -> &str {
        &self.text
    }

    /// The signatures, by whomever they claim to be.
    #[must_use]
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }
}

/// A note that bears a good signature by `signer`. Made by [`SignedNote::verify`] alone.
#[derive(Debug)]
pub struct VerifiedNote {
    note: SignedNote,
    signer: VerifierKey,
}

impl VerifiedNote {
    /// What was signed; ends with a newline.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.note.text
    }

    /// The key that the note was verified with.
    #[must_use]
    pub fn signer(&self) -> &VerifierKey {
        &self.signer
    }

    /// The note with all its signatures.
    #[must_use]
    pub fn note(&self) -> &SignedNote {
        &self.note
    }
}

/// One signature line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    name: NoteName,
    key_id: u32,
    bytes: Vec<u8>,
}

impl NoteSignature {
    /// The name of the key that the line claims.
    #[must_use]
    pub fn name(&self) -> &NoteName {
        &self.name
    }

    /// The id of the key that the line claims.
    #[must_use]
    pub fn key_id(&self) -> u32 {
        self.key_id
    }

    fn new(key: &SigningKey, text: &str) -> Self {
        let verifier = key.verifier();
        let bytes = key.sign(text).to_vec();
        Self { name: verifier.name().clone(), key_id: verifier.id(), bytes }
    }

    fn parse(line: &str) -> Option<Self> {
        let (name, payload) = line.strip_prefix(SIGNATURE_PREFIX)?.split_once(' ')?;
        let payload = BASE64.decode(payload.as_bytes()).ok()?;
        let (id, bytes) = payload.split_first_chunk()?;
        if bytes.is_empty() {
            return None;
        }
        let name = NoteName::new(name).ok()?;
        Some(Self { name, key_id: u32::from_be_bytes(*id), bytes: bytes.to_vec() })
    }

    fn append_to(&self, note: &mut String) {
        let payload = [self.key_id.to_be_bytes().as_slice(), &self.bytes].concat();
        note.push_str(SIGNATURE_PREFIX);
        note.push_str(self.name.as_str());
        note.push(' ');
        BASE64.encode_append(&payload, note);
        note.push('\n');
    }

    fn names(&self, key: &VerifierKey) -> bool {
        self.name == *key.name() && self.key_id == key.id()
    }
}

fn push_signature(
    signatures: &mut Vec<NoteSignature>,
    signature: NoteSignature,
) -> Result<(), NoteMalformed> {
    if signatures.len() == NOTE_SIGNATURES_MAX {
        return Err(NoteMalformed::TooManySignatures);
    }
    signatures.push(signature);
    Ok(())
}

fn check_length(bytes: usize) -> Result<(), NoteMalformed> {
    if bytes > NOTE_BYTES_MAX { Err(NoteMalformed::TooLong { bytes }) } else { Ok(()) }
}

fn check_characters(text: &str) -> Result<(), NoteMalformed> {
    match text.chars().find(|c| *c < ' ' && *c != '\n') {
        Some(control) => Err(NoteMalformed::ControlCharacter(control.into())),
        None => Ok(()),
    }
}

/// Why something is not a signed note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteMalformed {
    /// More than [`NOTE_BYTES_MAX`].
    #[error("the note has {bytes} bytes, more than {NOTE_BYTES_MAX}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not text.
    #[error("the note is not UTF-8")]
    NotUtf8,
    /// A character below U+0020 other than the newline; here as its code point.
    #[error("the note holds the control character U+{0:04X}")]
    ControlCharacter(u32),
    /// The text to sign is not made of lines.
    #[error("the text of the note does not end with a newline")]
    TextEnd,
    /// Text and signatures are not apart.
    #[error("the note has no blank line before its signatures")]
    NoBlankLine,
    /// The last signature line is cut.
    #[error("the note does not end with a newline")]
    End,
    /// A line after the text is not a signature.
    #[error("signature line {number} of the note is malformed")]
    SignatureLine {
        /// Which, from 1.
        number: usize,
    },
    /// No one signed.
    #[error("the note has no signature")]
    NoSignature,
    /// More than [`NOTE_SIGNATURES_MAX`].
    #[error("the note has more than {NOTE_SIGNATURES_MAX} signatures")]
    TooManySignatures,
}

/// Why a note is not verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteRefused {
    /// The key did not sign.
    #[error("the note is not signed by `{name}+{id:08x}`")]
    NoSignature {
        /// The name of the key.
        name: NoteName,
        /// The id of the key.
        id: u32,
    },
    /// The line of the key is there, but its signature is not over this text.
    #[error("the signature by `{name}+{id:08x}` does not fit the note")]
    BadSignature {
        /// The name of the key.
        name: NoteName,
        /// The id of the key.
        id: u32,
    },
}

/// Bytes in a note, signatures included.
pub const NOTE_BYTES_MAX: usize = 1024 * 1024;
/// Signatures on a note.
pub const NOTE_SIGNATURES_MAX: usize = 100;

/// An em dash and a space.
const SIGNATURE_PREFIX: &str = "\u{2014} ";

#[cfg(test)]
mod tests;
