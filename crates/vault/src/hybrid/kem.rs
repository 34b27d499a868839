//! MLKEM768-X25519, also called X-Wing: a key encapsulation that holds as long as one of both halves does.
//! (draft-connolly-cfrg-xwing-kem, for HPKE draft-ietf-hpke-pq.)

use hpke::kem::SharedSecret;
use hpke::{Deserializable, HpkeError, Kem, Serializable};
use ml_kem::kem::{Decapsulate, Encapsulate};
use ml_kem::{Ciphertext, Encoded, EncodedSizeUser, KemCore, MlKem768};
use rand::{CryptoRng, RngCore};
use sha3::digest::{ExtendableOutput, FixedOutput, Update, XofReader};
use sha3::{Sha3_256, Shake256};
use typenum::{Sum, U32, Unsigned};
use x25519_dalek::{PublicKey as Point, StaticSecret};
use zeroize::Zeroizing;

/// What tells this combination from others.
const LABEL: &[u8] = br"\.//^\";
/// A seed, a point, half of a seed, in bytes.
const HALF_BYTES: usize = 32;

type Decapsulation = <MlKem768 as KemCore>::DecapsulationKey;
type Encapsulation = <MlKem768 as KemCore>::EncapsulationKey;
type PublicBytes = <Encapsulation as EncodedSizeUser>::EncodedSize;
type ShareBytes = <MlKem768 as KemCore>::CiphertextSize;

/// The seed from which both halves are made.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PrivateKey(Zeroizing<[u8; HALF_BYTES]>);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PublicKey {
    lattice: Encapsulation,
    point: Point,
}

impl Eq for PublicKey {}

#[derive(Clone)]
pub(super) struct EncappedKey {
    lattice: Ciphertext<MlKem768>,
    point: Point,
}

pub(super) struct XWing;

impl PrivateKey {
    fn halves(&self) -> (Decapsulation, Encapsulation, StaticSecret) {
        let mut reader = Shake256::default().chain(*self.0).finalize_xof();
        let mut next = || {
            let mut half = Zeroizing::new([0; HALF_BYTES]);
            reader.read(&mut *half);
            half
        };
        let (d, z, scalar) = (next(), next(), next());
        let (secret, public) = MlKem768::generate_deterministic(&(*d).into(), &(*z).into());
        (secret, public, StaticSecret::from(*scalar))
    }
}

impl Deserializable for PrivateKey {
    fn from_bytes(encoded: &[u8]) -> Result<Self, HpkeError> {
        let seed = <[u8; HALF_BYTES]>::try_from(encoded);
        seed.map(|it| Self(Zeroizing::new(it))).map_err(|_| length(HALF_BYTES, encoded))
    }
}

impl Serializable for PrivateKey {
    type OutputSize = U32;

    fn write_exact(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&*self.0);
    }
}

impl Deserializable for PublicKey {
    fn from_bytes(encoded: &[u8]) -> Result<Self, HpkeError> {
        let (lattice, point) = split::<PublicBytes>(encoded)?;
        let bytes = Encoded::<Encapsulation>::try_from(lattice)
            .map_err(|_| length(PublicBytes::USIZE, encoded))?;
        let lattice = Encapsulation::from_bytes(&bytes);
        // A key in another spelling is no key: a coefficient may be written too large.
        if lattice.as_bytes() != bytes {
            return Err(HpkeError::ValidationError);
        }
        Ok(Self { lattice, point })
    }
}

impl Serializable for PublicKey {
    type OutputSize = Sum<PublicBytes, U32>;

    fn write_exact(&self, buffer: &mut [u8]) {
        join(buffer, &self.lattice.as_bytes(), &self.point);
    }
}

impl Deserializable for EncappedKey {
    fn from_bytes(encoded: &[u8]) -> Result<Self, HpkeError> {
        let (lattice, point) = split::<ShareBytes>(encoded)?;
        let lattice = Ciphertext::<MlKem768>::try_from(lattice)
            .map_err(|_| length(ShareBytes::USIZE, encoded))?;
        Ok(Self { lattice, point })
    }
}

impl Serializable for EncappedKey {
    type OutputSize = Sum<ShareBytes, U32>;

    fn write_exact(&self, buffer: &mut [u8]) {
        join(buffer, &self.lattice, &self.point);
    }
}

impl Kem for XWing {
    type PublicKey = PublicKey;
    type PrivateKey = PrivateKey;
    type EncappedKey = EncappedKey;
    type NSecret = U32;

    const KEM_ID: u16 = 0x647a;

    fn sk_to_pk(secret: &PrivateKey) -> PublicKey {
        let (_, lattice, scalar) = secret.halves();
        PublicKey { lattice, point: Point::from(&scalar) }
    }

    fn derive_keypair(material: &[u8]) -> (PrivateKey, PublicKey) {
        let mut seed = Zeroizing::new([0; HALF_BYTES]);
        Shake256::default().chain(material).finalize_xof_into(&mut *seed);
        let secret = PrivateKey(seed);
        let public = Self::sk_to_pk(&secret);
        (secret, public)
    }

    fn decap(
        secret: &PrivateKey,
        sender: Option<&PublicKey>,
        share: &EncappedKey,
    ) -> Result<SharedSecret<Self>, HpkeError> {
        let (lattice, _, scalar) = secret.halves();
        let first = lattice.decapsulate(&share.lattice).map_err(|()| HpkeError::DecapError)?;
        let second = scalar.diffie_hellman(&share.point);
        // A point that makes every secret the same is nobody's. Nobody here signs what they send.
        if !second.was_contributory() || sender.is_some() {
            return Err(HpkeError::DecapError);
        }
        Ok(combined(&first, second.as_bytes(), &share.point, &Point::from(&scalar)))
    }

    fn encap<R: CryptoRng + RngCore>(
        public: &PublicKey,
        sender: Option<(&PrivateKey, &PublicKey)>,
        random: &mut R,
    ) -> Result<(SharedSecret<Self>, EncappedKey), HpkeError> {
        let sealed = public.lattice.encapsulate(random);
        let (lattice, first) = sealed.map_err(|()| HpkeError::EncapError)?;
        let scalar = StaticSecret::random_from_rng(random);
        let point = Point::from(&scalar);
        let second = scalar.diffie_hellman(&public.point);
        if !second.was_contributory() || sender.is_some() {
            return Err(HpkeError::EncapError);
        }
        let secret = combined(&first, second.as_bytes(), &point, &public.point);
        Ok((secret, EncappedKey { lattice, point }))
    }
}

fn combined(first: &[u8], second: &[u8], share: &Point, own: &Point) -> SharedSecret<XWing> {
    let mut hash = Sha3_256::default();
    for part in [first, second, share.as_bytes(), own.as_bytes(), LABEL] {
        hash.update(part);
    }
    SharedSecret(hash.finalize_fixed())
}

/// The half of the lattice, and the point behind it.
fn split<N: Unsigned>(encoded: &[u8]) -> Result<(&[u8], Point), HpkeError> {
    let wrong = || length(N::USIZE + HALF_BYTES, encoded);
    let (lattice, point) = encoded.split_at_checked(N::USIZE).ok_or_else(wrong)?;
    let point = <[u8; HALF_BYTES]>::try_from(point).map_err(|_| wrong())?;
    Ok((lattice, Point::from(point)))
}

fn join(buffer: &mut [u8], lattice: &[u8], point: &Point) {
    let parts = lattice.iter().chain(point.as_bytes());
    buffer.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
}

fn length(wanted: usize, found: &[u8]) -> HpkeError {
    HpkeError::IncorrectInputLength(wanted, found.len())
}
