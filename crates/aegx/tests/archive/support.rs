//! What the tests share.

#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use aegx::archive::{Archive, ArchiveError, Limits, Rules, extract};
use tempfile::TempDir;

/// Names and contents of all files; directories have a trailing slash and no contents.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// Opens and extracts `archive`. If that is refused, nothing may have changed around it.
pub(crate) fn unpack(archive: &[u8], rules: Rules) -> Result<Tree, ArchiveError> {
    unpack_within(archive, rules, &Limits::default())
}

pub(crate) fn unpack_within(
    archive: &[u8],
    rules: Rules,
    limits: &Limits,
) -> Result<Tree, ArchiveError> {
    let home = TempDir::new().unwrap();
    let path = save(&home, archive);
    let out = home.path().join("out");
    let before = tree(home.path());
    let result = Archive::open_within(&path, rules, limits)
        .and_then(|archive| extract(&archive, &out, &mut |_| {}));
    match result {
        Ok(_) => Ok(tree(&out)),
        Err(error) => {
            assert_eq!(tree(home.path()), before, "after {error}");
            Err(error)
        }
    }
}

/// Opens `archive` and reads every entry, without touching the disk.
pub(crate) fn read(path: &Path, rules: Rules) -> Result<Tree, ArchiveError> {
    let archive = Archive::open(path, rules)?;
    let mut tree = Tree::new();
    for entry in archive.entries() {
        let mut contents = Vec::new();
        let read = archive.open_entry(entry)?.read_to_end(&mut contents);
        read.map_err(|error| error.downcast::<ArchiveError>().unwrap())?;
        tree.insert(entry.name().to_owned(), contents);
    }
    Ok(tree)
}

/// The code of the refusal, or `"ok"`.
pub(crate) fn code<T>(result: &Result<T, ArchiveError>) -> &'static str {
    result.as_ref().map_or_else(ArchiveError::code, |_| "ok")
}

pub(crate) fn save(home: &TempDir, archive: &[u8]) -> PathBuf {
    let path = home.path().join("test.aegx.zip");
    File::create(&path).unwrap().write_all(archive).unwrap();
    path
}

/// Everything below `root`, hidden files included.
pub(crate) fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for child in fs::read_dir(&directory).unwrap() {
            let path = child.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                pending.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}
