//! The way of an agent's hooks out of its cage: they are answered by the daemon outside, which knows the session, the
//! folders that are trusted and the questions that wait.
//!
//! Inside there is a socket in the place of the daemon's. What comes by it is passed on, if it is the call of a hook: no
//! other door of the daemon is open to whoever is in a cage, and the socket of the person is not there at all.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use host::doors::{self, hello::PROTOCOL};
use sandbox::cage::{Cage, Line};
use setup::{Host, Wiring};

use super::presets::Preset;
use crate::daemon;
use crate::failure::Failure;
use crate::home::Home;
use crate::wire;

/// The door that is open, as a connection begins.
const DOOR: &str = "hook";
/// The longest first frame of a hook, in bytes.
const HELLO_BYTES_MAX: usize = 512;
/// Hooks that are passed on at once; whoever comes then is not answered, and asks again.
const AT_ONCE_MAX: usize = 64;
/// How long a hook may take to say what it wants, and the daemon to answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A socket that is found inside, and the daemon outside.
pub(crate) struct Outside {
    home: PathBuf,
    listener: UnixListener,
    /// Its name outside, which goes when the cage has it.
    dir: PathBuf,
}

impl Outside {
    /// A way out for the hooks of this agent, if it has some of ours; the cage is told of it, and the daemon is started.
    pub(crate) fn of(
        preset: &Preset,
        named: &Home,
        home: &Path,
        cage: &mut Cage,
    ) -> Result<Option<Self>, Failure> {
        let around = wire::surroundings(named, None).ok();
        let Some((host, around)) = Host::parse(preset.name).zip(around) else { return Ok(None) };
        if setup::wiring(&around, host) == Wiring::NotInstalled {
            return Ok(None);
        }
        // Before the network: it goes by the daemon, too, which has the journal.
        daemon::start(home)?;
        let dir = home.join("exec").join(format!("line-{}", std::process::id()));
        let unable = |error: io::Error| Failure::unable(format!("`{}`: {error}", dir.display()));
        let _left_behind = fs::remove_dir_all(&dir);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(unable)?;
        let from = dir.join("doors.sock");
        let listener = UnixListener::bind(&from).map_err(unable)?;
        let from = files::resolved(&from).map_err(unable)?;
        // Where it is found by what is wired.
        cage.lines.push(Line { from, at: doors::socket_path(&around.state) });
        let hook = files::resolved(&around.hook).map_err(Failure::unable)?;
        if !cage.readable.iter().any(|it| hook.starts_with(it)) {
            cage.readable.push(hook);
        }
        Ok(Some(Self { home: home.to_owned(), listener, dir }))
    }

    /// Passes on what comes, until this process ends.
    pub(crate) fn serve(self) -> Result<(), Failure> {
        let Self { ref listener, ref home, .. } = self;
        let listener = listener.try_clone().map_err(Failure::unable)?;
        let home = home.clone();
        let open = Arc::new(AtomicUsize::new(0));
        let serve = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if open.load(Ordering::Acquire) >= AT_ONCE_MAX {
                    continue;
                }
                open.fetch_add(1, Ordering::AcqRel);
                let (home, count) = (home.clone(), Arc::clone(&open));
                let pass = move || {
                    // A hook that gets no answer denies.
                    let _ = pass_on(&home, &stream);
                    count.fetch_sub(1, Ordering::AcqRel);
                };
                if thread::Builder::new().name("line".to_owned()).spawn(pass).is_err() {
                    open.fetch_sub(1, Ordering::AcqRel);
                }
            }
        };
        let thread = thread::Builder::new().name("lines".to_owned());
        thread.spawn(serve).map(drop).map_err(Failure::unable)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // The cage holds the socket itself; nobody outside has to find it.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// One call of a hook, there and back.
fn pass_on(home: &Path, inside: &UnixStream) -> io::Result<()> {
    inside.set_read_timeout(Some(ANSWER_MAX))?;
    inside.set_write_timeout(Some(ANSWER_MAX))?;
    let hello = hello(inside)?;
    let daemon = connect(home)?;
    daemon.set_read_timeout(Some(ANSWER_MAX))?;
    daemon.set_write_timeout(Some(ANSWER_MAX))?;
    (&daemon).write_all(&hello)?;
    thread::scope(|scope| {
        let asked = scope.spawn(|| copy(inside, &daemon));
        let answered = copy(&daemon, inside);
        // Whoever still reads hears that it is over.
        let _ = daemon.shutdown(Shutdown::Both);
        let _ = inside.shutdown(Shutdown::Both);
        let _ = asked.join();
        answered
    })
}

fn copy(mut from: &UnixStream, mut to: &UnixStream) -> io::Result<()> {
    io::copy(&mut from, &mut to).map(drop)
}

/// The first frame, if it asks for the door of hooks; as it came.
fn hello(mut inside: &UnixStream) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; size_of::<u32>()];
    inside.read_exact(&mut frame)?;
    let length = <[u8; size_of::<u32>()]>::try_from(frame.as_slice()).map_err(io::Error::other)?;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if length > HELLO_BYTES_MAX {
        return Err(io::Error::other("no hello"));
    }
    let mut words = vec![0; length];
    inside.read_exact(&mut words)?;
    if !is_hook(&words) {
        return Err(io::Error::other("another door"));
    }
    frame.extend(words);
    Ok(frame)
}

fn is_hook(words: &[u8]) -> bool {
    let mut words = str::from_utf8(words).unwrap_or_default().split_ascii_whitespace();
    words.next() == Some(PROTOCOL) && words.next() == Some(DOOR)
}

/// The daemon; it is started again if it has gone.
fn connect(home: &Path) -> io::Result<UnixStream> {
    let socket = doors::socket_path(home);
    UnixStream::connect(&socket).or_else(|_| {
        daemon::start(home).map_err(|failure| io::Error::other(failure.message().to_owned()))?;
        UnixStream::connect(&socket)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_get_out_and_nobody_else() {
        assert!(is_hook(b"lazaret/1 hook claude PreToolUse 7\n"));
        for other in
            ["lazaret/1 ipc", "lazaret/1 serve stop", "lazaret/2 hook x y", "hook", "", "lazaret/1"]
        {
            assert!(!is_hook(other.as_bytes()), "{other}");
        }
        assert!(!is_hook(b"\xff hook"));
    }
}
