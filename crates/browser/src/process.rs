//! The browser's processes: started with nothing of ours but one socket, and ended all together.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::limits::{END, LAST_WORDS_BYTES_MAX};
use crate::profile::{Profile, RunsAs};
use crate::program::Program;

/// Takes from a program the right to get more rights than it has.
const SETPRIV: &str = "/usr/bin/setpriv";
const SHELL: &str = "/bin/sh";
/// Puts the socket where the browser looks for it, bounds what one process may use (no dumps, open files,
/// bytes of a file in blocks of 512, memory in KiB), and becomes the browser. It has no text of anybody
/// in it: what is to be started comes as arguments.
const SCRIPT: &str = "ulimit -c 0 && ulimit -n 4096 && ulimit -f 2097152 && ulimit -d 4194304 && \
                      exec \"$@\" 3<&0 4>&0 </dev/null >/dev/null";

/// A browser's processes. Dropped, they are ended.
pub(crate) struct Process {
    child: Child,
    last_words: Arc<Mutex<Vec<u8>>>,
}

impl Process {
    /// Starts `program`, and gives the socket by which it is driven.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where a browser is started; its program is from a fixed list"
    )]
    pub(crate) fn start(
        program: Program,
        flags: &[String],
        profile: &Profile,
        runs_as: RunsAs,
    ) -> io::Result<(Self, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(SETPRIV);
        command
            .args(["--no-new-privs", "--", SHELL, "-c", SCRIPT, "browser", program.path()])
            .args(flags)
            .env_clear()
            .envs(environment(profile))
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        if let RunsAs::User(user) = runs_as {
            // Without our groups, too: that is what the system does when a user is set by root.
            command.uid(user).gid(user);
        }
        let mut child = command.spawn()?;
        let last_words = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            listen(stderr, &last_words);
        }
        Ok((Self { child, last_words }, ours))
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it said first on its way down, for the operator.
    pub(crate) fn last_words(&mut self) -> String {
        let ended = self.child.try_wait();
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        let line = text.lines().rfind(|it| it.contains("FATAL")).or_else(|| text.lines().last());
        let line = line.unwrap_or_default().escape_debug().to_string();
        match ended {
            Ok(Some(status)) => format!("it ended with {status}: {line}"),
            Ok(None) => format!("it runs and does not answer: {line}"),
            Err(error) => error.to_string(),
        }
    }

    /// Ends them, whatever they are doing. The first is not waited for before all are told: until then its
    /// number cannot be another's.
    fn end(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let begun = Instant::now();
        while begun.elapsed() < END {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// All that a browser knows of where it runs. No program can be found by its name.
fn environment(profile: &Profile) -> Vec<(&'static str, OsString)> {
    let home = profile.path().as_os_str().to_owned();
    vec![
        ("HOME", home.clone()),
        ("XDG_CACHE_HOME", home.clone()),
        ("XDG_CONFIG_HOME", home.clone()),
        ("XDG_DATA_HOME", home.clone()),
        ("XDG_RUNTIME_DIR", home.clone()),
        ("TMPDIR", home),
        ("LANG", "C.UTF-8".into()),
        ("PATH", "/nonexistent".into()),
        // Without this it looks for a session of the desktop's.
        ("DBUS_SESSION_BUS_ADDRESS", "disabled:".into()),
    ]
}

/// Keeps the beginning of what it says, and reads the rest so that it is never stopped by saying too much.
fn listen(mut stderr: ChildStderr, kept: &Arc<Mutex<Vec<u8>>>) {
    let kept = Arc::clone(kept);
    let work = move || {
        let mut piece = [0; 1024];
        while let Ok(read @ 1..) = stderr.read(&mut piece) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if (kept.len() as u64) < LAST_WORDS_BYTES_MAX {
                kept.extend(piece.get(..read).unwrap_or_default());
            }
        }
    };
    // Without a thread nobody hears it, and it ends at the first word: a pipe without a reader.
    let _ = thread::Builder::new().name("browser-words".to_owned()).spawn(work);
}
