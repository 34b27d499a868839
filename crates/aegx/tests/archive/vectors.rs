//! The archives of `corpus/aegx`, written by the upstream programs or against them.

#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use aegx::archive::{Archive, Rules};

use crate::archive::support::{code, read, unpack};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx")
}

fn zips(directory: &str) -> Vec<PathBuf> {
    let directory = corpus().join(directory);
    let paths = fs::read_dir(directory).unwrap().map(|child| child.unwrap().path());
    let zips: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "zip")).collect();
    assert!(!zips.is_empty());
    zips
}

#[test]
fn whole_archives_are_taken_and_read_alike_by_both() {
    for path in ["interop/valid", "aer-v0.1", "aegx-v0.2"].into_iter().flat_map(zips) {
        if path.ends_with("zip_truncated.aegx.zip") {
            for rules in [Rules::Strict, Rules::Compat] {
                assert_eq!(code(&Archive::open(&path, rules)), "zip_end_missing");
            }
            continue;
        }
        let strict = read(&path, Rules::Strict).unwrap();
        assert_eq!(strict, read(&path, Rules::Compat).unwrap(), "{}", path.display());
        assert!(!strict.is_empty());
    }
}

#[test]
fn tampered_archives_are_refused() {
    for (name, strict, compat) in [
        ("zip_abs", "zip_absolute_name", "zip_absolute_name"),
        ("zip_slip", "zip_path_traversal", "zip_path_traversal"),
        ("zip_flipped", "zip_corrupt", "zip_corrupt"),
        ("zip_dup", "zip_duplicate_name", "ok"),
    ] {
        let path = corpus().join(format!("interop/tampered/{name}.aegx.zip"));
        let archive = fs::read(&path).unwrap();
        assert_eq!(code(&unpack(&archive, Rules::Strict)), strict, "{name}");
        assert_eq!(code(&unpack(&archive, Rules::Compat)), compat, "{name}");
    }
}

#[test]
fn of_the_duplicate_compat_takes_the_last() {
    let path = corpus().join("interop/tampered/zip_dup.aegx.zip");
    let archive = Archive::open(&path, Rules::Compat).unwrap();
    assert_eq!(archive.entries().len(), 1);
    let tree = read(&path, Rules::Compat).unwrap();
    // Stored, so the last one is what stands last before the directory.
    let bytes = fs::read(&path).unwrap();
    let last = tree.values().next().unwrap();
    assert_eq!(&bytes[90 - last.len()..90], last);
}
