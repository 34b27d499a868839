//! How much of workspaces is looked at before a command begins. More is a refusal: a command could make so much that the next
//! one sees what was covered.

use std::path::Path;

use super::super::error::CageError;

/// How much is looked at before a command begins. More is a refusal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Directories of all workspaces, and of what else may be read.
    pub(super) directories: usize,
    /// Entries of all of them.
    pub(super) entries: usize,
    /// Repositories, which are kept as they are. Each takes the kernel a few mounts.
    pub(super) repositories: usize,
}

impl Bounds {
    pub(super) const DEFAULT: Self =
        Self { directories: 131_072, entries: 4_000_000, repositories: 500 };
}

/// What there is too much of.
pub(super) enum TooMany {
    Directories,
    Entries,
    Repositories,
}

impl TooMany {
    pub(super) fn at(&self, dir: &Path) -> CageError {
        let (bounds, dir) = (Bounds::DEFAULT, dir.display());
        let what = match self {
            Self::Directories => format!("{} directories", bounds.directories),
            Self::Entries => format!("{} files", bounds.entries),
            Self::Repositories => format!("{} repositories", bounds.repositories),
        };
        CageError::Settings(format!(
            "there are more than {what}, so that nobody can say where secrets lie; the first that was not looked at is \
             `{dir}`: start in, or name with --workspace, a smaller directory, or take away what is not needed"
        ))
    }
}

/// Takes one from what is left.
pub(super) fn take(left: &mut usize, dir: &Path, what: &TooMany) -> Result<(), CageError> {
    *left = left.checked_sub(1).ok_or_else(|| what.at(dir))?;
    Ok(())
}

pub(super) fn not_seen(dir: &Path) -> CageError {
    // Its name may be longer than anybody reads.
    let shown: String = dir.display().to_string().chars().take(SHOWN_CHARS).collect();
    let why = "cannot be looked at, so that nobody can say what it holds";
    CageError::Settings(format!("`{shown}` {why}: take it away, or name another directory"))
}

/// Characters of a path that are shown.
const SHOWN_CHARS: usize = 200;
