//! Keys of the index: SipHash-2-4, the same on every machine and in every version.
//!
//! Keys are stored, so the standard library's hasher (which may change) will not do, and an attacker
//! chooses what is hashed, so no cheap checksum will do either.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Stands for a normalised atom or phrase.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub(super) struct Key(pub(super) u64);

const KEY_0: u64 = 0x6c61_7a61_7265_7420;
const KEY_1: u64 = 0x7072_6f76_656e_616e;

/// A hash that is fed piece by piece and can be read after each.
#[derive(Clone, Debug)]
pub(super) struct Sip {
    v: [u64; 4],
    tail: u64,
    length: u64,
}

impl Sip {
    pub(super) const fn new() -> Self {
        Self::keyed(KEY_0, KEY_1)
    }

    const fn keyed(k0: u64, k1: u64) -> Self {
        Self {
            v: [
                k0 ^ 0x736f_6d65_7073_6575,
                k1 ^ 0x646f_7261_6e64_6f6d,
                k0 ^ 0x6c79_6765_6e65_7261,
                k1 ^ 0x7465_6462_7974_6573,
            ],
            tail: 0,
            length: 0,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        // Whole words at once; what was fed before shifts them.
        while let Some((word, rest)) = bytes.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            let place = (self.length % 8) * 8;
            let full = self.tail | (word << place);
            self.tail = if place == 0 { 0 } else { word >> (64 - place) };
            self.length = self.length.wrapping_add(8);
            self.absorb(full);
            bytes = rest;
        }
        for byte in bytes {
            let place = (self.length % 8) * 8;
            self.tail |= u64::from(*byte) << place;
            self.length = self.length.wrapping_add(1);
            if place == 56 {
                let word = std::mem::take(&mut self.tail);
                self.absorb(word);
            }
        }
    }

    /// Eight bytes at once; only before any odd bytes were fed.
    pub(super) const fn feed_word(&mut self, word: u64) {
        self.length = self.length.wrapping_add(8);
        self.absorb(word);
    }

    pub(super) fn key(&self) -> Key {
        let mut end = self.clone();
        let last = end.tail | (end.length << 56);
        end.absorb(last);
        let [v0, v1, v2, v3] = end.v;
        end.v = [v0, v1, v2 ^ 0xff, v3];
        (0..4).for_each(|_| end.round());
        let [v0, v1, v2, v3] = end.v;
        Key(v0 ^ v1 ^ v2 ^ v3)
    }

    const fn absorb(&mut self, word: u64) {
        let [v0, v1, v2, v3] = self.v;
        self.v = [v0, v1, v2, v3 ^ word];
        self.round();
        self.round();
        let [v0, v1, v2, v3] = self.v;
        self.v = [v0 ^ word, v1, v2, v3];
    }

    const fn round(&mut self) {
        let [mut v0, mut v1, mut v2, mut v3] = self.v;
        v0 = v0.wrapping_add(v1);
        v1 = v1.rotate_left(13) ^ v0;
        v0 = v0.rotate_left(32);
        v2 = v2.wrapping_add(v3);
        v3 = v3.rotate_left(16) ^ v2;
        v0 = v0.wrapping_add(v3);
        v3 = v3.rotate_left(21) ^ v0;
        v2 = v2.wrapping_add(v1);
        v1 = v1.rotate_left(17) ^ v2;
        v2 = v2.rotate_left(32);
        self.v = [v0, v1, v2, v3];
    }
}

/// The key of a text that is normalised already, in the space `space`: an address and a phrase that
/// happen to be spelled alike are not the same thing.
pub(super) fn key(space: u8, text: &str) -> Key {
    let mut sip = Sip::new();
    sip.feed(&[space]);
    sip.feed(text.as_bytes());
    sip.key()
}

/// Places keys in a map. They are hashes already, but of a function that everybody can compute: a secret
/// of the process keeps them from being chosen so that they fall into one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyHasher(u64, u64);

impl Default for KeyHasher {
    fn default() -> Self {
        static SECRET: LazyLock<KeyHasher> = LazyLock::new(|| {
            let state = RandomState::new();
            KeyHasher(state.hash_one(0_u8), state.hash_one(1_u8) | 1)
        });
        *SECRET
    }
}

impl BuildHasher for KeyHasher {
    type Hasher = Placed;

    fn build_hasher(&self) -> Placed {
        Placed { secret: *self, place: 0 }
    }
}

/// The place of one key.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    secret: KeyHasher,
    place: u64,
}

impl Hasher for Placed {
    fn write(&mut self, bytes: &[u8]) {
        let mut sip = Sip::keyed(self.secret.0, self.secret.1 ^ self.place);
        sip.feed(bytes);
        self.place = sip.key().0;
    }

    fn write_u64(&mut self, key: u64) {
        let KeyHasher(add, times) = self.secret;
        let wide = u128::from(self.place ^ key ^ add).wrapping_mul(u128::from(times));
        let [low, high] = [wide, wide >> 64].map(|it| u64::try_from(it & u128::from(u64::MAX)));
        self.place = low.unwrap_or_default() ^ high.unwrap_or_default();
    }

    fn finish(&self) -> u64 {
        self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The vectors of the reference implementation: key 00 01 … 0f, input 00 01 02 …
        let of = |length: u8| {
            let mut sip = Sip::keyed(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
            sip.feed(&(0..length).collect::<Vec<u8>>());
            sip.key().0
        };
        assert_eq!(of(0), 0x726f_db47_dd0e_0e31);
        assert_eq!(of(15), 0xa129_ca61_49be_45e5);
        // However it is cut up.
        let all: Vec<u8> = (0..40).collect();
        for at in 0..=all.len() {
            let (mut whole, mut cut) = (Sip::new(), Sip::new());
            all.iter().for_each(|it| whole.feed(&[*it]));
            cut.feed(&all[..at]);
            cut.feed(&all[at..]);
            assert_eq!(whole.key(), cut.key(), "{at}");
        }
    }

    #[test]
    fn spaces_are_apart() {
        assert_ne!(key(b'e', "a"), key(b'p', "a"));
    }
}
