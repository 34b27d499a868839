//! Proofs that a record stands in a history whose checkpoint was signed.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::checkpoint::Checkpoint;
use crate::digest::Digest;
use crate::merkle::{self, Frontier, MemoryNodes, ProofRefused};

/// A proof as it is handed on: one JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InclusionProof {
    /// The record.
    #[serde(with = "hex")]
    pub record_id: Digest,
    /// Its place, from 0.
    pub index: u64,
    /// How many records the checkpoint covers.
    pub size: u64,
    /// The root over them.
    #[serde(with = "hex")]
    pub root: Digest,
    /// The way from the record to the root.
    pub hashes: Vec<HexDigestText>,
    /// The signed note that states size and root.
    pub checkpoint: String,
}

impl InclusionProof {
    /// Proves that `record` is among the first records of `ids` that the checkpoint covers, of
    /// which `note` is the signed text. Of records with the same id the first is proved.
    ///
    /// # Errors
    /// If `ids` are not the history that the checkpoint is about, or `record` is not in it.
    pub fn make(
        ids: &[Digest],
        record: &Digest,
        checkpoint: &Checkpoint,
        note: &str,
    ) -> Result<Self, NotIncluded> {
        let covered = covered(ids, checkpoint)?;
        let index = match covered.iter().position(|id| id == record) {
            Some(index) => index as u64,
            None if ids.contains(record) => return Err(NotIncluded::Later { record: *record }),
            None => return Err(NotIncluded::Absent { record: *record }),
        };
        let size = checkpoint.size();
        let nodes = MemoryNodes::from_leaves(covered.iter().map(merkle::leaf_hash).collect());
        // By the position found there is such a leaf and every node below it.
        let hashes = merkle::inclusion_proof(&nodes, index, size)
            .map_err(|_| NotIncluded::Absent { record: *record })?;
        Ok(Self {
            record_id: *record,
            index,
            size,
            root: checkpoint.root(),
            hashes: hashes.into_iter().map(HexDigestText).collect(),
            checkpoint: note.to_owned(),
        })
    }

    /// Checks the proof against a checkpoint. The note that the proof carries is not looked at.
    ///
    /// # Errors
    /// If it is about another checkpoint or does not lead to its root.
    pub fn verify(&self, checkpoint: &Checkpoint) -> Result<(), NotIncluded> {
        if self.size != checkpoint.size() || self.root != checkpoint.root() {
            return Err(NotIncluded::OtherCheckpoint { size: self.size, root: self.root });
        }
        let leaf = merkle::leaf_hash(&self.record_id);
        let hashes: Vec<_> = self.hashes.iter().map(|it| it.0).collect();
        let root = checkpoint.root();
        merkle::verify_inclusion(&leaf, self.index, self.size, &hashes, &root)?;
        Ok(())
    }
}

/// Checks that the first of `ids`, as many as the checkpoint covers, have its root; gives them.
///
/// # Errors
/// If there are fewer or any of them was altered, dropped, added or moved.
pub fn covered<'i>(
    ids: &'i [Digest],
    checkpoint: &Checkpoint,
) -> Result<&'i [Digest], NotIncluded> {
    let size = checkpoint.size();
    let fewer = NotIncluded::Fewer { records: ids.len() as u64, size };
    let covered = usize::try_from(size).ok().and_then(|size| ids.get(..size)).ok_or(fewer)?;
    let mut tree = Frontier::new();
    covered.iter().for_each(|id| tree.push(merkle::leaf_hash(id)));
    if tree.root() != checkpoint.root() {
        return Err(NotIncluded::Root { size, found: tree.root(), expected: checkpoint.root() });
    }
    Ok(covered)
}

/// Why a record, or a bundle, is not part of a checkpoint's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotIncluded {
    /// The bundle ends before the checkpoint does.
    #[error("the bundle has {records} records, the checkpoint covers {size}")]
    Fewer {
        /// Records there are.
        records: u64,
        /// Records signed for.
        size: u64,
    },
    /// The records are not those that were signed for.
    #[error(
        "the first {size} records have the root {found}, the checkpoint says {expected}: a record \
         was altered, dropped, added or moved"
    )]
    Root {
        /// Records signed for.
        size: u64,
        /// What they have.
        found: Digest,
        /// What was signed.
        expected: Digest,
    },
    /// No such record.
    #[error("no record of the bundle has the id {record}")]
    Absent {
        /// The id.
        record: Digest,
    },
    /// The checkpoint does not reach that far.
    #[error("the record {record} came after the checkpoint")]
    Later {
        /// The id.
        record: Digest,
    },
    /// The proof is for another history, or another state of it.
    #[error("the proof is about the root {root} over {size} records, not about this checkpoint")]
    OtherCheckpoint {
        /// What the proof says.
        size: u64,
        /// What the proof says.
        root: Digest,
    },
    /// The hashes do not lead to the root.
    #[error(transparent)]
    Proof(#[from] ProofRefused),
}

/// A digest that is written as its 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexDigestText(pub Digest);

impl Serialize for HexDigestText {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        hex::serialize(&self.0, output)
    }
}

impl<'de> Deserialize<'de> for HexDigestText {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        hex::deserialize(input).map(Self)
    }
}

mod hex {
    use super::{Deserialize, Deserializer, Digest, Serializer, de};

    pub(super) fn serialize<S: Serializer>(digest: &Digest, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(digest.to_hex().as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(input)?;
        let digest = Digest::from_hex(text.as_bytes());
        digest.ok_or_else(|| de::Error::custom("not 64 lower-case hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(count: u8) -> Vec<Digest> {
        (0..count).map(|n| Digest::of(&[n])).collect()
    }

    fn checkpoint(ids: &[Digest]) -> Checkpoint {
        let mut tree = Frontier::new();
        ids.iter().for_each(|id| tree.push(merkle::leaf_hash(id)));
        Checkpoint::new("log", ids.len() as u64, tree.root()).unwrap()
    }

    #[test]
    fn every_record_of_every_size_is_proved_and_no_other() {
        for size in 1..=17 {
            let ids = ids(size + 1);
            let (covered, later) = ids.split_at(usize::from(size));
            let checkpoint = checkpoint(covered);
            for (index, id) in covered.iter().enumerate() {
                let proof = InclusionProof::make(&ids, id, &checkpoint, "note").unwrap();
                assert_eq!(proof.index, index as u64);
                proof.verify(&checkpoint).unwrap();
                let forged = InclusionProof { record_id: later[0], ..proof };
                assert!(forged.verify(&checkpoint).is_err());
            }
            let late = InclusionProof::make(&ids, &later[0], &checkpoint, "note");
            assert_eq!(late, Err(NotIncluded::Later { record: later[0] }));
        }
    }

    #[test]
    fn a_changed_history_is_not_covered() {
        let whole = ids(9);
        let checkpoint = checkpoint(&whole[..8]);
        assert_eq!(covered(&whole, &checkpoint), Ok(&whole[..8]));
        let mut swapped = whole.clone();
        swapped.swap(2, 3);
        let mut dropped = whole.clone();
        dropped.remove(4);
        for changed in [swapped, dropped] {
            let refused = covered(&changed, &checkpoint);
            assert!(matches!(refused, Err(NotIncluded::Root { .. })), "{refused:?}");
        }
        let refused = covered(&whole[..7], &checkpoint);
        assert_eq!(refused, Err(NotIncluded::Fewer { records: 7, size: 8 }));
    }

    #[test]
    fn a_proof_survives_its_text_and_holds_for_its_own_checkpoint_only() {
        let ids = ids(5);
        let own = checkpoint(&ids);
        let proof = InclusionProof::make(&ids, &ids[3], &own, "note\n").unwrap();
        let text = serde_json::to_string(&proof).unwrap();
        assert!(text.starts_with("{\"recordId\":\""), "{text}");
        assert_eq!(serde_json::from_str::<InclusionProof>(&text).unwrap(), proof);
        let refused = proof.verify(&checkpoint(&ids[..4]));
        assert!(matches!(refused, Err(NotIncluded::OtherCheckpoint { .. })));
        let upper = text.replace(&ids[3].to_string(), &ids[3].to_string().to_uppercase());
        assert!(serde_json::from_str::<InclusionProof>(&upper).is_err());
    }
}
