//! Encryption, by age: the one place where bytes are sealed and opened.

use std::borrow::Cow;
use std::io::{Read, Write};

use age::armor::ArmoredReader;
use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Encryptor, scrypt};
use zeroize::Zeroizing;

use crate::key::{Key, Kind};

/// The largest sealed file, in bytes.
pub const SEALED_BYTES_MAX: u64 = 64 << 20;
/// How hard a passphrase is to try: 2 to this power, about a second and 256 MiB.
const WORK_FACTOR: u8 = 18;
/// The hardest that is tried, so that a planted file does not keep us busy for hours.
const WORK_FACTOR_MAX: u8 = 20;

/// Why something sealed does not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No age file.
    #[error("it is no age file: something else was put in its place")]
    Foreign,
    /// Sealed for somebody else.
    #[error("the key does not open it: it was sealed for another")]
    WrongKey,
    /// Sealed with a passphrase.
    #[error("it was sealed with a passphrase, not for an identity")]
    NeedsPassphrase,
    /// Sealed for an identity.
    #[error("it was sealed for an identity, not with a passphrase")]
    NeedsIdentity,
    /// Cut short, or changed.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// A passphrase that would take hours to try.
    #[error(
        "its passphrase is too much work to try (2^{0}); no vault of ours has more than 2^{WORK_FACTOR}"
    )]
    TooMuchWork(u8),
    /// A program that did not help.
    #[error("the age plugin: {0}")]
    Plugin(String),
}

/// Why something cannot be sealed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot encrypt: {0}")]
pub struct SealError(pub(crate) String);

/// Is it sealed with a passphrase?
///
/// # Errors
/// If it is no age file.
pub fn is_passphrase(sealed: &[u8]) -> Result<bool, OpenError> {
    let binary = binary(sealed)?;
    Decryptor::new_buffered(&*binary).map(|it| it.is_scrypt()).map_err(fault)
}

/// Opens what was sealed, whole or not at all.
///
/// # Errors
/// If the key is not the one, or a byte is not as it was written.
pub fn open(sealed: &[u8], key: &Key) -> Result<Zeroizing<Vec<u8>>, OpenError> {
    let binary = binary(sealed)?;
    let decryptor = Decryptor::new_buffered(&*binary).map_err(fault)?;
    let reader = match (&key.0, decryptor.is_scrypt()) {
        (Kind::Identities(_), true) => return Err(OpenError::NeedsPassphrase),
        (Kind::Passphrase(_), false) => return Err(OpenError::NeedsIdentity),
        (Kind::Passphrase(text), true) => {
            let mut identity = scrypt::Identity::new(SecretString::from(text.as_str().to_owned()));
            identity.set_max_work_factor(WORK_FACTOR_MAX);
            decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity))
        }
        (Kind::Identities(all), false) => {
            let all: Result<Vec<_>, _> = all.iter().map(|it| it.to_age()).collect();
            let all = all.map_err(OpenError::Plugin)?;
            decryptor.decrypt(all.iter().map(|it| &**it))
        }
    };
    let mut reader = reader.map_err(fault)?;
    // What is opened is shorter than what was sealed: the buffer never moves and leaves no copy behind.
    let mut plain = Zeroizing::new(Vec::with_capacity(sealed.len()));
    reader
        .read_to_end(&mut plain)
        .map_err(|_| OpenError::Damaged("its content is cut short or was changed"))?;
    Ok(plain)
}

/// Without its armour, which may have blanks around it; with a head in which every stanza has its body. The
/// library takes a stanza without one for an empty body, and nobody writes such.
fn binary(sealed: &[u8]) -> Result<Cow<'_, [u8]>, OpenError> {
    let inner = sealed.trim_ascii();
    let binary = if inner.starts_with(ARMOR) {
        let mut plain = Vec::with_capacity(inner.len());
        let read = ArmoredReader::new(inner).read_to_end(&mut plain);
        read.map_err(|_| OpenError::Damaged("its armour is not as age writes it"))?;
        Cow::Owned(plain)
    } else {
        Cow::Borrowed(sealed)
    };
    let mut wants_body = false;
    for line in binary.split(|it| *it == b'\n') {
        match (line.starts_with(b"-"), wants_body) {
            (true, true) => return Err(OpenError::Damaged("a stanza of its head has no body")),
            (true, false) if line.starts_with(b"---") => break,
            (true, false) => wants_body = true,
            // A body ends with a line that is not full.
            (false, _) => wants_body &= line.len() == STANZA_LINE_BYTES,
        }
    }
    Ok(binary)
}

/// The length of a full line in the body of a stanza.
const STANZA_LINE_BYTES: usize = 64;

/// How armour begins.
const ARMOR: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";

/// Seals bytes for a key.
///
/// # Errors
/// If a plugin does not help.
pub fn seal(plain: &[u8], key: &Key) -> Result<Vec<u8>, SealError> {
    match &key.0 {
        Kind::Passphrase(text) => {
            let mut to = scrypt::Recipient::new(SecretString::from(text.as_str().to_owned()));
            to.set_work_factor(WORK_FACTOR);
            seal_to(plain, &to)
        }
        Kind::Identities(all) => {
            let first = all.first().ok_or_else(|| SealError("there is no identity".to_owned()))?;
            seal_to(plain, &*first.to_recipient()?)
        }
    }
}

/// Seals bytes for a recipient of others, as `age1…`.
///
/// # Errors
/// If it is none of age's own kind: no program is run for somebody else's word.
pub fn seal_for(plain: &[u8], recipient: &str) -> Result<Vec<u8>, SealError> {
    if let Some(to) = crate::hybrid::HybridRecipient::parse(recipient) {
        return seal_to(plain, &to);
    }
    let to: age::x25519::Recipient = recipient
        .parse()
        .map_err(|why: &str| SealError(format!("that is no recipient of age ({why})")))?;
    seal_to(plain, &to)
}

fn seal_to(plain: &[u8], to: &dyn age::Recipient) -> Result<Vec<u8>, SealError> {
    let failed = |it: &dyn std::fmt::Display| SealError(it.to_string());
    let encryptor = Encryptor::with_recipients(std::iter::once(to)).map_err(|it| failed(&it))?;
    let mut sealed = Vec::new();
    let mut writer = encryptor.wrap_output(&mut sealed).map_err(|it| failed(&it))?;
    writer.write_all(plain).map_err(|it| failed(&it))?;
    writer.finish().map_err(|it| failed(&it))?;
    Ok(sealed)
}

fn fault(error: DecryptError) -> OpenError {
    match error {
        DecryptError::NoMatchingKeys | DecryptError::KeyDecryptionFailed => OpenError::WrongKey,
        DecryptError::DecryptionFailed => OpenError::WrongKey,
        DecryptError::ExcessiveWork { required, .. } => OpenError::TooMuchWork(required),
        DecryptError::InvalidMac => OpenError::Damaged("its head was changed"),
        DecryptError::InvalidHeader => OpenError::Damaged("its head is not as age writes one"),
        DecryptError::UnknownFormat => OpenError::Foreign,
        DecryptError::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            OpenError::Damaged("it is cut short")
        }
        DecryptError::Io(_) => OpenError::Damaged("it is not spelled as age writes it"),
        DecryptError::Plugin(all) => {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            OpenError::Plugin(all.join("; "))
        }
        DecryptError::PluginResolve(error) => OpenError::Plugin(error.to_string()),
        // Whatever later versions of age know.
        _ => OpenError::Damaged("it does not open"),
    }
}
