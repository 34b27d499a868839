//! A program of ours that outlives whoever starts it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// What it is told of the surroundings, and nothing else: whoever starts it may hold keys of others.
const KEPT: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];
/// Names that begin so are ours.
const OURS: &str = "LAZARET_";

/// What it frees goes back to the system at once: it waits most of the time, and what its start took is a third of what it
/// would hold then.
const ALLOCATOR: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "0");

/// Starts `program`, without a terminal, without our descriptors, in `/`. It is to make a session of its own.
///
/// # Errors
/// If it cannot be started.
#[expect(clippy::disallowed_methods, reason = "the daemon is started here, and nothing else")]
pub fn detached(program: &Path, args: &[&OsStr]) -> io::Result<()> {
    let kept = std::env::vars_os().filter(|(name, _)| {
        name.to_str().is_some_and(|it| KEPT.contains(&it) || it.starts_with(OURS))
    });
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(kept).env(ALLOCATOR.0, ALLOCATOR.1).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Nobody waits for it: it goes on when we are gone, and whoever adopts it then does.
    command.spawn().map(drop)
}
