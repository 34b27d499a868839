//! Programs that age may run to reach a key in hardware.
//!
//! A line in an identity file names a program, and age runs it. So only programs of a short list are run,
//! and only from a place in which nobody else can put one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Names that may stand behind `age-plugin-`.
pub const PLUGINS: &[&str] = &["fido2-hmac", "se", "tpm", "yubikey"];

/// Rights to write for others than the owner.
const WRITABLE: u32 = 0o022;
/// The owner of what the system has installed.
const ROOT: u32 = 0;

/// Why a plugin is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// Not on the list.
    #[error("the age plugin `{0}` is not one of those that are run: {list}", list = PLUGINS.join(", "))]
    NotListed(String),
    /// Not installed.
    #[error("`age-plugin-{0}` is in no directory of PATH; install it")]
    Missing(String),
    /// Somebody else could have put it there.
    #[error("`{path}` could have been put there by others: {why}")]
    Planted {
        /// The program, or the directory that it lies in.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// May the plugin be run, as it would be found in these directories?
///
/// # Errors
/// If it is not on the list, is not there, or others could have put it there.
pub fn check(name: &str, path: Option<&std::ffi::OsStr>, own: u32) -> Result<PathBuf, PluginError> {
    if !PLUGINS.contains(&name) {
        return Err(PluginError::NotListed(name.chars().take(40).collect()));
    }
    let program = format!("age-plugin-{name}");
    let folders: Vec<PathBuf> =
        path.map(|it| std::env::split_paths(it).collect()).unwrap_or_default();
    // The first that is there is the one that would be run, also from an empty or relative entry.
    let found = folders.iter().map(|it| (it, it.join(&program))).find(|(_, it)| it.exists());
    let (folder, program) = found.ok_or_else(|| PluginError::Missing(name.to_owned()))?;
    let planted = |path: &Path, why| PluginError::Planted { path: path.display().to_string(), why };
    if !folder.is_absolute() {
        return Err(planted(folder, "PATH names a directory that depends on where one is"));
    }
    let real = files::resolved(&program).map_err(|_| planted(&program, "it leads nowhere"))?;
    let parent = real.parent().unwrap_or(folder);
    for place in [folder.as_path(), parent, real.as_path()] {
        let found = fs::metadata(place).map_err(|_| planted(place, "it cannot be looked at"))?;
        if found.uid() != ROOT && found.uid() != own {
            return Err(planted(place, "it belongs to somebody else"));
        }
        if found.permissions().mode() & WRITABLE != 0 {
            return Err(planted(place, "others may write to it"));
        }
    }
    Ok(real)
}
