//! What the tests share.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// Runs `lazaret` and gives exit code, stdout and stderr.
pub(crate) fn lazaret(args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("lazaret")
        .unwrap()
        .env_remove("LAZARET_HOME")
        .env("HOME", "/nonexistent")
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Every line of stdout is one JSON object, and there is nothing else.
pub(crate) fn objects(args: &[&str]) -> Vec<Value> {
    let (code, stdout, stderr) = lazaret(args);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(value.is_object(), "{args:?}: {line}");
            value
        })
        .collect()
}

pub(crate) fn object(args: &[&str]) -> Value {
    let mut all = objects(args);
    assert_eq!(all.len(), 1, "{args:?}");
    all.remove(0)
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
