//! Folders of agents that go away: under another name first, so that what of them does not go is in nobody's way.
//!
//! Threat: a command leaves something that cannot be removed, and no host begins any more, or a user cannot be deleted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aegx::RecordType;
use evidence::{AppendError, Journal, NewRecord};
use model::Kind;
use serde_json::json;

use super::Workspace;

/// How the name of what is to go begins; no name of an agent or a user begins with this sign.
const GOING: &str = "+gone-";
/// Folders that are looked at for what was to go.
const FOLDERS_MAX: usize = 10_000;

/// What became of a folder that was taken away.
#[derive(Debug)]
pub struct Gone {
    /// How many entries were in it.
    pub entries: u64,
    /// Where something of it still lies, and why.
    pub stays: Option<(PathBuf, io::Error)>,
}

impl Gone {
    /// How many entries were in it.
    ///
    /// # Errors
    /// If something of it still lies there.
    pub fn whole(self) -> io::Result<u64> {
        match self.stays {
            None => Ok(self.entries),
            Some((path, error)) => {
                let what = format!("`{}` could not be removed: {error}", path.display());
                Err(io::Error::new(error.kind(), what))
            }
        }
    }
}

/// Takes away what is at a path, with all that is in it; a link itself. What of it does not go lies beside it, and is
/// tried again when the next host begins.
///
/// # Errors
/// If it still has its name.
pub fn take_away(path: &Path) -> io::Result<Gone> {
    let aside = path.with_file_name(format!("{GOING}{:016x}", random()?));
    match fs::rename(path, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Gone { entries: 0, stays: None });
        }
        renamed => renamed?,
    }
    Ok(match files::remove_tree(&aside) {
        Ok(entries) => Gone { entries, stays: None },
        Err(error) => Gone { entries: 0, stays: Some((aside, error)) },
    })
}

/// Removes what processes left that died. What cannot be removed is on record: a person has to look, and nobody is kept
/// from working by it. Nobody may work here yet.
///
/// # Errors
/// If it cannot be recorded.
pub(crate) fn sweep(journal: &Journal, home: &Path) -> Result<(), AppendError> {
    let mut left = Workspace::sweep(home);
    if let Err(error) = crate::plugins::sweep(home) {
        left.push((home.to_owned(), error));
    }
    for (path, error) in left {
        let why = format!("`{}` could not be removed: {error}", path.display());
        let content = json!({ "error": why, "next": "remove it yourself" });
        let kind = Kind::of_static("left_behind");
        journal.append(NewRecord::of_host(RecordType::GuardDecision, kind, content))?;
    }
    Ok(())
}

/// Removes what was to go from a folder and from the folders in it. Gives what stays.
pub(super) fn again(folder: &Path) -> Vec<(PathBuf, io::Error)> {
    let mut stays = Vec::new();
    let (mut going, others): (Vec<PathBuf>, Vec<PathBuf>) =
        folders_of(folder).into_iter().partition(|it| is_to_go(it));
    for inner in others {
        going.extend(folders_of(&inner).into_iter().filter(|it| is_to_go(it)));
    }
    for path in going {
        if let Err(error) = files::remove_tree(&path) {
            stays.push((path, error));
        }
    }
    stays
}

fn is_to_go(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(GOING))
}

/// The folders in a folder; none if it cannot be read: then there is nothing to be done in it either.
fn folders_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
    folders.map(|it| it.path()).take(FOLDERS_MAX).collect()
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(u64::from_ne_bytes(bytes))
}
