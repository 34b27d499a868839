//! What is looked at besides the surroundings.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use browser::Program;
use evidence::{ReadError, Reader};
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use sandbox::audit::{Audit, Requirement, Status};
use sandbox::cage::{Cage, Hold, Rung};
use sandbox::probe::{Question, landlock_abi, probe, program};
use vault::VaultFile;

use super::row::Row;

/// The rights of group and others.
const OTHERS: u32 = 0o077;

/// What holds a command: a cage is made, and taken down before anything runs in it.
pub(super) fn cage() -> Vec<Row> {
    let home = std::env::home_dir().and_then(|it| files::resolved(&it).ok());
    let held = match (Cage { home, needed: Vec::new(), ..Cage::default() }).trial() {
        Ok(held) => held,
        Err(error) => {
            let advice = "see the rows of `kernel`: until then no command is run";
            return vec![Row::new("cage", Status::Fail, error.to_string(), advice)];
        }
    };
    let row = |(rung, hold): &(Rung, Hold)| match hold {
        Hold::Held(how) => Row::ok(rung.as_str(), how),
        Hold::Missing(why) if Rung::ALWAYS.contains(rung) => {
            let advice = "no command is run without it; see the rows of `kernel`. `lazaret exec --allow-weaker`, and \
                          `shell: {allowWeaker: true}` of config.yaml, take what is left";
            Row::new(rung.as_str(), Status::Fail, why, advice)
        }
        Hold::Missing(why) => {
            let advice = "the other rungs hold without it; see the rows of `kernel`";
            Row::new(rung.as_str(), Status::Weak, why, advice)
        }
    };
    held.rungs().iter().map(row).collect()
}

/// Within a cage no other is made, and what there is to make one of is not seen.
pub(super) fn within_a_cage(id: &'static str) -> Vec<Row> {
    let what = "this is a cage: within one, no other is made, and nothing of it can be mended here";
    vec![Row::new(id, Status::Unknown, what, "run `lazaret doctor` outside of the cage")]
}

/// What there is to make a cage of.
pub(super) fn kernel(namespaces: Option<bool>) -> Vec<Row> {
    let path = std::env::var_os("PATH");
    let found = probe(&Question {
        root: Path::new("/"),
        path: path.as_deref(),
        as_root: geteuid().is_root(),
        tried: namespaces,
        landlock: landlock_abi(),
    });
    found.into_iter().map(Row::of_possibility).collect()
}

/// The state directory and what lies in it.
pub(super) fn state(home: &Path) -> Vec<Row> {
    let mut rows = vec![directory(home)];
    if fs::symlink_metadata(home).is_ok_and(|it| it.is_dir()) {
        rows.extend([journal(home), vault(home), settings(home)]);
    }
    rows
}

fn directory(home: &Path) -> Row {
    let shown = home.display();
    let found = match fs::symlink_metadata(home) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return not_yet(home),
        Err(error) => {
            let advice = "choose another with LAZARET_HOME";
            return Row::new("directory", Status::Fail, format!("`{shown}`: {error}"), advice);
        }
        Ok(found) => found,
    };
    if !found.is_dir() {
        let advice = "move it away, or choose another with LAZARET_HOME";
        return Row::new("directory", Status::Fail, format!("`{shown}` is none"), advice);
    }
    if found.uid() != geteuid().as_raw() {
        let what = format!("`{shown}` belongs to uid {}", found.uid());
        let advice = "run it as that user, or choose another with LAZARET_HOME";
        return Row::new("directory", Status::Fail, what, advice);
    }
    let mode = found.mode() & 0o7777;
    if mode & OTHERS != 0 {
        let what = format!("others may enter `{shown}` (mode {mode:04o})");
        return Row::new("directory", Status::Fail, what, format!("chmod 700 '{shown}'"));
    }
    match written(home) {
        Ok(()) => Row::ok("directory", format!("`{shown}`, for you alone")),
        Err(error) => unwritable(home, &error),
    }
}

/// A directory that is made when it is needed must lie in one that can be written to.
fn not_yet(home: &Path) -> Row {
    let there = home.ancestors().skip(1).find(|it| it.is_dir());
    match there.map(|it| access(it, Access::WRITE_OK)) {
        Some(Err(error)) => unwritable(home, &error.into()),
        Some(Ok(())) | None => Row::ok(
            "directory",
            format!("`{}` is not there; it is made when needed", home.display()),
        ),
    }
}

/// What is tried in the state directory. No file of that name is anybody's.
const TRIAL: (&str, &[u8]) = (".lazaret-doctor", b"a few bytes, to see that they stay\n");

/// Modes say little of a disk that is full, broken or read-only: only writing tells.
fn written(home: &Path) -> io::Result<()> {
    let path = home.join(TRIAL.0);
    let tried = files::private::replace(&path, TRIAL.1);
    let removed = files::private::remove(&path);
    tried.and(removed)
}

fn unwritable(home: &Path, error: &io::Error) -> Row {
    let what = format!("`{}` cannot be written to: {error}", home.display());
    let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    let advice = if is_full {
        "make room on that disk"
    } else if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
        "mount it to be written to"
    } else {
        "look at the disk and at who owns the directory"
    };
    let advice =
        format!("{advice}, or choose another with LAZARET_HOME: until then nothing is decided");
    Row::new("directory", Status::Fail, what, advice)
}

fn journal(home: &Path) -> Row {
    match Reader::open(&home.join("evidence")).and_then(|it| it.segments()) {
        Ok(segments) => Row::ok("journal", format!("readable, segments: {}", segments.len())),
        Err(ReadError::NoJournal { .. }) => Row::ok("journal", "not begun yet"),
        Err(error) => Row::new(
            "journal",
            Status::Fail,
            error.to_string(),
            "`lazaret evidence verify` says more; nothing is decided without a journal",
        ),
    }
}

fn vault(home: &Path) -> Row {
    let file = VaultFile::in_home(home);
    if !file.is_there() {
        return Row::ok("vault", "none; `lazaret vault init` makes one");
    }
    match file.wants_passphrase() {
        Ok(true) => Row::ok("vault", "readable, opened by a passphrase"),
        Ok(false) => Row::ok("vault", "readable, opened by a key"),
        Err(error) => {
            let advice = "restore it from a copy; `lazaret vault list` says whether it opens";
            Row::new("vault", Status::Fail, error.to_string(), advice)
        }
    }
}

fn settings(home: &Path) -> Row {
    match host::providers(home) {
        Ok(_) => Row::ok(
            "settings",
            format!("config.yaml can be used, or there is none{}", opened(home)),
        ),
        Err(error) => {
            let advice = "correct config.yaml: until then nobody is served";
            Row::new("settings", Status::Fail, error.to_string(), advice)
        }
    }
}

/// Hosts of the inner network that the settings open: whoever looks here sees what is not refused any more.
fn opened(home: &Path) -> String {
    let settings = host::settings(home).ok().flatten();
    let inner = settings.map(|it| it.egress().inner.clone()).unwrap_or_default();
    let all: Vec<String> =
        inner.iter().map(|it| format!("{} at port {}", it.host(), it.port())).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("; it opens of the inner network: {}", all.join(", ")),
    }
}

/// What the settings and the person require of the surroundings.
pub(super) fn required(home: &Path, more: &[Requirement], found: &Audit) -> Vec<Row> {
    // Settings that are not understood have a row of their own.
    let mut all = host::required(home).unwrap_or_default();
    all.extend(more.iter().copied().filter(|it| !all.contains(it)).collect::<Vec<_>>());
    let row = |it: &Requirement| match it.lacks(found) {
        None => Row::ok(it.name(), "it is required, and so"),
        Some(why) => {
            let advice =
                "see the rows of `surroundings`: where it is required, no session is started";
            Row::new(it.name(), Status::Fail, why, advice)
        }
    };
    all.iter().map(row).collect()
}

/// Programs that some actions need.
pub(super) fn tools(caged: bool) -> Vec<Row> {
    let install = |here: &'static str| match caged {
        true => "install it outside of this cage: nothing of the system can be changed in it",
        false => here,
    };
    let path = std::env::var_os("PATH");
    let git = match program(path.as_deref(), &["git"]) {
        Some(found) => Row::ok("git", found.display().to_string()),
        None => Row::new(
            "git",
            Status::Weak,
            "not installed",
            install("skills do without it; `apt install git` lets you look at their history"),
        ),
    };
    let browser = match Program::find(None) {
        Ok(_) => Row::ok("browser", "there is one that can be started"),
        Err(error) => {
            let advice =
                install("`apt install chromium`; without, the browser actions are refused");
            Row::new("browser", Status::Weak, error.to_string(), advice)
        }
    };
    vec![git, browser]
}
