//! A profile in use. Only a Mac has what reads it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The program that confines. Its path is fixed: a `PATH` can be anybody's.
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Writes a profile for the owner's eyes only into `dir`, which is made private, under a name of its own.
///
/// # Errors
/// What the system says.
pub fn write(dir: &Path, name: &str, profile: &str) -> io::Result<PathBuf> {
    let plain = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if !plain {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of a profile is plain"));
    }
    files::private::create_dir(dir)?;
    let path = dir.join(format!("{name}.sb"));
    files::private::replace(&path, profile.as_bytes())?;
    Ok(path)
}

/// What is started: the command behind the profile in this file, by `confiner`, which takes arguments as `sandbox-exec`
/// does. Working directory and environment are the caller's to set on it, so that what was cleared stays cleared.
#[must_use]
pub fn command_line(confiner: &Path, profile: &Path, words: &[OsString]) -> Vec<OsString> {
    // The double dash: a program whose name begins with one is no option.
    let fixed = [confiner.into(), "-f".into(), profile.into(), "--".into()];
    fixed.into_iter().chain(words.iter().cloned()).collect()
}
