//! Files of an agent's own that lie in the home: its login, its settings, its sessions. A person runs the agent's program in
//! a cage and gives it these, and nothing else of the home.
//!
//! INVARIANT (OwnOnly): a belonging is one file or one directory below the home, reached by no link, and none of our state.
//! The directories around it are fresh: what the program makes there is gone when it ends.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::CageError;
use super::given::real;
use super::settings::Cage;

/// The longest file that is copied into a cage, in bytes.
const COPY_BYTES_MAX: u64 = 16 << 20;

/// Are they such that they may be given?
pub(crate) fn check(cage: &Cage) -> Result<(), CageError> {
    cage.belongings.iter().try_for_each(|it| check_one(&it.at, cage))
}

fn check_one(at: &Path, cage: &Cage) -> Result<(), CageError> {
    let refuse = |why: &str| Err(CageError::Settings(format!("`{}` {why}", at.display())));
    let is_below = |home: &PathBuf| at.starts_with(home) && at != home;
    if !cage.home.as_ref().is_some_and(is_below) {
        return refuse("lies outside of the home, and is no file of an agent's own");
    }
    if real(at).as_deref() != Some(at) {
        return refuse("is not there, or a link leads to it: name what it leads to with --read");
    }
    if cage.state.as_ref().is_some_and(|it| it.starts_with(at) || at.starts_with(it)) {
        return refuse("holds, or lies in, our own state");
    }
    Ok(())
}

/// Refuses a cage without a file tree of its own: there, what is copied would be the file itself.
pub(crate) fn need_own_tree(cage: &Cage, why: &str) -> Result<(), CageError> {
    if cage.belongings.is_empty() && cage.lines.is_empty() {
        return Ok(());
    }
    let why = format!(
        "an agent's own files are given only in a file tree that we make, and there is none ({why}); --preset none goes without them"
    );
    Err(CageError::NoCage(why))
}

/// What is in a file that is to be copied.
///
/// # Errors
/// What the system says, and if it is too long or no file.
pub(crate) fn contents(at: &Path) -> io::Result<Vec<u8>> {
    // Whoever puts a link or a pipe there after we have looked gets nothing.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = File::options().read(true).custom_flags(flags).open(at)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    file.take(COPY_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > COPY_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {COPY_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}
