//! The repository that a command starts in, where it starts below its top.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::given::{allowed, changeable};
use super::settings::Cage;

impl Cage {
    /// Gives the repository that a directory lies in, as far as it may be given: its files to read, and what git keeps to
    /// change, without which git does not find it. Nothing where the directory is the top of one, or in none.
    pub fn give_repository_of(&mut self, dir: &Path) {
        let Some(top) = top_above(dir) else { return };
        let git = top.join(".git");
        if allowed(&top, self).is_ok() && changeable(&git, self).is_ok() {
            self.readable.push(top);
            self.workspaces.push(git);
        }
    }
}

/// The nearest directory above with a repository of the user's own.
fn top_above(dir: &Path) -> Option<PathBuf> {
    let has_git = |it: &&Path| it.join(".git").symlink_metadata().is_ok();
    let top = dir.ancestors().find(has_git).filter(|it| *it != dir)?;
    let git = top.join(".git").symlink_metadata().ok()?;
    let is_own = git.uid() == rustix::process::geteuid().as_raw();
    // What leads elsewhere may lead to somebody else's.
    (git.is_dir() && is_own).then(|| top.to_owned())
}
