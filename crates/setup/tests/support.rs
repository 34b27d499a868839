//! A machine of the test's own: a home, a state directory, programs, and files in them.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use setup::{Applied, Host, Options, Outcome, Plan, Surroundings, Uninstalled};
use tempfile::TempDir;

/// A moment.
pub(crate) const NOW_UNIX_S: u64 = 1_795_000_000;

pub(crate) struct Machine {
    _dir: TempDir,
    root: PathBuf,
    pub(crate) around: Surroundings,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let root = files::resolved(dir.path()).unwrap();
        let around = Surroundings {
            home: root.join("home"),
            state: root.join("home/.lazaret"),
            hook: root.join("bin/lazaret-hook"),
            lazaret: root.join("bin/lazaret"),
            project: None,
            env: BTreeMap::new(),
            path_dirs: vec![root.join("bin")],
        };
        let machine = Self { _dir: dir, root, around };
        // The state directory is there before anything is wired, and stays.
        fs::create_dir_all(&machine.around.state).unwrap();
        machine.program("bin/lazaret-hook");
        machine.program("bin/lazaret");
        machine
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn program(&self, path: &str) {
        self.put(path, b"#!/bin/false\n");
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.at(path)).unwrap()).unwrap()
    }

    pub(crate) fn json(&self, path: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(path)).unwrap()
    }

    pub(crate) fn plan(&self, which: &[Host]) -> Plan {
        setup::plan(&self.around, which, &Options::default()).unwrap()
    }

    pub(crate) fn init(&self, which: &[Host]) -> Applied {
        self.plan(which).apply(NOW_UNIX_S).unwrap()
    }

    pub(crate) fn uninstall(&self) -> Uninstalled {
        setup::uninstall(&self.around).unwrap()
    }

    /// Every file below the home, with its bytes and mode.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
        let mut found = BTreeMap::new();
        walk(&self.around.home, &mut found);
        found
    }
}

fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, u32)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        if path.is_dir() {
            found.insert(path.clone(), (Vec::new(), mode));
            walk(&path, found);
        } else {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, (bytes, mode));
        }
    }
}

/// A folder of the corpus.
pub(crate) fn corpus(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/setup").join(folder)
}

/// The files of a folder of the corpus, by name.
pub(crate) fn cases(folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut cases: Vec<_> = fs::read_dir(corpus(folder))
        .unwrap()
        .map(|it| {
            let path = it.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())
        })
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// What became of the one file with this ending.
pub(crate) fn outcome<'a>(done: &'a Uninstalled, ending: &str) -> &'a Outcome {
    let mut found = done.files.iter().filter(|it| it.0.ends_with(ending));
    let outcome = &found.next().unwrap().1;
    assert!(found.next().is_none());
    outcome
}
