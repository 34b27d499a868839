//! Making proofs: RFC 9162 sections 2.1.3.1 and 2.1.4.1, from the root down and without recursion.

use super::Nodes;
use super::frontier::fold_peaks;
use crate::Digest;

/// The hashes that lead from the leaf at `index` to the root over the first `size` leaves.
pub fn inclusion_proof<N: Nodes + ?Sized>(
    nodes: &N,
    index: u64,
    size: u64,
) -> Result<Vec<Digest>, ProofError<N::Error>> {
    if index >= size {
        return Err(ProofError::IndexOutside { index, size });
    }
    let mut proof = Vec::new();
    let mut range = Range { start: 0, end: size };
    while range.leaves() > 1 {
        let (left, right) = range.halves();
        let (inside, beside) = if index < left.end { (left, right) } else { (right, left) };
        proof.push(beside.root(nodes).map_err(ProofError::Nodes)?);
        range = inside;
    }
    // The verifier starts at the leaf.
    proof.reverse();
    Ok(proof)
}

/// The hashes which show that the first `old` of `new` leaves are the tree of size `old`.
///
/// Empty when nothing is to be shown: from no leaves, and between equal sizes.
pub fn consistency_proof<N: Nodes + ?Sized>(
    nodes: &N,
    old: u64,
    new: u64,
) -> Result<Vec<Digest>, ProofError<N::Error>> {
    if old > new {
        return Err(ProofError::Shrunk { old, new });
    }
    if old == 0 {
        return Ok(Vec::new());
    }
    let mut proof = Vec::new();
    let mut range = Range { start: 0, end: new };
    // `old` lies within the range throughout, so a range to split has two leaves.
    while range.end != old {
        let (left, right) = range.halves();
        let (inside, beside) = if old <= left.end { (left, right) } else { (right, left) };
        proof.push(beside.root(nodes).map_err(ProofError::Nodes)?);
        range = inside;
    }
    // A range that starts the tree is the old tree, and the verifier has its root.
    if range.start > 0 {
        proof.push(range.root(nodes).map_err(ProofError::Nodes)?);
    }
    proof.reverse();
    Ok(proof)
}

/// The root over the first `size` leaves.
pub fn root_at<N: Nodes + ?Sized>(nodes: &N, size: u64) -> Result<Digest, N::Error> {
    Range { start: 0, end: size }.root(nodes)
}

/// The leaves below one node of a tree.
///
/// INVARIANT (Aligned): `start` is a multiple of the largest power of two up to `end - start`.
/// Holds for whole trees, which start at zero, and is kept by `halves`.
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    end: u64,
}

impl Range {
    fn leaves(self) -> u64 {
        self.end - self.start
    }

    /// Splits at the largest power of two that leaves something to the right. Needs two leaves.
    fn halves(self) -> (Self, Self) {
        let left_leaves = (self.leaves() - 1).checked_ilog2().map_or(0, |level| 1 << level);
        let middle = self.start + left_leaves;
        (Self { start: self.start, end: middle }, Self { start: middle, end: self.end })
    }

    /// Joins the complete subtrees, one for each one bit of the number of leaves.
    fn root<N: Nodes + ?Sized>(self, nodes: &N) -> Result<Digest, N::Error> {
        let mut peaks = Vec::new();
        let mut start = self.start;
        while let Some(level) = (self.end - start).checked_ilog2() {
            // By INVARIANT (Aligned) the shift drops zeros only.
            peaks.push(nodes.node(level, start >> level)?);
            start += 1 << level;
        }
        Ok(fold_peaks(&peaks))
    }
}

/// Why a proof cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError<E> {
    /// The tree has no such leaf.
    #[error("a tree of {size} leaves has no leaf {index}")]
    IndexOutside {
        /// The leaf asked for.
        index: u64,
        /// The size of the tree.
        size: u64,
    },
    /// Trees only grow.
    #[error("a tree of {old} leaves cannot become one of {new}")]
    Shrunk {
        /// The older size.
        old: u64,
        /// The newer size.
        new: u64,
    },
    /// The store failed.
    #[error("cannot read the tree")]
    Nodes(#[source] E),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merkle::{MemoryNodes, NodeMissing, node_hash};

    /// Answers for a tree of any size, and refuses an incomplete node.
    struct Bounded {
        size: u64,
    }

    impl Nodes for Bounded {
        type Error = NodeMissing;

        fn node(&self, level: u32, index: u64) -> Result<Digest, NodeMissing> {
            let end = (u128::from(index) + 1) << level;
            if end > u128::from(self.size) {
                return Err(NodeMissing { level, index });
            }
            Ok(Digest::of(&[level.to_be_bytes().as_slice(), &index.to_be_bytes()].concat()))
        }
    }

    #[test]
    fn the_proofs_of_the_rfc_example_are_these() {
        // RFC 9162 section 2.1.5, names as in its figure.
        let leaves: Vec<_> = (0..7u8).map(|n| Digest::of(&[n])).collect();
        let [a, b, c, d, e, f, j] = leaves.clone().try_into().unwrap();
        let (g, h, i) = (node_hash(&a, &b), node_hash(&c, &d), node_hash(&e, &f));
        let (k, l) = (node_hash(&g, &h), node_hash(&i, &j));
        let nodes = MemoryNodes::from_leaves(leaves);
        assert_eq!(inclusion_proof(&nodes, 0, 7), Ok(vec![b, h, l]));
        assert_eq!(inclusion_proof(&nodes, 3, 7), Ok(vec![c, g, l]));
        assert_eq!(inclusion_proof(&nodes, 4, 7), Ok(vec![f, j, k]));
        assert_eq!(inclusion_proof(&nodes, 6, 7), Ok(vec![i, k]));
        assert_eq!(consistency_proof(&nodes, 3, 7), Ok(vec![c, d, g, l]));
        assert_eq!(consistency_proof(&nodes, 4, 7), Ok(vec![l]));
        assert_eq!(consistency_proof(&nodes, 6, 7), Ok(vec![i, j, k]));
    }

    #[test]
    fn only_complete_nodes_are_asked_for() {
        for size in [1, 2, 3, 7, 8, 9, 1000, (1 << 62) + 12_345, u64::MAX] {
            let nodes = Bounded { size };
            assert!(root_at(&nodes, size).is_ok());
            for at in [0, 1, 2, 6, size / 2, size.saturating_sub(2), size - 1]
                .into_iter()
                .filter(|n| *n < size)
            {
                assert!(inclusion_proof(&nodes, at, size).is_ok(), "{at} of {size}");
                assert!(consistency_proof(&nodes, at, size).is_ok(), "{at} to {size}");
            }
        }
    }

    #[test]
    fn what_is_not_in_the_tree_has_no_proof() {
        let nodes = MemoryNodes::from_leaves(vec![Digest::ZERO; 3]);
        let outside = inclusion_proof(&nodes, 3, 3);
        assert_eq!(outside, Err(ProofError::IndexOutside { index: 3, size: 3 }));
        let empty = inclusion_proof(&nodes, 0, 0);
        assert_eq!(empty, Err(ProofError::IndexOutside { index: 0, size: 0 }));
        let shrunk = consistency_proof(&nodes, 3, 2);
        assert_eq!(shrunk, Err(ProofError::Shrunk { old: 3, new: 2 }));
        let beyond = inclusion_proof(&nodes, 0, 4);
        assert_eq!(beyond, Err(ProofError::Nodes(NodeMissing { level: 1, index: 1 })));
    }

    #[test]
    fn equal_sizes_and_the_empty_tree_need_no_hashes() {
        let nodes = MemoryNodes::from_leaves(vec![Digest::ZERO; 6]);
        for (old, new) in [(0, 0), (0, 6), (1, 1), (5, 5), (6, 6)] {
            assert_eq!(consistency_proof(&nodes, old, new), Ok(Vec::new()), "{old} to {new}");
        }
        assert_eq!(inclusion_proof(&nodes, 0, 1), Ok(Vec::new()));
    }
}
