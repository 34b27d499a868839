//! The Merkle tree against `ct-merkle`, and tampered proofs.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use aegx::Digest;
use aegx::merkle::{
    Frontier, MemoryNodes, consistency_proof, inclusion_proof, leaf_hash, root_at,
    verify_consistency, verify_inclusion,
};
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use proptest::prelude::*;
use sha2::Sha256;

const SMALL: u64 = 40;

/// One tree in both implementations.
struct Pair {
    leaves: Vec<Digest>,
    nodes: MemoryNodes,
    oracle: MemoryBackedTree<Sha256, [u8; 32]>,
}

impl Pair {
    fn new(seed: u64, size: u64) -> Self {
        let ids = (0..size).map(|n| Digest::of_parts(&[&seed.to_be_bytes(), &n.to_be_bytes()]));
        let mut oracle = MemoryBackedTree::new();
        let mut leaves = Vec::new();
        for id in ids {
            oracle.push(*id.as_bytes());
            leaves.push(leaf_hash(&id));
        }
        let nodes = MemoryNodes::from_leaves(leaves.clone());
        Self { leaves, nodes, oracle }
    }

    fn size(&self) -> u64 {
        self.nodes.size()
    }

    fn leaf(&self, index: u64) -> &Digest {
        self.leaves.get(usize::try_from(index).unwrap()).unwrap()
    }

    fn root(&self, size: u64) -> Digest {
        root_at(&self.nodes, size).unwrap()
    }

    fn inclusion(&self, index: u64) -> Vec<Digest> {
        inclusion_proof(&self.nodes, index, self.size()).unwrap()
    }

    fn consistency(&self, old: u64) -> Vec<Digest> {
        consistency_proof(&self.nodes, old, self.size()).unwrap()
    }

    fn oracle_root(&self) -> Digest {
        Digest::from_bytes((*self.oracle.root().as_bytes()).into())
    }

    fn oracle_inclusion(&self, index: u64) -> Vec<u8> {
        self.oracle.prove_inclusion(usize::try_from(index).unwrap()).as_bytes().to_vec()
    }

    fn oracle_consistency(&self, old: u64) -> Vec<u8> {
        let additions = usize::try_from(self.size() - old).unwrap();
        self.oracle.prove_consistency(additions).as_bytes().to_vec()
    }

    fn includes(&self, index: u64, size: u64, proof: &[Digest]) -> bool {
        verify_inclusion(self.leaf(index), index, size, proof, &self.root(self.size())).is_ok()
    }

    fn extends(&self, old: u64, proof: &[Digest]) -> bool {
        let size = self.size();
        verify_consistency(old, &self.root(old), size, &self.root(size), proof).is_ok()
    }
}

fn joined(proof: &[Digest]) -> Vec<u8> {
    proof.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

/// Every proof that differs from `proof` by a flipped bit, a missing hash or an added hash.
fn tampered(proof: &[Digest], bit: u8) -> Vec<Vec<Digest>> {
    let mut all = Vec::new();
    for position in 0..proof.len() {
        let mut flipped = proof.to_vec();
        let hash = flipped.get_mut(position).unwrap();
        let mut bytes = *hash.as_bytes();
        *bytes.get_mut(usize::from(bit / 8)).unwrap() ^= 1 << (bit % 8);
        *hash = Digest::from_bytes(bytes);
        all.push(flipped);

        let mut shorter = proof.to_vec();
        shorter.remove(position);
        all.push(shorter);
    }
    for position in 0..=proof.len() {
        let mut longer = proof.to_vec();
        longer.insert(position, Digest::ZERO);
        all.push(longer);
    }
    all
}

/// The turns from the root to a leaf, by the definition of RFC 6962. Trees of different sizes may
/// share them, and then they share the proof.
fn turns(index: u64, size: u64) -> Vec<bool> {
    if size == 1 {
        return Vec::new();
    }
    let left = size.next_power_of_two() / 2;
    let right_turn = index >= left;
    let rest = if right_turn { turns(index - left, size - left) } else { turns(index, left) };
    [vec![right_turn], rest].concat()
}

#[test]
fn every_small_tree_agrees_with_the_oracle() {
    let mut frontier = Frontier::new();
    for size in 0..=SMALL {
        let pair = Pair::new(0, size);
        assert_eq!(pair.root(size), pair.oracle_root(), "{size}");
        assert_eq!(frontier.root(), pair.oracle_root(), "{size}");
        for index in 0..size {
            let proof = pair.inclusion(index);
            assert_eq!(joined(&proof), pair.oracle_inclusion(index), "{index} of {size}");
            assert!(pair.includes(index, size, &proof), "{index} of {size}");
        }
        for old in 1..size {
            let proof = pair.consistency(old);
            assert_eq!(joined(&proof), pair.oracle_consistency(old), "{old} to {size}");
            assert!(pair.extends(old, &proof), "{old} to {size}");
        }
        frontier.push(leaf_hash(&Digest::of_parts(&[&0u64.to_be_bytes(), &size.to_be_bytes()])));
    }
}

#[test]
fn a_proof_holds_for_another_size_only_where_the_way_is_the_same() {
    for size in 1..=SMALL {
        let pair = Pair::new(1, size);
        for index in 0..size {
            let proof = pair.inclusion(index);
            for other in index + 1..=2 * SMALL {
                let same_way = turns(index, size) == turns(index, other);
                assert_eq!(pair.includes(index, other, &proof), same_way, "{index} of {other}");
            }
        }
    }
}

#[test]
fn a_proof_holds_for_one_index_and_one_old_size_only() {
    for size in 1..=SMALL {
        let pair = Pair::new(2, size);
        let root = pair.root(size);
        for right in 0..size {
            let proof = pair.inclusion(right);
            let leaf = pair.leaf(right);
            for wrong in (0..=size).filter(|wrong| *wrong != right) {
                let refused = verify_inclusion(leaf, wrong, size, &proof, &root);
                assert!(refused.is_err(), "{right} as {wrong} of {size}");
            }
        }
        for right in 1..size {
            let proof = pair.consistency(right);
            let old_root = pair.root(right);
            for wrong in (0..=size + 1).filter(|wrong| *wrong != right) {
                let refused = verify_consistency(wrong, &old_root, size, &root, &proof);
                assert!(refused.is_err(), "{right} as {wrong} to {size}");
            }
        }
    }
}

proptest! {
    #[test]
    fn a_random_tree_agrees_with_the_oracle(
        seed: u64, size in 1..300u64, pick: prop::sample::Index, bit: u8,
    ) {
        let pair = Pair::new(seed, size);
        let mut frontier = Frontier::new();
        pair.leaves.iter().for_each(|leaf| frontier.push(*leaf));
        prop_assert_eq!(frontier.root(), pair.oracle_root());
        prop_assert_eq!(pair.nodes.root().unwrap(), pair.oracle_root());

        let at = pick.index(usize::try_from(size).unwrap()) as u64;
        let proof = pair.inclusion(at);
        prop_assert_eq!(joined(&proof), pair.oracle_inclusion(at));
        prop_assert!(pair.includes(at, size, &proof));
        for wrong in tampered(&proof, bit) {
            prop_assert!(!pair.includes(at, size, &wrong));
        }

        let old = at.max(1);
        let proof = pair.consistency(old);
        if old < size {
            prop_assert_eq!(joined(&proof), pair.oracle_consistency(old));
        }
        prop_assert!(pair.extends(old, &proof));
        for wrong in tampered(&proof, bit) {
            prop_assert!(!pair.extends(old, &wrong));
        }
    }

    #[test]
    fn no_proof_leads_from_one_history_to_another(seed: u64, size in 2..300u64, cut in 1..300u64) {
        let old = cut.min(size - 1);
        let (kept, rewritten) = (Pair::new(seed, old), Pair::new(!seed, size));
        let proof = rewritten.consistency(old);
        let refused =
            verify_consistency(old, &kept.root(old), size, &rewritten.root(size), &proof);
        prop_assert!(refused.is_err());
    }

    #[test]
    fn no_input_makes_a_check_panic(
        index: u64, size: u64, hashes in prop::collection::vec(any::<[u8; 32]>(), 0..70),
    ) {
        let proof: Vec<_> = hashes.into_iter().map(Digest::from_bytes).collect();
        prop_assert!(verify_inclusion(&Digest::ZERO, index, size, &proof, &Digest::ZERO).is_err());
        let roots = (Digest::of(b"old"), Digest::of(b"new"));
        let refused = verify_consistency(index.max(1), &roots.0, size, &roots.1, &proof);
        prop_assert!(refused.is_err());
    }
}
