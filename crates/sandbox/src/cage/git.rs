//! What git obeys in a workspace beside the places that every workspace has.

use std::fs;
use std::path::{Path, PathBuf};

/// What git obeys in the directory of a repository.
const OF_EACH_REPOSITORY: &[&str] = &["config", "config.worktree", "hooks", "commondir", "gitdir"];
/// Entries of one directory that are looked at, and repositories.
const ENTRIES_MAX: usize = 1000;

/// What else git obeys in a workspace: a file in the place of its directory, and the same files for each submodule.
pub(crate) fn obeyed(dir: &Path) -> Vec<PathBuf> {
    let git = dir.join(".git");
    match git.symlink_metadata() {
        Ok(meta) if meta.is_file() => return vec![git],
        Ok(_) => {}
        Err(_) => return Vec::new(),
    }
    let (mut all, mut look) = (Vec::new(), vec![git.join("modules"), git.join("worktrees")]);
    while let Some(dir) = look.pop().filter(|_| all.len() < ENTRIES_MAX) {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        let entries = entries.take(ENTRIES_MAX).filter_map(Result::ok);
        for below in
            entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())).map(|it| it.path())
        {
            match below.join("HEAD").exists() {
                true => {
                    all.extend(OF_EACH_REPOSITORY.iter().map(|it| below.join(it)));
                    look.push(below.join("modules"));
                }
                // A submodule's name may have several parts.
                false => look.push(below),
            }
        }
    }
    all
}
