//! What the tests share.

use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::program::Run as _;

use crate::program::stateless;

/// Runs `lazaret` and gives exit code, stdout and stderr.
pub(crate) fn lazaret(args: &[&str]) -> (i32, String, String) {
    stateless(args).run().told()
}

pub(crate) fn objects(args: &[&str]) -> Vec<Value> {
    stateless(args).run().good().objects()
}

pub(crate) fn object(args: &[&str]) -> Value {
    stateless(args).run().good().object()
}

/// A home as `demo --dir` leaves it.
pub(crate) fn demo() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("x").to_str().unwrap().to_owned();
    let (code, stdout, stderr) = lazaret(&["demo", "--dir", &home]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Verification: PASS") && stdout.contains("NOT VERIFIED"), "{stdout}");
    (dir, home)
}

pub(crate) fn evidence<'a>(command: &'a str, home: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["evidence", command, "--home", home];
    args.extend_from_slice(more);
    args
}

pub(crate) fn refused(args: &[&str], code: i32, says: &[&str]) {
    let (found, stdout, stderr) = lazaret(args);
    assert_eq!(found, code, "{args:?}: {stdout}{stderr}");
    for text in says {
        assert!(stderr.contains(text) || stdout.contains(text), "{args:?}: {stdout}{stderr}");
    }
}

pub(crate) fn first_segment(home: &str) -> PathBuf {
    Path::new(home).join("evidence/segments/000000000000.seg")
}

#[expect(clippy::disallowed_methods, reason = "the tampering need not be atomic")]
pub(crate) fn tamper(path: &Path, from: &str, to: &str) {
    let text = String::from_utf8(std::fs::read(path).unwrap()).unwrap();
    assert!(text.contains(from));
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}
