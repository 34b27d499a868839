//! The same file tree, made by bubblewrap: for systems that let it make namespaces and nobody else.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, MemfdFlags, Mode, OFlags, SeekFrom, access, memfd_create, open, seek};
use rustix::io::{FdFlags, fcntl_setfd};
use seccompiler::{BpfProgram, sock_filter};

use super::error::{CageError, Step};
use super::inmate::Last;
use super::settings::Inmate;
use super::view::OTHER_TMP;

/// Where it is looked for: not in a path that somebody else has set.
const PROGRAMS: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];
/// What it is always asked for.
const ALWAYS: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--unshare-cgroup-try",
    "--disable-userns",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    "--hostname",
    "lazaret",
];

/// How bubblewrap is called for one cage.
pub(crate) struct Bubblewrap {
    words: Vec<OsString>,
    /// What it reads while it starts; open until then.
    descriptors: Vec<OwnedFd>,
}

impl Bubblewrap {
    /// The program, if it is there and may make namespaces here.
    pub(crate) fn find() -> Result<PathBuf, String> {
        let program = PROGRAMS.iter().map(Path::new).find(|it| it.is_file());
        let program = program.ok_or("bubblewrap is not installed")?;
        let words = ALWAYS.iter().chain(&["--ro-bind", "/", "/", "true"]);
        let status = started(program, words).map_err(|error| format!("bubblewrap: {error}"))?;
        match status.code() {
            Some(0) => Ok(program.to_owned()),
            _ => Err(format!("bubblewrap cannot, either ({})", status.into_raw())),
        }
    }

    /// With everything that the cage shows, keeps and covers, and the filter to put on last.
    pub(crate) fn new(program: &Path, last: &Last<'_>) -> Result<Self, CageError> {
        let mut it = Self { words: vec![program.into()], descriptors: Vec::new() };
        it.say(ALWAYS);
        let view = last.view;
        for (at, target) in &view.links {
            it.say(&["--symlink"]).path(target).path(at);
        }
        it.say(&["--proc", "/proc", "--dev", "/dev", "--dir", "/var", "--dir", "/run"]);
        if !view.fresh.iter().any(|it| it == Path::new(OTHER_TMP)) {
            it.say(&["--symlink", "/tmp", OTHER_TMP]);
        }
        let bytes = last.cage.limits.fresh_bytes.to_string();
        let mut all: Vec<(&str, &PathBuf)> = view.fresh.iter().map(|it| ("--tmpfs", it)).collect();
        all.extend(view.readable.iter().map(|it| ("--ro-bind", it)));
        all.extend(view.writable.iter().map(|it| ("--bind", it)));
        all.sort_by_key(|(_, at)| at.components().count());
        all.extend(view.pinned.iter().map(|it| ("--bind", it)));
        all.extend(view.kept.iter().map(|it| ("--ro-bind", it)));
        for (how, at) in all {
            match how {
                "--tmpfs" => it.say(&["--size", &bytes, how]).path(at),
                _ => it.say(&[how]).path(at).path(at),
            };
        }
        for at in &view.covered {
            it.cover(at)?;
        }
        // As the owner of its files root could write to the machine's settings. What is made in /dev has no bound.
        it.say(&["--remount-ro", "/proc", "--remount-ro", "/dev"]);
        it.say(&["--remount-ro", "/", "--chdir"]).path(&last.inmate.directory);
        let filter = it.filter(&last.filter)?;
        it.say(&["--seccomp", &filter]);
        Ok(it)
    }

    /// The whole call, for these words of the program. What it reads is left open for it.
    pub(crate) fn words(&self, program: &[OsString]) -> Result<Vec<OsString>, CageError> {
        for it in &self.descriptors {
            fcntl_setfd(it, FdFlags::empty()).step("hand over to bubblewrap")?;
        }
        let mut words = self.words.clone();
        words.push("--".into());
        words.extend(program.iter().cloned());
        Ok(words)
    }

    fn say(&mut self, words: &[&str]) -> &mut Self {
        self.words.extend(words.iter().map(OsString::from));
        self
    }

    fn path(&mut self, path: &Path) -> &mut Self {
        self.words.push(path.into());
        self
    }

    fn cover(&mut self, at: &Path) -> Result<(), CageError> {
        if at.is_dir() {
            self.say(&["--perms", "000", "--tmpfs"]).path(at);
            self.say(&["--remount-ro"]).path(at);
        } else {
            let empty = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
            let empty = self.keep(empty.step("cover a file")?);
            self.say(&["--perms", "000", "--ro-bind-data", &empty]).path(at);
        }
        Ok(())
    }

    /// The filter as bubblewrap reads it: the bytes of the program.
    fn filter(&mut self, filter: &BpfProgram) -> Result<String, CageError> {
        let step = "hand over the filter";
        let file = memfd_create("filter", MemfdFlags::CLOEXEC).step(step)?;
        let mut file = std::fs::File::from(file);
        let bytes: Vec<u8> = filter.iter().flat_map(bytes_of).collect();
        file.write_all(&bytes).step(step)?;
        seek(&file, SeekFrom::Start(0)).step(step)?;
        Ok(self.keep(file.into()))
    }

    fn keep(&mut self, fd: OwnedFd) -> String {
        let number = fd.as_raw_fd().to_string();
        self.descriptors.push(fd);
        number
    }
}

/// Is the program there, and can it be run? As far as that can be told from outside.
pub(crate) fn find_program(inmate: &Inmate) -> Result<(), CageError> {
    let name = inmate.program()?;
    let path = inmate.environment.iter().find(|(name, _)| name == "PATH");
    let places: Vec<PathBuf> = match (name.as_encoded_bytes().contains(&b'/'), path) {
        (true, _) => vec![inmate.directory.join(name)],
        (false, Some((_, path))) => std::env::split_paths(path).map(|it| it.join(name)).collect(),
        // Bubblewrap has a path of its own.
        (false, None) => return Ok(()),
    };
    if places.iter().any(|it| it.is_file() && access(it, Access::EXEC_OK).is_ok()) {
        return Ok(());
    }
    let (why, code) = match places.iter().any(|it| it.exists()) {
        true => ("Permission denied", 126),
        false => ("No such file or directory", 127),
    };
    let program = name.to_string_lossy().into_owned();
    Err(CageError::Program { program, why: why.to_owned(), code })
}

/// One instruction as the kernel lays it out.
fn bytes_of(it: &sock_filter) -> [u8; 8] {
    let [a, b] = it.code.to_ne_bytes();
    let [c, d, e, f] = it.k.to_ne_bytes();
    [a, b, it.jt, it.jf, c, d, e, f]
}

#[expect(
    clippy::disallowed_methods,
    reason = "asks bubblewrap whether it works here; it runs `true`"
)]
fn started<'a>(
    program: &Path,
    words: impl Iterator<Item = &'a &'a str>,
) -> std::io::Result<std::process::ExitStatus> {
    use std::process::{Command, Stdio};
    let mut command = Command::new(program);
    command.args(words.map(OsStr::new)).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
}
