//! What the daemon was started with: its program and its settings. Where they are others now, the next one is started
//! with those.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files that are looked at; more are not told apart.
const FILES_MAX: usize = 1000;
/// Folders in folders that are looked into.
const DEPTH_MAX: usize = 3;

/// The state of the files by which a daemon decides.
#[derive(PartialEq, Eq)]
pub(super) struct Started {
    program: Option<PathBuf>,
    files: Vec<(PathBuf, u64, i64, i64)>,
}

impl Started {
    /// As it is now.
    pub(super) fn now(home: &Path) -> Self {
        Self::of(home, std::env::current_exe().ok())
    }

    fn of(home: &Path, program: Option<PathBuf>) -> Self {
        let mut files = Vec::new();
        if let Some(program) = &program {
            // One that was only removed is no other one.
            note(program, &mut files);
        }
        let settings = [
            home.join("config.yaml"),
            home.join("users.yaml"),
            home.join("policy"),
            home.join("agents"),
        ];
        settings.iter().for_each(|it| walk(it, DEPTH_MAX, &mut files));
        // The vault is read when it is asked: only that there is one now counts.
        let vault = home.join("vault.age");
        files.extend(vault.exists().then_some((vault, 0, 0, 0)));
        Self { program, files }
    }

    /// Are they others than at `self`?
    pub(super) fn is_other(&self, home: &Path) -> bool {
        // By the name that it had: of a program that was replaced the system says that it was removed.
        let now = Self::of(home, self.program.clone());
        let has_program = |it: &Self| {
            let first = it.files.first().map(|it| &it.0);
            it.program.as_ref().is_some_and(|program| first == Some(program))
        };
        *self != now && has_program(&now)
    }
}

fn note(path: &Path, files: &mut Vec<(PathBuf, u64, i64, i64)>) {
    if let Ok(about) = fs::metadata(path)
        && files.len() < FILES_MAX
    {
        files.push((path.to_owned(), about.ino(), about.mtime(), about.mtime_nsec()));
    }
}

fn walk(path: &Path, depth: usize, files: &mut Vec<(PathBuf, u64, i64, i64)>) {
    note(path, files);
    if depth == 0 || files.len() >= FILES_MAX || !path.is_dir() {
        return;
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    let mut below: Vec<PathBuf> = entries.filter_map(|it| it.ok().map(|it| it.path())).collect();
    below.sort();
    below.iter().for_each(|it| walk(it, depth - 1, files));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of a test")]
    fn other_settings_are_noticed() {
        let home = tempfile::tempdir().unwrap();
        let before = Started::now(home.path());
        assert!(!before.is_other(home.path()));
        fs::write(home.path().join("else"), "x").unwrap();
        assert!(!before.is_other(home.path()));
        fs::create_dir_all(home.path().join("agents/main")).unwrap();
        let between = Started::now(home.path());
        assert!(before.is_other(home.path()));
        fs::write(home.path().join("agents/main/IDENTITY.md"), "x").unwrap();
        assert!(between.is_other(home.path()));
        let then = Started::now(home.path());
        fs::write(home.path().join("vault.age"), "x").unwrap();
        assert!(then.is_other(home.path()));
        let with_vault = Started::now(home.path());
        fs::write(home.path().join("vault.age"), "y").unwrap();
        assert!(!with_vault.is_other(home.path()));
    }
}
