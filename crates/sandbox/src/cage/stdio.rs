//! What the program is handed over by descriptors.

use rustix::fs::{FileType, fstat};
use rustix::stdio::{stderr, stdin, stdout};

use super::error::CageError;

/// By a handle on a directory everything of the host's that lies below and above it has a name, whatever tree is made for
/// the program; modes, times and sockets are then within its reach.
pub(crate) fn no_directory_is_handed_over() -> Result<(), CageError> {
    let stdio = [("stdin", stdin()), ("stdout", stdout()), ("stderr", stderr())];
    let is_dir = |fd| fstat(fd).is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_dir());
    match stdio.into_iter().find(|(_, fd)| is_dir(*fd)) {
        Some((name, _)) => Err(CageError::Settings(format!(
            "{name} is a directory, by which everything is reached"
        ))),
        None => Ok(()),
    }
}
