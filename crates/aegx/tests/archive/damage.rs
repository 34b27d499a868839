//! Archives that were cut or changed on the way.

#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::collections::BTreeSet;

use aegx::archive::{Archive, ArchiveWriter, Overwrite, Rules};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::archive::support::{Tree, read, save, unpack};
use crate::archive::zip_builder::{Item, build, extra, widen};

/// Small archives that use every structure between them.
fn samples() -> Vec<Vec<u8>> {
    let items = [
        Item::deflated("manifest.json", br#"{"records":2,"records_again":2}"#),
        Item::directory("blobs/"),
        Item::stored("blobs/ä", b"not compressed"),
        Item::deflated("records.jsonl", b"{}\n{}\n").with_descriptor(true, false),
        Item::deflated("wide", b"wide").with_wide_sizes(),
        Item::stored("empty", b"").with(|item| item.central.extra = extra(0x5455, &[1; 5])),
    ];
    vec![build(&items), widen(build(&items)), written()]
}

fn written() -> Vec<u8> {
    let home = TempDir::new().unwrap();
    let path = home.path().join("written.zip");
    let mut writer = ArchiveWriter::create(&path, Overwrite::No).unwrap();
    writer.add_file("audit-log.jsonl", &b"{}\n"[..]).unwrap();
    writer.add_directory("blobs").unwrap();
    writer.add_file("blobs/ab", &b"blob"[..]).unwrap();
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

/// What strict may say of a damaged archive: the truth, or nothing.
fn check_strict(damaged: &[u8], home: &TempDir, truth: &Tree, what: &str) {
    if let Ok(tree) = read(&save(home, damaged), Rules::Strict) {
        assert_eq!(&tree, truth, "{what}");
    }
}

/// Compat believes whatever the directory says of names and counts, but not of contents.
fn check_compat(damaged: &[u8], home: &TempDir, truth: &Tree, what: &str) {
    let contents: BTreeSet<&Vec<u8>> = truth.values().collect();
    if let Ok(tree) = read(&save(home, damaged), Rules::Compat) {
        assert!(tree.values().all(|found| contents.contains(found)), "{what}");
    }
}

#[test]
fn every_cut_is_noticed() {
    let home = TempDir::new().unwrap();
    for sample in samples() {
        let truth = read(&save(&home, &sample), Rules::Strict).unwrap();
        for length in 0..sample.len() {
            let cut = &sample[..length];
            let what = format!("cut to {length}");
            assert!(Archive::open(&save(&home, cut), Rules::Strict).is_err(), "{what}");
            check_compat(cut, &home, &truth, &what);
        }
    }
}

#[test]
fn no_flipped_byte_changes_the_contents() {
    let home = TempDir::new().unwrap();
    for sample in samples() {
        let truth = read(&save(&home, &sample), Rules::Strict).unwrap();
        for at in 0..sample.len() {
            for mask in [0x01, 0x08, 0xff] {
                let mut flipped = sample.clone();
                flipped[at] ^= mask;
                let what = format!("byte {at} of {} ^ {mask:#x}", sample.len());
                check_strict(&flipped, &home, &truth, &what);
                check_compat(&flipped, &home, &truth, &what);
            }
        }
    }
}

#[test]
fn a_refused_extraction_leaves_nothing_wherever_the_damage_is() {
    let sample = written();
    let truth = unpack(&sample, Rules::Strict).unwrap();
    let mut refused = 0;
    for at in 0..sample.len() {
        let mut flipped = sample.clone();
        flipped[at] ^= 0xff;
        match unpack(&flipped, Rules::Strict) {
            Ok(tree) => assert_eq!(tree, truth, "byte {at}"),
            Err(_) => refused += 1,
        }
        // Checks that a refusal leaves nothing.
        let _ = unpack(&flipped, Rules::Compat);
    }
    assert!(refused > sample.len() / 2);
}

proptest! {
    #[test]
    fn no_splice_changes_the_contents(
        sample in 0usize..3,
        splices in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 1..9)),
            1..4,
        ),
    ) {
        let home = TempDir::new().unwrap();
        let mut damaged = samples().swap_remove(sample);
        let truth = read(&save(&home, &damaged), Rules::Strict).unwrap();
        for (at, bytes) in &splices {
            let at = at.index(damaged.len());
            for (old, new) in damaged.iter_mut().skip(at).zip(bytes) {
                *old = *new;
            }
        }
        check_strict(&damaged, &home, &truth, "spliced");
        check_compat(&damaged, &home, &truth, "spliced");
    }
}
