//! Tokens of this machine: made at random, each with a name, known by their digests alone.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use subtle::ConstantTimeEq as _;

/// The text of a new token. It cannot be printed by accident.
pub struct NewToken {
    /// The text, for whoever is to have it.
    pub text: String,
    /// What is kept of it.
    pub digest: TokenDigest,
}

/// The SHA-256 of a token: it says whether a text is the token, and not what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenDigest([u8; 32]);

/// A refusal of a text as a token: one that could be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token has {TOKEN_CHARS} hexadecimal digits; remove the file, and a new one is made")]
pub struct TokenUnfit;

impl NewToken {
    /// Makes a token.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_CHARS / 2];
        getrandom::fill(&mut bytes)?;
        let text = HEXLOWER.encode(&bytes);
        let digest = TokenDigest::of_text(&text);
        Ok(Self { text, digest })
    }
}

impl TokenDigest {
    /// Reads the text of a token.
    ///
    /// # Errors
    /// If it is not one that was made here.
    pub fn of_token(text: &str) -> Result<Self, TokenUnfit> {
        let is_fit = text.len() == TOKEN_CHARS && HEXLOWER.decode(text.as_bytes()).is_ok();
        if is_fit { Ok(Self::of_text(text)) } else { Err(TokenUnfit) }
    }

    /// Reads a digest as [`TokenDigest::to_hex`] writes it.
    #[must_use]
    pub fn parse(hex: &str) -> Option<Self> {
        HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok().map(Self)
    }

    /// Writes the digest in hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

/// The tokens that count, by their names.
#[derive(Clone, Debug, Default)]
pub struct TokenTable(Vec<(String, TokenDigest)>);

impl TokenTable {
    /// Makes a table; more than [`TOKENS_MAX`] are not looked at.
    #[must_use]
    pub fn new(mut tokens: Vec<(String, TokenDigest)>) -> Self {
        tokens.truncate(TOKENS_MAX);
        Self(tokens)
    }

    /// Returns the name and the digest of the token that `text` is. How long it takes says nothing about any of them.
    pub(super) fn find(&self, text: &str) -> Option<&(String, TokenDigest)> {
        let TokenDigest(asked) = TokenDigest::of_text(text);
        let mut found = None;
        for token in &self.0 {
            let TokenDigest(known) = &token.1;
            if bool::from(known.ct_eq(&asked)) {
                found = Some(token);
            }
        }
        found
    }

    pub(super) fn has(&self, name: &str, digest: &TokenDigest) -> bool {
        self.0.iter().any(|it| it.0 == name && it.1 == *digest)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// A reader of the tokens that count now.
pub type TokenSource = Box<dyn Fn() -> Arc<TokenTable> + Send + Sync>;

/// Tokens that are kept at one time.
pub const TOKENS_MAX: usize = 64;
/// Characters of a token.
const TOKEN_CHARS: usize = 64;
