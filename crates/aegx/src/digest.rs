//! SHA-256 values: the only names that records, entries and blobs have.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// A SHA-256 value. Written as 64 lower-case hex digits and in no other way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; DIGEST_BYTES]);

/// Length of a digest.
pub const DIGEST_BYTES: usize = 32;
/// Length of a digest's text.
pub const DIGEST_HEX_CHARS: usize = 64;

impl Digest {
    /// What the chain starts from: 64 zeros.
    pub const ZERO: Self = Self([0; DIGEST_BYTES]);

    /// Hashes `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes the concatenation of `parts`.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        // Copying a kilobyte costs less than feeding the hash a dozen pieces.
        let mut whole = Vec::with_capacity(parts.iter().map(|it| it.len()).sum());
        for part in parts {
            whole.extend_from_slice(part);
        }
        Self::of(&whole)
    }

    /// Reads exactly 64 lower-case hex digits.
    #[must_use]
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; DIGEST_BYTES];
        // `decode_mut` demands the exact length; HEXLOWER knows no upper-case digit.
        if text.len() != DIGEST_HEX_CHARS {
            return None;
        }
        HEXLOWER.decode_mut(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// The 64 hex digits.
    #[must_use]
    pub fn to_hex(self) -> HexDigest {
        let mut text = [0; DIGEST_HEX_CHARS];
        HEXLOWER.encode_mut(&self.0, &mut text);
        HexDigest(text)
    }

    /// Wraps bytes that are a digest already.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; DIGEST_BYTES]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; DIGEST_BYTES] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.to_hex().as_str())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text of a [`Digest`], without an allocation.
#[derive(Clone, Copy)]
pub struct HexDigest([u8; DIGEST_HEX_CHARS]);

impl HexDigest {
    /// The text as bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; DIGEST_HEX_CHARS] {
        &self.0
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // HEXLOWER writes ASCII only, so the fallback is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// SHA-256 over a stream.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// An empty hash.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything added.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sixty_four_lower_case_digits_are_a_digest() {
        let text = "a61ecc31a3cdcfaf35686574a2a2e239c32156601c27bd9f83b272574ed152d7";
        assert_eq!(Digest::from_hex(text.as_bytes()).unwrap().to_string(), text);
        for bad in ["", "a6", &text.to_uppercase(), &format!("{text}0"), &text.replace('a', "g")] {
            assert_eq!(Digest::from_hex(bad.as_bytes()), None, "{bad}");
        }
    }
}
