//! What may be given to a command at all, and what of it stays as it is. The same on every system.

use std::io;
use std::path::{Component, Path, PathBuf};

use model::places;

use super::error::CageError;
use super::git;
use super::nested::Nested;
use super::settings::Cage;

/// Folders of the system, which are read-only inside, if they are there.
pub const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
];
/// Folders of the system in which nobody works: none of them, and nothing in them, is changed by a command.
const NEVER_CHANGED: &[&str] = &[
    "/bin",
    "/boot",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/sbin",
    "/usr/bin",
    "/usr/games",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/etc",
    "/usr/local/lib",
    "/usr/local/sbin",
    "/usr/sbin",
    "/usr/share",
    "/var/lib/dpkg",
    "/var/lib/rpm",
    "/var/spool/cron",
    // The same on a Mac.
    "/Library",
    "/System",
    "/private/etc",
    "/private/var/db",
];
/// Folders of the system, or of everybody, that somebody may work below, but that are nobody's work themselves; nor is
/// what one of these, or of the others, lies in.
const NEVER_WHOLE: &[&str] = &[
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/private",
    "/private/var",
    "/run",
    "/srv",
    "/usr",
    "/usr/local",
    "/usr/src",
    "/var",
    "/var/lib",
    "/var/log",
    "/Applications",
    "/Users",
];

/// Is this a directory that a command may change?
pub(crate) fn changeable(path: &Path, cage: &Cage) -> Result<(), CageError> {
    allowed(path, cage)?;
    let refuse = |why: &str| Err(CageError::Settings(format!("`{}` {why}", path.display())));
    if !path.is_dir() {
        return refuse("is no directory");
    }
    let is_system = NEVER_CHANGED.iter().any(|it| path.starts_with(it))
        || NEVER_CHANGED.iter().chain(NEVER_WHOLE).any(|it| Path::new(it).starts_with(path));
    if is_system {
        return refuse("belongs to the system: start in, or name, a directory of your own");
    }
    Ok(())
}

/// Is this a directory that somebody may be given?
pub(crate) fn allowed(path: &Path, cage: &Cage) -> Result<(), CageError> {
    let refuse = |why: &str| Err(CageError::Settings(format!("`{}` {why}", path.display())));
    let plain = path.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
    if !path.is_absolute() || !plain {
        return refuse("is not an absolute path without dots");
    }
    if real(path).as_deref() != Some(path) {
        return refuse("is not there, or a link leads to it");
    }
    if is_closed(path) {
        return refuse("cannot be looked into; let its owner read and enter it (chmod u+rwx)");
    }
    if path == Path::new("/") || ["/proc", "/sys", "/dev"].iter().any(|it| path.starts_with(it)) {
        return refuse("cannot be given: it is the system itself");
    }
    let around = |it: &Path| it.starts_with(path);
    if cage.home.as_deref().is_some_and(around) {
        return refuse("holds the whole home directory; give a directory below it");
    }
    // What an agent owns may lie in our state; nothing else of it is seen.
    let is_below = |it: &Path| path.starts_with(it) && path != it;
    if cage.own.as_deref() == Some(path) && cage.state.as_deref().is_some_and(is_below) {
        return Ok(());
    }
    if cage.state.as_deref().is_some_and(|it| around(it) || path.starts_with(it)) {
        return refuse("holds, or lies in, our own state");
    }
    let in_secret =
        |it: &&str| cage.home.as_ref().is_some_and(|home| path.starts_with(home.join(it)));
    if places::SECRET_DIRS.iter().chain(places::SECRET_FILES).any(in_secret) {
        return refuse("is a place of secrets");
    }
    Ok(())
}

/// Is it a directory of which nobody knows what it holds? A command could open it, as its owner.
fn is_closed(path: &Path) -> bool {
    let denied = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    std::fs::read_dir(path).is_err_and(|it| denied(&it))
        || path.join(".").symlink_metadata().is_err_and(|it| denied(&it))
}

/// What git, editors and agents obey in the workspaces and in the repositories further down, there or not.
pub(crate) fn kept_places(nested: &Nested) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for root in nested.roots() {
        paths.extend(places::kept_at_the_top().map(|it| root.join(it)));
        paths.extend(git::obeyed(root));
    }
    paths.extend(nested.bare.iter().flat_map(|it| git::obeyed_in(it)));
    paths.extend(nested.obeyed.iter().cloned());
    paths
}

/// May the person let the command change this place, which would be kept?
pub(crate) fn may_be_changed(path: &Path, cage: &Cage, nested: &Nested) -> Result<(), CageError> {
    let refuse = |why: String| Err(CageError::Settings(format!("`{}` {why}", path.display())));
    let is_below = |it: &PathBuf| path.starts_with(it) && path != it;
    if !cage.workspaces.iter().any(is_below) {
        return refuse("lies in no workspace, so that nothing there can be changed".to_owned());
    }
    if cage.workspaces.iter().any(|it| it.starts_with(path)) {
        return refuse("holds a workspace: name what of it may be changed".to_owned());
    }
    match kept_places(nested).iter().find(|it| is_below(it)) {
        Some(whole) => {
            let whole = whole.display();
            refuse(format!("lies in `{whole}`, which is kept as a whole: name that"))
        }
        None => Ok(()),
    }
}

/// Where a path leads in the end, if it is there.
#[expect(
    clippy::disallowed_methods,
    reason = "what is mounted is opened by this path without following a link, so that another file is an error"
)]
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}
