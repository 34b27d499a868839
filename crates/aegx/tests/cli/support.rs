//! What the tests share.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The only line of stdout, as JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).unwrap()
    }

    /// Stdout, if all went well and nothing else was said.
    pub(crate) fn done(self) -> String {
        assert_eq!((self.exit, self.err.as_str()), (0, ""), "{}", self.out);
        self.out.trim_end().to_owned()
    }

    /// Asserts the exit code, and that stderr names all of `words` on one line.
    pub(crate) fn fails(&self, exit: i32, words: &[&str]) {
        assert_eq!(self.exit, exit, "{}{}", self.out, self.err);
        let said = self.err.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(said, "no line of stderr has all of {words:?}:\n{}", self.err);
    }
}

pub(crate) fn aegx<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Ran {
    let output = assert_cmd::cargo::cargo_bin_cmd!("aegx").args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    // Killed or panicked would be 101 or none.
    let exit = output.status.code().unwrap();
    Ran { exit, out: text(output.stdout), err: text(output.stderr) }
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
