//! The audit log: one entry for each record, each holding the hash of the one before.

use serde::{Deserialize, Serialize};

use crate::canon;
use crate::digest::Digest;

/// An entry as its line says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Position, from 0.
    pub idx: u64,
    /// When it was appended.
    pub ts: String,
    /// The record it is about.
    pub record_id: String,
    /// `entryHash` of the entry before; 64 zeros for the first.
    pub prev: String,
    /// Hash of the four fields above.
    pub entry_hash: String,
}

impl AuditEntry {
    /// The entry that follows one with hash `prev`. `ts` must be a normal time.
    #[must_use]
    pub fn next(idx: u64, ts: &str, record_id: Digest, prev: Digest) -> (Self, Digest) {
        let hash = entry_hash(idx, ts.as_bytes(), &record_id, &prev);
        let entry = Self {
            idx,
            ts: ts.to_owned(),
            record_id: record_id.to_string(),
            prev: prev.to_string(),
            entry_hash: hash.to_string(),
        };
        (entry, hash)
    }

    /// The hash that these four fields have.
    #[must_use]
    pub fn compute_hash(&self) -> Digest {
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(b"{\"idx\":");
        out.extend_from_slice(self.idx.to_string().as_bytes());
        out.extend_from_slice(b",\"prev\":");
        canon::write_string(&mut out, &self.prev);
        out.extend_from_slice(b",\"recordId\":");
        canon::write_string(&mut out, &self.record_id);
        out.extend_from_slice(b",\"ts\":");
        canon::write_string(&mut out, &self.ts);
        out.push(b'}');
        Digest::of(&out)
    }
}

/// Hash of an entry whose `ts` is plain ASCII.
#[must_use]
pub fn entry_hash(idx: u64, ts: &[u8], record_id: &Digest, prev: &Digest) -> Digest {
    hash_texts(idx, ts, record_id.to_hex().as_bytes(), prev.to_hex().as_bytes())
}

fn hash_texts(idx: u64, ts: &[u8], record_id: &[u8; 64], prev: &[u8; 64]) -> Digest {
    let mut preimage = Vec::with_capacity(PREIMAGE_BYTES);
    preimage.extend_from_slice(b"{\"idx\":");
    push_decimal(&mut preimage, idx);
    preimage.extend_from_slice(b",\"prev\":\"");
    preimage.extend_from_slice(prev);
    preimage.extend_from_slice(b"\",\"recordId\":\"");
    preimage.extend_from_slice(record_id);
    preimage.extend_from_slice(b"\",\"ts\":\"");
    preimage.extend_from_slice(ts);
    preimage.extend_from_slice(b"\"}");
    Digest::of(&preimage)
}

/// Appends the stored line of an entry, without newline, and gives its hash.
pub fn write_entry(out: &mut Vec<u8>, idx: u64, ts: &[u8], id: &Digest, prev: &Digest) -> Digest {
    let (id, prev) = (id.to_hex(), prev.to_hex());
    let hash = hash_texts(idx, ts, id.as_bytes(), prev.as_bytes());
    out.extend_from_slice(b"{\"idx\":");
    push_decimal(out, idx);
    out.extend_from_slice(b",\"ts\":\"");
    out.extend_from_slice(ts);
    out.extend_from_slice(b"\",\"recordId\":\"");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b"\",\"prev\":\"");
    out.extend_from_slice(prev.as_bytes());
    out.extend_from_slice(b"\",\"entryHash\":\"");
    out.extend_from_slice(hash.to_hex().as_bytes());
    out.extend_from_slice(b"\"}");
    hash
}

/// Enough for the longest preimage with a normal time.
const PREIMAGE_BYTES: usize = 224;

fn push_decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut rest = number;
    let mut used = 0;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        used += 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend(digits.iter().skip(digits.len() - used));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_of_upstreams_own_bundle_has_its_hash() {
        let id =
            Digest::from_hex(b"a61ecc31a3cdcfaf35686574a2a2e239c32156601c27bd9f83b272574ed152d7")
                .unwrap();
        let (entry, hash) = AuditEntry::next(0, "2026-02-15T00:00:00Z", id, Digest::ZERO);
        assert_eq!(
            hash.to_string(),
            "21973306d3de394fdcc8d1032935673157bf474c0c28713db53b73a336004b03"
        );
        assert_eq!(entry.compute_hash(), hash);
        let mut line = Vec::new();
        write_entry(&mut line, 0, b"2026-02-15T00:00:00Z", &id, &Digest::ZERO);
        assert_eq!(line, serde_json::to_vec(&entry).unwrap());
    }

    #[test]
    fn decimals_print_like_everyone_elses() {
        for number in [0, 1, 9, 10, 99, 100, 12345, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }
}
