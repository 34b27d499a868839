//! The program under test, as tests start it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Where it lies.
pub(crate) const LAZARET: &str = env!("CARGO_BIN_EXE_lazaret");

/// `lazaret` with these words, and its state in `home`.
pub(crate) fn lazaret(home: impl AsRef<OsStr>, words: &[&str]) -> Command {
    let mut command = command(words);
    command.env("LAZARET_HOME", home);
    command
}

/// `lazaret` with these words, where no state is needed and none may be looked for.
pub(crate) fn stateless(words: &[&str]) -> Command {
    let mut command = command(words);
    command.env_remove("LAZARET_HOME").env("HOME", "/nonexistent");
    command
}

/// A copy of it that lies elsewhere, with these words and its state in `home`.
pub(crate) fn copied(at: &Path, home: impl AsRef<OsStr>, words: &[&str]) -> Command {
    let mut command = started(at.as_os_str(), words);
    command.env("LAZARET_HOME", home);
    command
}

fn command(words: &[&str]) -> Command {
    started(LAZARET.as_ref(), words)
}

#[expect(clippy::disallowed_methods, reason = "tests start the program that they test")]
fn started(program: &OsStr, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}
