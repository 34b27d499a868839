//! What the tests share.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::program::{Ran, Run as _};

#[expect(clippy::disallowed_methods, reason = "tests start the program that they test")]
pub(crate) fn aegx<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Ran {
    Command::new(env!("CARGO_BIN_EXE_aegx")).args(args).run()
}

pub(crate) fn corpus(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx").join(path)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(crate) fn write(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

/// The names of everything in a directory, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let listing = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        listing.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// An empty bundle `b` in a home of its own.
pub(crate) fn bundle() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("b");
    aegx(["init", text(&dir)]).done();
    (home, dir)
}

/// Adds a small record and gives its id.
pub(crate) fn add(dir: &Path) -> String {
    aegx(add_args(dir, "{\"ts\":\"2026-02-15T00:00:00Z\"}", "{\"text\":\"hello\"}")).done()
}

pub(crate) fn add_args<'a>(dir: &'a Path, meta: &'a str, inline: &'a str) -> Vec<&'a str> {
    let mut args = vec!["add-record", text(dir), "--type", "SessionMessage", "--principal", "USER"];
    args.extend(["--meta", meta, "--inline", inline]);
    args
}
