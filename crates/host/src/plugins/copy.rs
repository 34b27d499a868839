//! A private copy of a folder, made in one go: it is there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use files::private;

use super::inventory::{Inventory, Unfit};

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
    private::create_dir(temporary).map_err(failed)?;
    // Paths come from the walk, one plain name after the other.
    for (path, _) in expected.entries.iter().filter(|(_, (_, digest))| digest.is_none()) {
        private::create_dir(&temporary.join(path)).map_err(failed)?;
    }
    let mut write = |path: &str, runs: bool, bytes: &[u8]| -> io::Result<()> {
        let mode = if runs { 0o700 } else { 0o600 };
        let target = temporary.join(path);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&target)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()
    };
    let copied = Inventory::of(from, &mut write);
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

/// Removes a folder and all that is in it, without following links out of it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}
