//! Proofs from the tree on disk hold against what was signed.

use aegx::merkle;
use aegx::note::VerifierKey;
use evidence::{Reader, Tree};

use crate::common::{numbered, open};

#[test]
fn proofs_from_disk_verify_at_every_size() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let mut ids = Vec::new();
    let mut frontier = merkle::Frontier::new();
    let mut roots = vec![frontier.root()];
    // Over 256 leaves, so that a second level is kept, and in steps, so that it grows.
    for round in 0..3 {
        for number in 0..200 {
            let id = journal.append(numbered(round * 200 + number)).unwrap().id();
            frontier.push(merkle::leaf_hash(&id));
            roots.push(frontier.root());
            ids.push(id);
        }
        let reader = Reader::open(dir.path()).unwrap();
        let tree = Tree::open(&reader).unwrap();
        let size = tree.size();
        assert_eq!(size as usize, ids.len());
        for (index, id) in (0..size).zip(&ids).step_by(13) {
            let proof = tree.inclusion(index, size).unwrap();
            let leaf = merkle::leaf_hash(id);
            merkle::verify_inclusion(&leaf, index, size, &proof, &roots[size as usize]).unwrap();
        }
        for old in (0..=size).step_by(17) {
            let proof = tree.consistency(old, size).unwrap();
            let (a, b) = (&roots[old as usize], &roots[size as usize]);
            merkle::verify_consistency(old, a, size, b, &proof).unwrap();
        }
        assert!(tree.inclusion(size, size).is_err());
    }
}

#[test]
fn a_lost_tree_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for number in 0..300 {
        journal.append(numbered(number)).unwrap();
    }
    let reader = Reader::open(dir.path()).unwrap();
    let root = Tree::open(&reader).unwrap().root(300).unwrap();
    let level = dir.path().join("tree/level-0");
    let bytes = std::fs::read(&level).unwrap();
    crate::common::overwrite(&level, &bytes[..bytes.len() - 17]);
    assert_eq!(Tree::open(&reader).unwrap().root(300).unwrap(), root);
    std::fs::remove_dir_all(dir.path().join("tree")).unwrap();
    assert_eq!(Tree::open(&reader).unwrap().root(300).unwrap(), root);
}

#[test]
fn a_checkpoint_says_the_same_root_as_the_tree() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for number in 0..10 {
        journal.append(numbered(number)).unwrap();
    }
    let kept = journal.checkpoint().unwrap();
    let key = std::fs::read_to_string(dir.path().join("checkpoint.pub")).unwrap();
    let key = VerifierKey::parse(key.trim_end()).unwrap();
    let note = aegx::note::SignedNote::parse(kept.note.as_bytes()).unwrap().verify(&key).unwrap();
    let checkpoint = aegx::checkpoint::Checkpoint::from_verified(&note).unwrap();
    let tree = Tree::open(&Reader::open(dir.path()).unwrap()).unwrap();
    assert_eq!((checkpoint.size(), checkpoint.root()), (10, tree.root(10).unwrap()));
}
