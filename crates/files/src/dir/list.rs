//! What lies in a folder.

use std::os::fd::AsFd;

use rustix::fs::AtFlags;

use super::{Dir, DirError, Stat, open};
use crate::Relative;

/// Entries of one folder that are listed.
pub const LIST_ENTRIES_MAX: usize = 10_000;

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name; none if it is no text.
    pub name: Option<String>,
    /// What it is.
    pub stat: Stat,
}

impl Dir {
    /// What lies in a folder, by name, and whether that is all. Links are named and not followed.
    ///
    /// # Errors
    /// If it is no folder, or cannot be read.
    pub fn list(&self, path: &Relative) -> Result<(Vec<Found>, bool), DirError> {
        let folder = open::folder(&self.fd, path)?;
        let mut found = Vec::new();
        let whole = each_name(&folder, path, |name| {
            if found.len() >= LIST_ENTRIES_MAX {
                return false;
            }
            // One that is gone by now is not there.
            if let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                let name = name.to_str().ok().map(str::to_owned);
                found.push(Found { name, stat: Stat::of(&stat) });
            }
            true
        })?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok((found, whole))
    }
}

/// Shows every name until it is enough. Were those all?
pub(super) fn each_name(
    folder: impl AsFd,
    path: &Relative,
    mut see: impl FnMut(&std::ffi::CStr) -> bool,
) -> Result<bool, DirError> {
    let failed = |error| DirError::of(path, error);
    let names = rustix::fs::Dir::read_from(folder).map_err(failed)?;
    for entry in names {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") && !see(name) {
            return Ok(false);
        }
    }
    Ok(true)
}
