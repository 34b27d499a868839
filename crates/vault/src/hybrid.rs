//! Identities of age that a quantum computer does not break: `mlkem768x25519` of C2SP, which the library does not
//! have yet. The file key is sealed by HPKE with the KEM that is below this, in `kem.rs`.

mod kem;

use std::collections::HashSet;

use age::{DecryptError, EncryptError};
use age_core::format::{FILE_KEY_BYTES, FileKey, Stanza};
use age_core::primitives::{bech32_decode, bech32_encode, hpke_open, hpke_seal};
use age_core::secrecy::ExposeSecret;
use bech32::Hrp;
use data_encoding::BASE64_NOPAD;
use hpke::{Deserializable, HpkeError, Kem, Serializable};
use rand::rngs::OsRng;
use zeroize::Zeroizing;

use kem::{EncappedKey, PrivateKey, PublicKey, XWing};

/// How the text of an identity begins.
pub(crate) const IDENTITY_PREFIX: &str = "AGE-SECRET-KEY-PQ-1";

const IDENTITY: Hrp = Hrp::parse_unchecked("age-secret-key-pq-");
const RECIPIENT: Hrp = Hrp::parse_unchecked("age1pq");
/// The stanza, and what the sealing is for.
const TAG: &str = "mlkem768x25519";
const INFO: &[u8] = b"age-encryption.org/mlkem768x25519";
/// Recipients of another kind would undo what this one is for.
const LABEL: &str = "postquantum";
/// What sealing adds to a file key, in bytes.
const SEAL_BYTES: usize = 16;

/// An identity.
pub(crate) struct HybridIdentity(PrivateKey);

/// Whom it is sealed for.
pub(crate) struct HybridRecipient(PublicKey);

impl HybridIdentity {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let key = |_: Hrp, bytes: bech32::primitives::decode::ByteIter<'_>| {
            let bytes = Zeroizing::new(bytes.collect::<Vec<u8>>());
            PrivateKey::from_bytes(&bytes).map_err(drop)
        };
        let ours = |hrp: Hrp| (hrp == IDENTITY).then_some(()).ok_or(());
        // Like others of age it is written in capitals.
        let upper = text.bytes().all(|it| !it.is_ascii_lowercase());
        upper.then(|| bech32_decode(text, drop, ours, key).ok()).flatten().map(Self)
    }

    pub(crate) fn again(&self) -> Self {
        Self(self.0.clone())
    }

    pub(crate) fn text(&self) -> Zeroizing<String> {
        let small = Zeroizing::new(bech32_encode(IDENTITY, &self.0.to_bytes()));
        Zeroizing::new(small.to_ascii_uppercase())
    }

    pub(crate) fn to_public(&self) -> HybridRecipient {
        HybridRecipient(XWing::sk_to_pk(&self.0))
    }
}

impl age::Identity for HybridIdentity {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        if stanza.tag != TAG {
            return None;
        }
        let wrong = || Some(Err(DecryptError::InvalidHeader));
        let [share] = stanza.args.as_slice() else { return wrong() };
        // Of one spelling: what is left over of its last letter is zero.
        let share = BASE64_NOPAD.decode(share.as_bytes()).ok();
        let Some(share) = share.and_then(|it| EncappedKey::from_bytes(&it).ok()) else {
            return wrong();
        };
        if stanza.body.len() != FILE_KEY_BYTES + SEAL_BYTES {
            return wrong();
        }
        match hpke_open::<XWing>(&share, &self.0, INFO, &stanza.body).map(Zeroizing::new) {
            Ok(plain) => match <[u8; FILE_KEY_BYTES]>::try_from(plain.as_slice()) {
                Ok(key) => Some(Ok(FileKey::new(Box::new(key)))),
                Err(_) => wrong(),
            },
            // For somebody else, or changed: nobody can tell.
            Err(HpkeError::OpenError) => None,
            Err(_) => wrong(),
        }
    }
}

impl HybridRecipient {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let key = |_: Hrp, bytes: bech32::primitives::decode::ByteIter<'_>| {
            PublicKey::from_bytes(&bytes.collect::<Vec<u8>>()).map_err(drop)
        };
        let ours = |hrp: Hrp| (hrp == RECIPIENT).then_some(()).ok_or(());
        bech32_decode(text, drop, ours, key).ok().map(Self)
    }

    pub(crate) fn text(&self) -> String {
        bech32_encode(RECIPIENT, &self.0.to_bytes())
    }
}

impl age::Recipient for HybridRecipient {
    fn wrap_file_key(
        &self,
        file_key: &FileKey,
    ) -> Result<(Vec<Stanza>, HashSet<String>), EncryptError> {
        let key = file_key.expose_secret();
        let (share, body) = hpke_seal::<XWing, _>(&self.0, INFO, key, &mut OsRng);
        let share = BASE64_NOPAD.encode(&share.to_bytes());
        let stanza = Stanza { tag: TAG.to_owned(), args: vec![share], body };
        Ok((vec![stanza], HashSet::from([LABEL.to_owned()])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_written_and_opens_what_was_sealed_for_it() {
        let identity = HybridIdentity(PrivateKey::from_bytes(&[7; 32]).unwrap());
        let text = identity.text();
        assert!(text.starts_with(IDENTITY_PREFIX), "{}", text.as_str());
        assert_eq!(HybridIdentity::parse(&text).unwrap().text(), text);
        assert!(HybridIdentity::parse(&text.to_lowercase()).is_none());
        assert!(HybridIdentity::parse(text.get(..text.len() - 1).unwrap()).is_none());
        let recipient = identity.to_public();
        let written = recipient.text();
        assert!(written.starts_with("age1pq1") && written.len() == 1959, "{}", written.len());
        assert_eq!(HybridRecipient::parse(&written).unwrap().text(), written);

        let key = FileKey::new(Box::new([3; 16]));
        let (stanzas, labels) = age::Recipient::wrap_file_key(&recipient, &key).unwrap();
        assert_eq!(labels, HashSet::from([LABEL.to_owned()]));
        let opened = age::Identity::unwrap_stanzas(&identity, &stanzas).unwrap();
        assert_eq!(opened.ok().unwrap().expose_secret(), &[3; 16]);
        let other = HybridIdentity(PrivateKey::from_bytes(&[8; 32]).unwrap());
        assert!(age::Identity::unwrap_stanzas(&other, &stanzas).is_none());
    }
}
