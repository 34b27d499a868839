//! The RFC 6962 Merkle tree over record ids.
//!
//! `frontier` appends, `proof` makes proofs, `verify` checks them. Wherever a leaf is asked for, it
//! is a [`leaf_hash`] and never a bare record id.

mod frontier;
mod proof;
mod verify;

pub use frontier::{Frontier, FrontierError, TREE_SIZE_MAX};
pub use proof::{ProofError, consistency_proof, inclusion_proof, root_at};
pub use verify::{PROOF_HASHES_MAX, ProofRefused, verify_consistency, verify_inclusion};

use crate::Digest;

/// The leaf of the record `record_id`.
#[must_use]
pub fn leaf_hash(record_id: &Digest) -> Digest {
    Digest::of_parts(&[&[LEAF_PREFIX], record_id.as_bytes()])
}

/// The node above `left` and `right`.
#[must_use]
pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    Digest::of_parts(&[&[NODE_PREFIX], left.as_bytes(), right.as_bytes()])
}

/// The root of the tree without leaves: SHA-256 of nothing.
#[must_use]
pub fn empty_root() -> Digest {
    Digest::of(&[])
}

/// A store of the tree's complete nodes.
pub trait Nodes {
    /// Why a node cannot be read.
    type Error;

    /// The hash over the leaves `index << level` up to, without, `(index + 1) << level`.
    ///
    /// Only asked for when the tree has all of these leaves. Level 0 are the leaves.
    fn node(&self, level: u32, index: u64) -> Result<Digest, Self::Error>;
}

/// Every complete node, in memory: less than 64 bytes for each leaf.
#[derive(Clone, Debug)]
pub struct MemoryNodes {
    /// Leaves first; each level has half the nodes of the one before it.
    levels: Vec<Vec<Digest>>,
}

impl MemoryNodes {
    /// Hashes the tree over `leaves`.
    #[must_use]
    pub fn from_leaves(leaves: Vec<Digest>) -> Self {
        let mut levels = Vec::new();
        let mut level = leaves;
        while !level.is_empty() {
            // An odd last node has no complete parent.
            let (pairs, _odd) = level.as_chunks();
            let above = pairs.iter().map(|[left, right]| node_hash(left, right)).collect();
            levels.push(std::mem::replace(&mut level, above));
        }
        Self { levels }
    }

    /// How many leaves the tree has.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.levels.first().map_or(0, |leaves| leaves.len() as u64)
    }

    /// The root over all leaves.
    pub fn root(&self) -> Result<Digest, NodeMissing> {
        root_at(self, self.size())
    }
}

impl Nodes for MemoryNodes {
    type Error = NodeMissing;

    fn node(&self, level: u32, index: u64) -> Result<Digest, NodeMissing> {
        let nodes = usize::try_from(level).ok().and_then(|level| self.levels.get(level));
        let position = usize::try_from(index).ok();
        nodes
            .zip(position)
            .and_then(|(nodes, position)| nodes.get(position))
            .copied()
            .ok_or(NodeMissing { level, index })
    }
}

/// A node that was asked for lies beyond the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tree has no complete node {index} at level {level}")]
pub struct NodeMissing {
    /// The height above the leaves.
    pub level: u32,
    /// The position within the level.
    pub index: u64,
}

/// Leaves and nodes are hashed apart, so that no node can pass for a leaf.
const LEAF_PREFIX: u8 = 0;
const NODE_PREFIX: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_hashed_apart_from_a_node() {
        let id = Digest::of(b"record");
        assert_eq!(leaf_hash(&id), Digest::of(&[&[0], id.as_bytes().as_slice()].concat()));
        let joined = [&[1], id.as_bytes().as_slice(), Digest::ZERO.as_bytes()].concat();
        assert_eq!(node_hash(&id, &Digest::ZERO), Digest::of(&joined));
    }

    #[test]
    fn the_empty_tree_has_the_root_that_rfc_6962_gives_it() {
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(empty_root().to_string(), expected);
        assert_eq!(MemoryNodes::from_leaves(Vec::new()).root(), Ok(empty_root()));
    }

    #[test]
    fn memory_holds_complete_nodes_and_no_others() {
        let leaves: Vec<_> = (0..5u8).map(|n| Digest::of(&[n])).collect();
        let nodes = MemoryNodes::from_leaves(leaves.clone());
        assert_eq!(nodes.size(), 5);
        assert_eq!(nodes.node(0, 4), Ok(leaves[4]));
        assert_eq!(nodes.node(1, 1), Ok(node_hash(&leaves[2], &leaves[3])));
        for (level, index) in [(0, 5), (1, 2), (2, 1), (3, 0), (u32::MAX, 0), (0, u64::MAX)] {
            assert_eq!(nodes.node(level, index), Err(NodeMissing { level, index }));
        }
    }

    #[test]
    fn memory_stays_below_two_hashes_for_each_leaf() {
        for count in [1, 2, 3, 255, 256, 257] {
            let nodes = MemoryNodes::from_leaves(vec![Digest::ZERO; count]);
            let held: usize = nodes.levels.iter().map(Vec::capacity).sum();
            assert!(held < 2 * count, "{held} hashes for {count} leaves");
        }
    }
}
