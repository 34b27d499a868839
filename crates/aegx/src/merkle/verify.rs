//! Checking proofs: RFC 9162 sections 2.1.3.2 and 2.1.4.2, step for step.

use super::{empty_root, node_hash};
use crate::Digest;

/// Checks that `leaf` is the leaf at `index` of the tree with `size` leaves and this `root`.
pub fn verify_inclusion(
    leaf: &Digest,
    index: u64,
    size: u64,
    proof: &[Digest],
    root: &Digest,
) -> Result<(), ProofRefused> {
    if index >= size {
        return Err(ProofRefused::IndexOutside { index, size });
    }
    check_length(proof)?;
    let mut walk = Walk { node: index, last: size - 1 };
    let mut hash = *leaf;
    for beside in proof {
        hash = match walk.climb()? {
            Side::Left => node_hash(beside, &hash),
            Side::Right => node_hash(&hash, beside),
        };
    }
    walk.ended()?;
    if hash != *root {
        return Err(ProofRefused::Root { found: hash, expected: *root });
    }
    Ok(())
}

/// Checks that the tree of `new_size` leaves only appended to the tree of `old_size` leaves.
///
/// The RFC leaves out an empty old tree and equal sizes; both take an empty proof here, and then
/// the roots speak for themselves.
pub fn verify_consistency(
    old_size: u64,
    old_root: &Digest,
    new_size: u64,
    new_root: &Digest,
    proof: &[Digest],
) -> Result<(), ProofRefused> {
    if old_size > new_size {
        return Err(ProofRefused::Shrunk { old: old_size, new: new_size });
    }
    check_length(proof)?;
    if old_size == 0 || old_size == new_size {
        return verify_unproven(old_size, old_root, new_size, new_root, proof);
    }
    // The old root starts the path itself when the old tree is one complete subtree.
    let (first, rest) = if old_size.is_power_of_two() {
        (old_root, proof)
    } else {
        proof.split_first().ok_or(ProofRefused::TooShort)?
    };
    let mut walk = Walk { node: old_size - 1, last: new_size - 1 };
    walk.skip(walk.node.trailing_ones());
    let (mut old_hash, mut new_hash) = (*first, *first);
    for beside in rest {
        match walk.climb()? {
            Side::Left => {
                old_hash = node_hash(beside, &old_hash);
                new_hash = node_hash(beside, &new_hash);
            }
            Side::Right => new_hash = node_hash(&new_hash, beside),
        }
    }
    walk.ended()?;
    if old_hash != *old_root {
        return Err(ProofRefused::OldRoot { found: old_hash, expected: *old_root });
    }
    if new_hash != *new_root {
        return Err(ProofRefused::Root { found: new_hash, expected: *new_root });
    }
    Ok(())
}

/// The cases in which the roots alone decide.
fn verify_unproven(
    old_size: u64,
    old_root: &Digest,
    new_size: u64,
    new_root: &Digest,
    proof: &[Digest],
) -> Result<(), ProofRefused> {
    if !proof.is_empty() {
        return Err(ProofRefused::TooLong);
    }
    if old_size == 0 && *old_root != empty_root() {
        return Err(ProofRefused::OldRoot { found: empty_root(), expected: *old_root });
    }
    if old_size == new_size && old_root != new_root {
        return Err(ProofRefused::Root { found: *old_root, expected: *new_root });
    }
    Ok(())
}

fn check_length(proof: &[Digest]) -> Result<(), ProofRefused> {
    if proof.len() > PROOF_HASHES_MAX { Err(ProofRefused::TooLong) } else { Ok(()) }
}

/// The way up: `fn` and `sn` of the RFC.
#[derive(Clone, Copy)]
struct Walk {
    /// Position of the node within its level.
    node: u64,
    /// Position of the last node of that level.
    last: u64,
}

/// Where the next hash of a proof stands.
enum Side {
    Left,
    Right,
}

impl Walk {
    /// Goes to the parent.
    fn climb(&mut self) -> Result<Side, ProofRefused> {
        if self.last == 0 {
            return Err(ProofRefused::TooLong);
        }
        let side = if self.node & 1 == 1 || self.node == self.last {
            // A last node that is a left child has no neighbour: it rises as it is.
            self.skip(self.node.trailing_zeros());
            Side::Left
        } else {
            Side::Right
        };
        self.skip(1);
        Ok(side)
    }

    /// Goes up without a hash, by fewer than 64 levels: `node` is never zero where its zeros are
    /// counted, and below `last` where its ones are.
    fn skip(&mut self, levels: u32) {
        self.node >>= levels;
        self.last >>= levels;
    }

    /// Refuses a walk that did not reach the root.
    fn ended(self) -> Result<(), ProofRefused> {
        if self.last == 0 { Ok(()) } else { Err(ProofRefused::TooShort) }
    }
}

/// Why a proof does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofRefused {
    /// The tree has no such leaf.
    #[error("a tree of {size} leaves has no leaf {index}")]
    IndexOutside {
        /// The stated leaf.
        index: u64,
        /// The stated size.
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
    /// Hashes are missing.
    #[error("the proof has too few hashes")]
    TooShort,
    /// Hashes are left over.
    #[error("the proof has too many hashes")]
    TooLong,
    /// The hashes do not lead to the older root.
    #[error("the proof leads to the older root `{found}`, not `{expected}`")]
    OldRoot {
        /// Where the hashes lead.
        found: Digest,
        /// The root to prove.
        expected: Digest,
    },
    /// The hashes do not lead to the root.
    #[error("the proof leads to the root `{found}`, not `{expected}`")]
    Root {
        /// Where the hashes lead.
        found: Digest,
        /// The root to prove.
        expected: Digest,
    },
}

/// Hashes in a proof. Suffices for every tree of up to 2^63 leaves.
pub const PROOF_HASHES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Digest = Digest::from_bytes([1; 32]);
    const OTHER: Digest = Digest::from_bytes([2; 32]);

    #[test]
    fn a_tree_of_one_leaf_is_the_leaf() {
        assert_eq!(verify_inclusion(&ROOT, 0, 1, &[], &ROOT), Ok(()));
        let other = verify_inclusion(&OTHER, 0, 1, &[], &ROOT);
        assert_eq!(other, Err(ProofRefused::Root { found: OTHER, expected: ROOT }));
        let trailing = verify_inclusion(&ROOT, 0, 1, &[OTHER], &ROOT);
        assert_eq!(trailing, Err(ProofRefused::TooLong));
    }

    #[test]
    fn an_index_outside_the_tree_is_refused() {
        for (index, size) in [(0, 0), (1, 1), (u64::MAX, u64::MAX)] {
            let refused = verify_inclusion(&ROOT, index, size, &[], &ROOT);
            assert_eq!(refused, Err(ProofRefused::IndexOutside { index, size }));
        }
    }

    #[test]
    fn a_proof_of_the_wrong_length_is_refused() {
        let short = verify_inclusion(&ROOT, 0, 3, &[OTHER], &ROOT);
        assert_eq!(short, Err(ProofRefused::TooShort));
        let long = verify_inclusion(&ROOT, 0, 2, &[OTHER; 2], &ROOT);
        assert_eq!(long, Err(ProofRefused::TooLong));
        let endless = verify_inclusion(&ROOT, 0, u64::MAX, &[OTHER; 65], &ROOT);
        assert_eq!(endless, Err(ProofRefused::TooLong));
        let none = verify_consistency(3, &ROOT, 7, &OTHER, &[]);
        assert_eq!(none, Err(ProofRefused::TooShort));
        let none_from_power = verify_consistency(4, &ROOT, 7, &OTHER, &[]);
        assert_eq!(none_from_power, Err(ProofRefused::TooShort));
        let endless = verify_consistency(3, &ROOT, u64::MAX, &OTHER, &[OTHER; 65]);
        assert_eq!(endless, Err(ProofRefused::TooLong));
    }

    #[test]
    fn every_tree_extends_the_empty_tree() {
        let empty = empty_root();
        assert_eq!(verify_consistency(0, &empty, 0, &empty, &[]), Ok(()));
        assert_eq!(verify_consistency(0, &empty, 5, &ROOT, &[]), Ok(()));
        for refused in [
            verify_consistency(0, &ROOT, 5, &ROOT, &[]),
            verify_consistency(0, &empty, 0, &ROOT, &[]),
            verify_consistency(0, &ROOT, 0, &ROOT, &[]),
            verify_consistency(0, &empty, 5, &ROOT, &[OTHER]),
        ] {
            assert!(refused.is_err());
        }
    }

    #[test]
    fn equal_sizes_have_equal_roots() {
        assert_eq!(verify_consistency(5, &ROOT, 5, &ROOT, &[]), Ok(()));
        let forked = verify_consistency(5, &ROOT, 5, &OTHER, &[]);
        assert_eq!(forked, Err(ProofRefused::Root { found: ROOT, expected: OTHER }));
        let trailing = verify_consistency(5, &ROOT, 5, &ROOT, &[OTHER]);
        assert_eq!(trailing, Err(ProofRefused::TooLong));
    }

    #[test]
    fn a_tree_does_not_shrink() {
        let refused = verify_consistency(5, &ROOT, 4, &ROOT, &[]);
        assert_eq!(refused, Err(ProofRefused::Shrunk { old: 5, new: 4 }));
    }

    #[test]
    fn the_largest_sizes_do_not_overflow() {
        for index in [0, 1, u64::MAX / 2, u64::MAX - 1] {
            assert!(verify_inclusion(&ROOT, index, u64::MAX, &[OTHER; 64], &ROOT).is_err());
        }
        for old in [1, 2, 3, 1 << 63, (1 << 63) - 1, u64::MAX - 1] {
            assert!(verify_consistency(old, &ROOT, u64::MAX, &OTHER, &[OTHER; 64]).is_err());
        }
    }
}
