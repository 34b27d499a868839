//! The token of this machine: whoever can read the operator's file may call.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A token that was made at random. It is kept as a digest and cannot be printed.
pub struct LocalToken {
    digest: [u8; 32],
}

/// A refusal of a text as a token: one that could be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token has {TOKEN_CHARS} hexadecimal digits; remove the file, and a new one is made")]
pub struct TokenUnfit;

impl LocalToken {
    /// Makes the text of a new token.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn random_text() -> Result<String, getrandom::Error> {
        let mut bytes = [0; TOKEN_CHARS / 2];
        getrandom::fill(&mut bytes)?;
        Ok(HEXLOWER.encode(&bytes))
    }

    /// Reads the text of a token.
    ///
    /// # Errors
    /// If it is not one that was made here.
    pub fn parse(text: &str) -> Result<Self, TokenUnfit> {
        let is_fit = text.len() == TOKEN_CHARS && HEXLOWER.decode(text.as_bytes()).is_ok();
        if is_fit { Ok(Self { digest: digest(text) }) } else { Err(TokenUnfit) }
    }

    /// Whether this is the token. How long it takes says nothing about it.
    pub(super) fn is(&self, text: &str) -> bool {
        self.digest.ct_eq(&digest(text)).into()
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Characters of a token.
const TOKEN_CHARS: usize = 64;
