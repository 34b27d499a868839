//! The manifest: counts, roots and the head of the chain. No hash covers it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::sorted;

/// `aegx_version`.
pub const VERSION: &str = "0.1";
/// `hash_alg`.
pub const ALGORITHM: &str = "sha256";
/// `canonicalization`.
pub const CANONICALIZATION: &str = "AEGX_CANON_0_1";

/// A manifest as we write it. Fields stand in the order in which they are stored.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`VERSION`].
    pub aegx_version: String,
    /// Hash of the last audit entry; 64 zeros if there is none.
    pub audit_head: String,
    /// Files in `blobs/`.
    pub blob_count: u64,
    /// [`CANONICALIZATION`].
    pub canonicalization: String,
    /// When the bundle was begun.
    pub created_at: String,
    /// Optional and covered by no hash; kept if somebody wrote it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "sorted::serialize_option"
    )]
    pub extensions: Option<Value>,
    /// [`ALGORITHM`].
    pub hash_alg: String,
    /// Optional and covered by no hash; kept if somebody wrote it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "sorted::serialize_option"
    )]
    pub meta: Option<Value>,
    /// Records, and so audit entries.
    pub record_count: u64,
    /// Ids of all records without parents, in file order, repeats included.
    pub root_records: Vec<String>,
}

impl Manifest {
    /// The manifest of a bundle with nothing in it.
    #[must_use]
    pub fn empty(created_at: &str) -> Self {
        Self {
            aegx_version: VERSION.to_owned(),
            audit_head: Digest::ZERO.to_string(),
            blob_count: 0,
            canonicalization: CANONICALIZATION.to_owned(),
            created_at: created_at.to_owned(),
            extensions: None,
            hash_alg: ALGORITHM.to_owned(),
            meta: None,
            record_count: 0,
            root_records: Vec::new(),
        }
    }

    /// The file as it is stored: indented by two, no final newline.
    ///
    /// # Errors
    /// Never with these fields; the signature is serde_json's.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec_pretty(self)
    }
}
