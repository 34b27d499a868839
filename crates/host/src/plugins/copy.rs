//! A private copy of a folder, made in one go: it is there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use files::private;

use super::inventory::{Inventory, Unfit};

/// Does a copy have to be there after a crash?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    Yes,
    No,
}

/// Copies `from` to `to`, which must not be there, by way of `temporary`, which is removed first. Only what
/// was looked at is copied, and only `expected` becomes visible.
///
/// # Errors
/// If it cannot be read or written, or is not what was expected: then there is nothing at `to`.
pub(super) fn copy(
    from: &Path,
    temporary: &Path,
    to: &Path,
    expected: &Inventory,
) -> Result<bool, Unfit> {
    let failed = |error: io::Error| Unfit::Io { path: to.display().to_string(), error };
    remove(temporary).map_err(failed)?;
    let copied = fill(from, temporary, expected, Lasts::Yes);
    if !copied.as_ref().is_ok_and(|it| it == expected) {
        remove(temporary).map_err(failed)?;
        return copied.map(|_| false);
    }
    let folders = expected.entries.iter().filter(|(_, (_, digest))| digest.is_none());
    for (path, _) in folders {
        File::open(temporary.join(path)).and_then(|it| it.sync_all()).map_err(failed)?;
    }
    File::open(temporary).and_then(|it| it.sync_all()).map_err(failed)?;
    fs::rename(temporary, to).and_then(|()| private::sync_parent(to)).map_err(failed)?;
    Ok(true)
}

/// Copies `from` to the folder `to`, which must not be there, and gives what is in the copy: its digests are of the very bytes
/// that were written. Folders are those of what is expected, so that anything else does not fit.
///
/// # Errors
/// If it cannot be read or written, or is no plugin any more.
pub(super) fn fill(
    from: &Path,
    to: &Path,
    expected: &Inventory,
    lasts: Lasts,
) -> Result<Inventory, Unfit> {
    let failed = |error: io::Error| Unfit::Io { path: to.display().to_string(), error };
    private::create_dir(to).map_err(failed)?;
    // Paths come from the walk, one plain name after the other.
    for (path, _) in expected.entries.iter().filter(|(_, (_, digest))| digest.is_none()) {
        private::create_dir(&to.join(path)).map_err(failed)?;
    }
    let mut write = |path: &str, runs: bool, bytes: &[u8]| -> io::Result<()> {
        let mode = if runs { 0o700 } else { 0o600 };
        let target = to.join(path);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&target)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        if lasts == Lasts::Yes { file.sync_all() } else { Ok(()) }
    };
    Inventory::of(from, &mut write)
}

/// Removes a folder and all that is in it, without following links out of it, also where something in it was closed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    files::remove_tree(path).map(drop)
}
