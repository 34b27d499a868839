//! A secret: bytes that cannot be printed and are wiped when nobody needs them any more.

use monitor::Permit;
use zeroize::Zeroizing;

/// The shortest value that is kept, in bytes. A shorter one cannot be told from ordinary text when outputs
/// are scrubbed, and is guessed anyway.
pub const SECRET_BYTES_MIN: usize = 8;
/// The longest value that is kept, in bytes.
pub const SECRET_BYTES_MAX: usize = 64 << 10;

/// A secret.
///
/// INVARIANT (SecretsDoNotPrint): it has no `Debug`, no `Display`, no `Serialize` and no `Clone`, is wiped on
/// drop, and is revealed to who holds a permit. What must not compile is in `tests/secret/`.
pub struct Secret(Zeroizing<String>);

/// Why a text is not kept as a secret. It says nothing of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// Under [`SECRET_BYTES_MIN`].
    #[error(
        "the value is shorter than {SECRET_BYTES_MIN} bytes: it could not be found and taken out of what agents are shown; use a longer one"
    )]
    TooShort,
    /// Over [`SECRET_BYTES_MAX`].
    #[error("the value is longer than {SECRET_BYTES_MAX} bytes")]
    TooLong,
    /// A NUL, which no header field and no environment can carry.
    #[error("the value holds a NUL character")]
    Nul,
    /// Nothing but blanks, or the same character again and again.
    #[error("the value is one character again and again: that is no secret")]
    Monotonous,
    /// It can be found by trying.
    #[error(
        "the value can be guessed: whoever sees what is taken out of texts could try until it is found; use a longer random one, or store it with --accept-guessable, and it is not taken out of texts"
    )]
    Guessable,
}

impl Secret {
    /// Takes a value in, and the buffer that it came in.
    ///
    /// # Errors
    /// If it is not one that can be kept and scrubbed.
    pub fn new(text: Zeroizing<String>) -> Result<Self, SecretError> {
        if text.len() < SECRET_BYTES_MIN {
            return Err(SecretError::TooShort);
        }
        if text.len() > SECRET_BYTES_MAX {
            return Err(SecretError::TooLong);
        }
        if text.contains('\0') {
            return Err(SecretError::Nul);
        }
        let mut characters = text.chars();
        let first = characters.next();
        if characters.all(|it| Some(it) == first) {
            return Err(SecretError::Monotonous);
        }
        Ok(Self(text))
    }

    /// The same if nobody can guess it.
    ///
    /// # Errors
    /// If somebody can.
    pub fn unless_guessable(self) -> Result<Self, SecretError> {
        if self.is_guessable() { Err(SecretError::Guessable) } else { Ok(self) }
    }

    /// The value, for who may use it: the permit says that a judged and recorded effect needs it.
    #[must_use]
    pub fn reveal<E>(&self, _permit: &Permit<E>) -> &str {
        &self.0
    }

    /// The value, for what encrypts it and what scrubs it.
    pub(crate) fn plain(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_scrubbed_is_not_kept() {
        let of = |text: &str| Secret::new(Zeroizing::new(text.to_owned())).err();
        assert_eq!(of("short"), Some(SecretError::TooShort));
        assert_eq!(of("1234567"), Some(SecretError::TooShort));
        assert_eq!(of("12345678"), None);
        assert_eq!(of("        "), Some(SecretError::Monotonous));
        assert_eq!(of("xxxxxxxxxx"), Some(SecretError::Monotonous));
        assert_eq!(of("1234\u{0}5678"), Some(SecretError::Nul));
        assert_eq!(of(&"ab".repeat(SECRET_BYTES_MAX / 2)), None);
        assert_eq!(of(&"ab".repeat(SECRET_BYTES_MAX)), Some(SecretError::TooLong));
    }
}
