//! Starting the daemon where it is not running.

use crate::failure::Failure;
use crate::state::{self, Home};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the daemon may know of the agent's environment, which holds keys and tokens.
const KEPT: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
];
/// The rights of group and others to write.
const OTHERS_WRITE: u32 = 0o022;

/// The right to start the daemon, which one hook has at a time.
pub(crate) struct Starter<'a> {
    home: &'a Home,
    program: PathBuf,
    /// Locked as long as this process lives, or until it has its answer.
    _lock: File,
}

impl<'a> Starter<'a> {
    /// Returns the right to start the daemon; `None` while another hook has it. Of a thousand hooks that find no
    /// daemon, one starts it.
    pub(crate) fn claim(home: &'a Home) -> Result<Option<Self>, Failure> {
        let program = program(home)?.ok_or(Failure::NoProgram)?;
        let lock = home.lock_file()?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { home, program, _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(_)) => Err(Failure::NotStarted),
        }
    }

    /// Starts `lazaret daemon start`, apart from the agent: own process group, no streams, no folder.
    pub(crate) fn start(&self) -> Result<(), Failure> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the daemon is no tool of an agent: it is what runs the gate"
        )]
        let mut command = Command::new(&self.program);
        command.args(["daemon", "start", "--quiet", "--home"]).arg(&self.home.directory);
        command.env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs(KEPT.iter().filter_map(|it| Some((it, std::env::var_os(it)?))));
        if let Some(path) = search_path(self.home) {
            command.env("PATH", path);
        }
        // It goes on when this process is gone, so nobody waits for it.
        command.spawn().map(drop).map_err(|_| Failure::NotStarted)
    }
}

/// Returns the `lazaret` beside this program, else `$LAZARET_BIN` where the command line pins nothing. Never one that
/// is found by `PATH` or lies in the folder that the agent works in: it may have been put there.
fn program(home: &Home) -> Result<Option<PathBuf>, Failure> {
    let us = state::user()?;
    let beside = std::env::current_exe().ok().map(|it| it.with_file_name("lazaret"));
    let named = std::env::var_os("LAZARET_BIN").map(PathBuf::from);
    let named = named.filter(|it| !home.is_pinned && !is_here(it, home));
    let is_ours = |it: &PathBuf| {
        let about = std::fs::metadata(it).ok();
        about.is_some_and(|it| {
            it.is_file() && [us, 0].contains(&it.uid()) && it.mode() & OTHERS_WRITE == 0
        })
    };
    Ok([beside, named].into_iter().flatten().find(|it| it.is_absolute() && is_ours(it)))
}

/// Returns `PATH` without what is relative or lies in the folder that the agent works in.
fn search_path(home: &Home) -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    let kept = std::env::split_paths(&path).filter(|it| it.is_absolute() && !is_here(it, home));
    std::env::join_paths(kept).ok()
}

/// Tells whether a path lies in the folder that the agent works in. Above the state directory nothing is told by
/// that: there lies all that the user has. `HOME` would say so too, but a project can set it.
fn is_here(path: &Path, home: &Home) -> bool {
    let is_above = |here: &Path| home.directory.starts_with(here);
    std::env::current_dir().is_ok_and(|here| !is_above(&here) && path.starts_with(here))
}
