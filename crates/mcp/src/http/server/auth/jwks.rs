//! Keys of an authorization server (JWKS, RFC 7517), as far as they can vouch for access tokens.

use super::super::limits::KEYS_MAX;
use crate::strict;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;

/// An algorithm of signatures. There are no others: none without a key, and none with a shared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

/// Public keys, by which tokens are verified.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    keys: Vec<Key>,
}

#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    material: Material,
}

#[derive(Clone, Debug)]
enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point of P-256, uncompressed.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A refusal of a file of keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// Not a set of keys.
    #[error("it is no JSON Web Key Set: {0}")]
    Shape(String),
    /// A key that is broken.
    #[error("a key of it is broken: `{0}`")]
    Broken(&'static str),
    /// Two keys of one name: which one is meant?
    #[error("two keys of it have the id `{0}`")]
    Twice(String),
    /// No key of a kind that is spoken here.
    #[error("it has no RSA, P-256 or Ed25519 key for signatures")]
    None,
    /// Too many.
    #[error("it has more than {KEYS_MAX} keys")]
    TooMany,
}

impl Algorithm {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

impl Material {
    /// The one algorithm that a key is for: a token cannot choose another.
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Rsa { .. } => Algorithm::Rs256,
            Self::P256(_) => Algorithm::Es256,
            Self::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            Self::Rsa { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }
                .verify(&RSA_PKCS1_2048_8192_SHA256, text, signature),
            Self::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(text, signature)
            }
            Self::Ed25519(point) => UnparsedPublicKey::new(&ED25519, point).verify(text, signature),
        };
        verified.is_ok()
    }
}

impl Keys {
    /// Reads a set of keys. Keys of other kinds or uses are left out.
    ///
    /// # Errors
    /// If it is no set of keys, or one of them is broken.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeysError> {
        let shape = |why: &dyn std::fmt::Display| KeysError::Shape(why.to_string());
        let text = std::str::from_utf8(bytes).map_err(|it| shape(&it))?;
        let value = strict::parse(text).map_err(|it| shape(&it))?;
        let list = value.get("keys").and_then(Value::as_array);
        let list = list.ok_or_else(|| shape(&"`keys` must be a list"))?;
        if list.len() > KEYS_MAX {
            return Err(KeysError::TooMany);
        }
        let mut keys: Vec<Key> = Vec::new();
        for key in list {
            let Some(key) = Key::parse(key)? else { continue };
            if let Some(id) = &key.id
                && keys.iter().any(|it| it.id.as_ref() == Some(id))
            {
                return Err(KeysError::Twice(id.clone()));
            }
            keys.push(key);
        }
        if keys.is_empty() { Err(KeysError::None) } else { Ok(Self { keys }) }
    }

    /// Verifies a signature; `None` where there is no such key. A token without a key's id is only verified where one
    /// key alone could be meant.
    pub(super) fn verify(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        text: &[u8],
        signature: &[u8],
    ) -> Option<bool> {
        let mut fitting = self.keys.iter().filter(|key| {
            key.material.algorithm() == algorithm && (id.is_none() || key.id.as_deref() == id)
        });
        let key = fitting.next()?;
        fitting.next().is_none().then(|| key.material.verify(text, signature))
    }
}

impl Key {
    fn parse(value: &Value) -> Result<Option<Self>, KeysError> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let bytes = |name: &'static str| {
            let text = text(name).ok_or(KeysError::Broken(name))?;
            BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| KeysError::Broken(name))
        };
        if text("use").is_some_and(|it| it != "sig") {
            return Ok(None);
        }
        let material = match (text("kty"), text("crv")) {
            (Some("RSA"), _) => Material::Rsa { modulus: bytes("n")?, exponent: bytes("e")? },
            (Some("EC"), Some("P-256")) => {
                let (x, y) = (bytes("x")?, bytes("y")?);
                if x.len() != COORDINATE_BYTES || y.len() != COORDINATE_BYTES {
                    return Err(KeysError::Broken("x"));
                }
                Material::P256([&[UNCOMPRESSED], x.as_slice(), y.as_slice()].concat())
            }
            (Some("OKP"), Some("Ed25519")) => Material::Ed25519(bytes("x")?),
            _ => return Ok(None),
        };
        // A key that is meant for another algorithm, such as RSA-PSS, is not used for this one.
        let is_meant =
            text("alg").is_none_or(|it| Algorithm::parse(it) == Some(material.algorithm()));
        Ok(is_meant.then(|| Self { id: text("kid").map(str::to_owned), material }))
    }
}

/// Bytes of a coordinate on P-256.
const COORDINATE_BYTES: usize = 32;
/// First byte of a point with both coordinates.
const UNCOMPRESSED: u8 = 4;
