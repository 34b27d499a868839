//! A skill: whatever its files say, findings stand inside of them, and the same files have the same findings.

#![no_main]

use skill::{Index, Tree, verify};

/// Each kind of file gets the same text.
const NAMES: &[&str] = &["SKILL.md", "a.py", "a.js", "a.ps1", "a.sh", "a.json", "a.yaml"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut tree = Tree::default();
    for name in NAMES {
        let _ = tree.insert(name, bytes.to_vec());
    }
    let report = verify(&tree, None, &Index::default());
    for it in &report.findings {
        assert!(it.start <= it.end && it.end <= bytes.len());
        assert!(tree.file(&it.file).is_some());
    }
    assert_eq!(report.findings, verify(&tree, None, &Index::default()).findings);
    let text = String::from_utf8_lossy(bytes);
    let _ = skill::install::judge(&text);
    let mut other = Tree::default();
    if other.insert(&text, Vec::new()).is_ok() {
        assert!(!text.starts_with('/') && !text.split('/').any(|it| it == ".."));
    }
});
