//! A set of ids at eight bytes each.
//!
//! Ten million ids of 32 bytes would take most of a gigabyte. The set keeps a 64-bit keyed hash of
//! each instead, with a key drawn for this run: whoever wrote the bundle cannot aim at a
//! collision, and by chance a forged reference passes once in about 10^12 bundles of that size.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use crate::digest::Digest;

/// Maps ids to fingerprints, under a key of its own.
#[derive(Clone, Default)]
pub(crate) struct Fingerprints(RandomState);

/// The keyed hash of an id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Fingerprint(u64);

impl Fingerprints {
    pub(crate) fn of(&self, id: &Digest) -> Fingerprint {
        Fingerprint(self.0.hash_one(id.as_bytes()))
    }
}

/// A set of fingerprints.
#[derive(Default)]
pub(crate) struct IdSet(HashSet<Fingerprint, BuildHasherDefault<AsIs>>);

impl IdSet {
    pub(crate) fn reserve(&mut self, ids: usize) {
        self.0.reserve(ids);
    }

    pub(crate) fn insert(&mut self, id: Fingerprint) {
        self.0.insert(id);
    }

    pub(crate) fn contains(&self, id: Fingerprint) -> bool {
        self.0.contains(&id)
    }
}

/// A fingerprint is a hash already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
