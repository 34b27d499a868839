//! Ed25519 keys as C2SP signed-note writes them.

use std::fmt;

use data_encoding::BASE64;
use ed25519_dalek::Signer as _;
use zeroize::Zeroizing;

use super::{NameRefused, NoteName};
use crate::Digest;

/// A key that signs notes. It cannot be printed, and its memory is wiped when it is dropped.
pub struct SigningKey {
    secret: ed25519_dalek::SigningKey,
    verifier: VerifierKey,
}

impl SigningKey {
    /// The key that follows from 32 secret random bytes. The caller wipes its copy of them.
    #[must_use]
    pub fn from_seed(name: NoteName, seed: &[u8; SEED_BYTES]) -> Self {
        let secret = ed25519_dalek::SigningKey::from_bytes(seed);
        let verifier = VerifierKey::new(name, secret.verifying_key());
        Self { secret, verifier }
    }

    /// Reads `PRIVATE+KEY+<name>+<id>+<base64>`.
    pub fn parse(text: &str) -> Result<Self, KeyRefused> {
        let fields = text.strip_prefix(PRIVATE_PREFIX).ok_or(KeyRefused::NotPrivate)?;
        let fields = KeyFields::parse(fields)?;
        let key = Self::from_seed(fields.name, key_bytes(&fields.payload)?);
        key.verifier.check_id(fields.id)?;
        Ok(key)
    }

    /// The text that [`SigningKey::parse`] reads. It holds the secret.
    #[must_use]
    pub fn to_secret_text(&self) -> Zeroizing<String> {
        let payload = Zeroizing::new(with_algorithm(self.secret.as_bytes()));
        let VerifierKey { name, id, .. } = &self.verifier;
        let head = format!("{PRIVATE_PREFIX}{name}+{id:08x}+");
        // Room from the start: growing would leave parts of the secret behind.
        let mut text = Zeroizing::new(String::with_capacity(head.len() + PAYLOAD_CHARS));
        text.push_str(&head);
        BASE64.encode_append(&*payload, &mut text);
        text
    }

    /// The public half.
    #[must_use]
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    pub(super) fn sign(&self, text: &str) -> [u8; SIGNATURE_BYTES] {
        self.secret.sign(text.as_bytes()).to_bytes()
    }
}

/// A key that verifies notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: NoteName,
    id: u32,
    key: ed25519_dalek::VerifyingKey,
}

impl VerifierKey {
    /// Reads `<name>+<id>+<base64>`.
    pub fn parse(text: &str) -> Result<Self, KeyRefused> {
        if text.starts_with(PRIVATE_PREFIX) {
            return Err(KeyRefused::Private);
        }
        let fields = KeyFields::parse(text)?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(key_bytes(&fields.payload)?)
            .ok()
            // Under a weak key one signature fits many texts.
            .filter(|key| !key.is_weak())
            .ok_or(KeyRefused::Point)?;
        let verifier = Self::new(fields.name, key);
        verifier.check_id(fields.id)?;
        Ok(verifier)
    }

    fn new(name: NoteName, key: ed25519_dalek::VerifyingKey) -> Self {
        let payload = with_algorithm(key.as_bytes());
        let hash = Digest::of_parts(&[name.as_str().as_bytes(), b"\n", &payload]);
        let [a, b, c, d, ..] = *hash.as_bytes();
        Self { name, id: u32::from_be_bytes([a, b, c, d]), key }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &NoteName {
        &self.name
    }

    /// The id: a short hash of name and key, written as 8 hex digits.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        ed25519_dalek::Signature::from_slice(signature)
            .and_then(|signature| self.key.verify_strict(text.as_bytes(), &signature))
            .is_ok()
    }

    fn check_id(&self, stated: u32) -> Result<(), KeyRefused> {
        if stated == self.id {
            Ok(())
        } else {
            Err(KeyRefused::IdMismatch { stated, computed: self.id })
        }
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload = BASE64.encode(&with_algorithm(self.key.as_bytes()));
        write!(f, "{}+{:08x}+{payload}", self.name, self.id)
    }
}

/// What both kinds of key are written with.
struct KeyFields {
    name: NoteName,
    id: u32,
    payload: Zeroizing<[u8; PAYLOAD_BYTES]>,
}

impl KeyFields {
    fn parse(text: &str) -> Result<Self, KeyRefused> {
        // Base64 may hold a plus; names and ids do not.
        let (name, rest) = text.split_once('+').ok_or(KeyRefused::Form)?;
        let (id, payload) = rest.split_once('+').ok_or(KeyRefused::Form)?;
        Ok(Self { name: NoteName::new(name)?, id: parse_id(id)?, payload: parse_payload(payload)? })
    }
}

fn parse_id(text: &str) -> Result<u32, KeyRefused> {
    let id = u32::from_str_radix(text, 16).map_err(|_| KeyRefused::Id)?;
    // Refuses signs, capitals and other lengths.
    if format!("{id:08x}") == text { Ok(id) } else { Err(KeyRefused::Id) }
}

fn parse_payload(text: &str) -> Result<Zeroizing<[u8; PAYLOAD_BYTES]>, KeyRefused> {
    let mut payload = Zeroizing::new([0; PAYLOAD_BYTES]);
    // `decode_mut` demands a buffer of the exact length.
    if text.len() != PAYLOAD_CHARS {
        return Err(KeyRefused::Payload);
    }
    let decoded = BASE64.decode_mut(text.as_bytes(), payload.as_mut_slice());
    // Padding would make it shorter.
    if decoded.is_ok_and(|bytes| bytes == PAYLOAD_BYTES) {
        Ok(payload)
    } else {
        Err(KeyRefused::Payload)
    }
}

fn key_bytes(payload: &[u8; PAYLOAD_BYTES]) -> Result<&[u8; SEED_BYTES], KeyRefused> {
    let [algorithm, bytes @ ..] = payload;
    if *algorithm == ALGORITHM_ED25519 { Ok(bytes) } else { Err(KeyRefused::Algorithm(*algorithm)) }
}

fn with_algorithm(key: &[u8; SEED_BYTES]) -> [u8; PAYLOAD_BYTES] {
    let mut payload = [ALGORITHM_ED25519; PAYLOAD_BYTES];
    let [_, bytes @ ..] = &mut payload;
    *bytes = *key;
    payload
}

/// Why a text is not a key. Does not show the text: it may hold a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefused {
    /// Parts are missing.
    #[error("the key is not written as `<name>+<id>+<base64>`")]
    Form,
    /// A public key stands where a private key belongs.
    #[error("the key is not a private key: it does not start with `PRIVATE+KEY+`")]
    NotPrivate,
    /// A private key stands where a public key belongs.
    #[error("the key is a private key; keep it secret and give its verifier key")]
    Private,
    /// The name is not one.
    #[error("the key has no valid name")]
    Name(#[from] NameRefused),
    /// The id is not one.
    #[error("the id of the key is not 8 lower-case hex digits")]
    Id,
    /// The key proper is not 33 bytes.
    #[error("the key is not 33 bytes in padded base64")]
    Payload,
    /// Another algorithm.
    #[error("the key is for algorithm {0}, not for Ed25519 (1)")]
    Algorithm(u8),
    /// Not a point of the curve, or a weak one.
    #[error("the key is not a sound Ed25519 public key")]
    Point,
    /// The id is that of another name or key.
    #[error("the key states the id `{stated:08x}`, but its id is `{computed:08x}`")]
    IdMismatch {
        /// The id in the text.
        stated: u32,
        /// The id that follows from name and key.
        computed: u32,
    },
}

/// Length of the secret that a key is made from.
pub const SEED_BYTES: usize = 32;

const PRIVATE_PREFIX: &str = "PRIVATE+KEY+";
const ALGORITHM_ED25519: u8 = 1;
const PAYLOAD_BYTES: usize = 1 + SEED_BYTES;
const PAYLOAD_CHARS: usize = 44;
const SIGNATURE_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    // From the documentation of Go's `golang.org/x/mod/sumdb/note`.
    const PUBLIC: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const PRIVATE: &str =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";

    #[test]
    fn the_published_keys_round_trip() {
        let public = VerifierKey::parse(PUBLIC).unwrap();
        assert_eq!(public.to_string(), PUBLIC);
        assert_eq!(public.name().as_str(), "PeterNeumann");
        assert_eq!(public.id(), 0xc74f_20a3);
        let private = SigningKey::parse(PRIVATE).unwrap();
        assert_eq!(private.to_secret_text().as_str(), PRIVATE);
        assert_eq!(*private.verifier(), public);
    }

    #[test]
    fn the_secret_text_never_grows() {
        let key = SigningKey::from_seed(NoteName::new("journal").unwrap(), &[7; SEED_BYTES]);
        let text = key.to_secret_text();
        assert_eq!(text.len(), text.capacity());
    }

    #[test]
    fn one_kind_of_key_does_not_pass_for_the_other() {
        assert_eq!(VerifierKey::parse(PRIVATE).unwrap_err(), KeyRefused::Private);
        assert_eq!(SigningKey::parse(PUBLIC).err(), Some(KeyRefused::NotPrivate));
    }

    #[test]
    fn an_id_of_another_name_or_key_is_refused() {
        for (from, to) in [("c74f20a3", "c74f20a4"), ("PeterNeumann", "PeterNeuman")] {
            let public = VerifierKey::parse(&PUBLIC.replace(from, to)).unwrap_err();
            assert!(matches!(public, KeyRefused::IdMismatch { .. }), "{public}");
            let private = SigningKey::parse(&PRIVATE.replace(from, to)).err();
            assert!(matches!(private, Some(KeyRefused::IdMismatch { .. })), "{private:?}");
        }
    }

    #[test]
    fn only_the_one_way_to_write_a_key_is_read() {
        let short = BASE64.encode(&[1; 32]);
        for (text, expected) in [
            (String::new(), KeyRefused::Form),
            ("name+c74f20a3".to_owned(), KeyRefused::Form),
            (format!("+{PUBLIC}"), KeyRefused::Name(NameRefused::Empty)),
            (PUBLIC.replace("Peter", "Peter "), KeyRefused::Name(NameRefused::Character(0x20))),
            (PUBLIC.replace("c74f20a3", "C74F20A3"), KeyRefused::Id),
            (PUBLIC.replace("c74f20a3", "0c74f20a3"), KeyRefused::Id),
            (PUBLIC.replace("c74f20a3", "+74f20a3"), KeyRefused::Id),
            (format!("{PUBLIC}\n"), KeyRefused::Payload),
            (format!("n+00000000+{short}"), KeyRefused::Payload),
            (PUBLIC.replace("ARpc", "Ahpc"), KeyRefused::Algorithm(2)),
            (PUBLIC.replace("ARpc", "AR*c"), KeyRefused::Payload),
        ] {
            assert_eq!(VerifierKey::parse(&text), Err(expected), "{text}");
        }
    }

    #[test]
    fn a_weak_public_key_is_refused() {
        // The neutral point, under which anything can be signed.
        let mut neutral = [0; SEED_BYTES];
        neutral[0] = 1;
        let text = format!("n+00000000+{}", BASE64.encode(&with_algorithm(&neutral)));
        assert_eq!(VerifierKey::parse(&text), Err(KeyRefused::Point));
    }
}
