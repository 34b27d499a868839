//! A home with every secret in it, a workspace, somebody else's files, and a process to look into: what an attempt is
//! after, and how it must look afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use model::places;
use sandbox::cage::{DENIED_SYSCALLS, Rung};

use crate::child::{self, Spec, Told};
use crate::probe::User;
use crate::services::Services;

/// The first number of the users that we become.
const FIRST_USER: u32 = 54_000;
/// What nothing here takes.
const PATIENCE: Duration = Duration::from_secs(90);
static NEXT: AtomicU32 = AtomicU32::new(0);

/// What there is outside.
pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) user: User,
    pub(crate) canary: String,
    pub(crate) services: Services,
    victim: Child,
    before: BTreeMap<PathBuf, String>,
}

/// What came of a run.
pub(crate) struct Outcome {
    pub(crate) told: Told,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Outcome {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// When the one outside is killed.
pub(crate) enum Kill {
    Never,
    /// As soon as something was written to stdout.
    AtFirstOutput,
    /// The same, but it is only asked to end.
    Terminate,
}

impl World {
    /// Plants everything. With `dotfiles` some secrets lie in the workspace, and links lead there.
    pub(crate) fn make(user: User, dotfiles: bool) -> Self {
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let user = match user {
            User::Ordinary(Some(_)) => User::Ordinary(Some(FIRST_USER + number)),
            other @ (User::Root | User::Ordinary(None)) => other,
        };
        let name = format!("{}-{number}", std::process::id());
        let above = crate::memory::place(number);
        let dir = tempfile::Builder::new().prefix("escape-").tempdir_in(above).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let canary = format!("canary-{name}-of-a-secret");
        let at = |it: &str| dir.path().join(it);
        for it in ["home", "home/work", "outside", "state", "tmp"] {
            fs::create_dir(at(it)).unwrap();
        }
        plant(&at("state/store"), &canary);
        plant(&at("outside/file"), &canary);
        for it in places::SECRET_DIRS {
            plant(&at("home").join(it).join("secret"), &canary);
        }
        for it in places::SECRET_FILES.iter().chain(places::SHELL_FILES) {
            plant(&at("home").join(it), &canary);
        }
        for it in OF_TOOLCHAINS {
            plant(&at("home").join(it), &format!("token = \"{canary}\""));
        }
        workspace(&at("home"));
        if dotfiles {
            move_secrets(&at("home"));
        }
        let services = Services::listen(&at("outside"), &format!("lazaret-escape-{name}"));
        give(dir.path(), user);
        let victim = victim(user, &at("home/.netrc"), &canary);
        let mut world = Self { dir, user, canary, services, victim, before: BTreeMap::new() };
        world.before = world.now();
        world
    }

    pub(crate) fn at(&self, place: &str) -> PathBuf {
        self.dir.path().join(place)
    }

    pub(crate) fn path(&self, place: &str) -> String {
        self.at(place).to_str().unwrap().to_owned()
    }

    /// A run of these words in the workspace, with everything that an attempt wants to know.
    pub(crate) fn spec(&self, words: &[&str], without: &[Rung]) -> Spec {
        let secrets = places::SECRET_DIRS.iter().map(|it| format!("{it}/secret"));
        let secrets = secrets.chain(places::SECRET_FILES.iter().map(|it| (*it).to_owned()));
        let secrets = secrets.chain(OF_TOOLCHAINS.iter().map(|it| (*it).to_owned()));
        let lines = |all: Vec<String>| all.join("\n");
        let denied = DENIED_SYSCALLS.iter().map(|(name, number)| format!("{name} {number}"));
        let kept = places::KEPT_IN_WORKSPACE.iter().map(|it| (*it).to_owned());
        let environment = [
            ("PATH", "/usr/bin:/bin:/usr/sbin:/sbin".to_owned()),
            ("HOME", self.path("home")),
            ("HOST_HOME", self.path("home")),
            ("WS", self.path("home/work")),
            ("OUTSIDE", self.path("outside")),
            ("STATE", self.path("state")),
            ("TCP", self.services.tcp.to_string()),
            ("UDP", self.services.udp.to_string()),
            ("ABSTRACT", self.services.abstract_name.clone()),
            ("VICTIM", self.victim.id().to_string()),
            ("SECRETS", lines(secrets.collect())),
            ("DENIED", lines(denied.collect())),
            ("KEPT", lines(kept.collect())),
            ("MARK", self.mark()),
        ];
        Spec {
            workspaces: vec![self.path("home/work").into_bytes()],
            directory: self.path("home/work").into_bytes(),
            home: self.path("home"),
            state: self.path("state"),
            without: without.to_vec(),
            words: words.iter().map(|it| (*it).to_owned()).collect(),
            environment: environment.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            leak: Some(self.at("home/.netrc")),
            told: self.at("tmp/told"),
            ..Spec::default()
        }
    }

    /// Runs it, and sees to it that nothing was left over, whatever it was.
    pub(crate) fn run(&self, spec: &Spec, stdin: Stdio, kill: Kill) -> Outcome {
        let [out, err] = ["tmp/out", "tmp/err"].map(|it| self.at(it));
        let [stdout, stderr] = [&out, &err].map(|it| fs::File::create(it).unwrap());
        let began = Instant::now();
        let program = crate::program();
        let mut command = match &spec.before {
            None => self.user.command(program),
            // In a mount namespace of its own, so that this machine keeps its mounts.
            Some(before) => {
                let mut command = self.user.command("/usr/bin/unshare");
                let script = format!("{before} && exec \"$0\" \"$@\"");
                command.args(["-m", "/bin/sh", "-c", &script, program]);
                command
            }
        };
        command.args([child::WORD, &serde_json::to_string(spec).unwrap()]);
        command.current_dir("/").env("SECRET_OF_THE_ONE_OUTSIDE", &self.canary);
        command.env("TMPDIR", self.at("tmp"));
        let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
        let mut killed = false;
        while child.try_wait().unwrap().is_none() {
            let written = || fs::metadata(&out).unwrap().len() > 0;
            if !killed && written() {
                let pid = rustix::process::Pid::from_child(&child);
                match kill {
                    Kill::Never => {}
                    Kill::AtFirstOutput => child.kill().unwrap(),
                    Kill::Terminate => {
                        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
                    }
                }
                killed = true;
            }
            if began.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("it does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = began.elapsed();
        let mut bytes = Vec::new();
        fs::File::open(&err).unwrap().read_to_end(&mut bytes).unwrap();
        let stderr = String::from_utf8_lossy(&bytes).into_owned();
        let told = fs::read(self.at("tmp/told")).unwrap_or_default();
        let told =
            serde_json::from_slice(&told).unwrap_or_else(|_| panic!("nothing was told: {stderr}"));
        if matches!(kill, Kill::AtFirstOutput) {
            assert!(killed, "it ended before it was killed: {stderr}");
            // Nobody waits for them, so they have a moment.
            std::thread::sleep(Duration::from_millis(700));
        }
        self.nothing_is_left(child.id(), !matches!(kill, Kill::AtFirstOutput));
        Outcome { told, stdout: fs::read(&out).unwrap(), stderr, took }
    }

    /// No process, no cgroup, no directory.
    fn nothing_is_left(&self, child: u32, also_groups: bool) {
        let mark = self.mark();
        let ours = |pid: &str| {
            let text = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(&format!("MARK={mark}"))
        };
        let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let names = entries.filter_map(|it| it.file_name().into_string().ok());
        let left: Vec<String> =
            names.filter(|it| it.parse::<u32>().is_ok()).filter(|it| ours(it)).collect();
        assert!(left.is_empty(), "processes are left: {left:?}");
        let entries = fs::read_dir(self.at("tmp")).unwrap().filter_map(Result::ok);
        let left: Vec<_> = entries
            .map(|it| it.file_name())
            .filter(|it| it.to_string_lossy().starts_with("lazaret-cage"))
            .collect();
        assert!(left.is_empty(), "directories are left: {left:?}");
        if also_groups {
            let name = format!("lazaret-{child}");
            let own = fs::read_to_string("/proc/self/cgroup").unwrap();
            for line in own.lines() {
                let mut parts = line.splitn(3, ':').skip(1);
                let (kind, path) = (parts.next().unwrap(), parts.next().unwrap());
                let dir = Path::new("/sys/fs/cgroup").join(kind).join(path.trim_start_matches('/'));
                assert!(!dir.join(&name).exists(), "a cgroup is left: {}", dir.display());
            }
        }
    }

    /// Everything outside of the workspace, and in it what must stay as it is.
    fn now(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        for it in ["home", "outside", "state"] {
            look(&self.at(it), &self.at("home/work"), &mut all);
        }
        let more = [&".git", &".env", &"dotfiles"];
        for it in places::KEPT_IN_WORKSPACE.iter().chain(more).chain(FURTHER_DOWN) {
            let at = self.at("home/work").join(it);
            all.insert(at.clone(), "nothing".to_owned());
            if *it != ".git" && *it != "dotfiles" {
                look(&at, Path::new("/-"), &mut all);
            } else if let Ok(meta) = at.symlink_metadata() {
                all.insert(at, format!("inode {}", meta.ino()));
            }
        }
        all
    }

    /// What is not as it was.
    pub(crate) fn changes(&self) -> Vec<String> {
        let now = self.now();
        let changed = self.before.iter().filter(|(at, it)| now.get(*at) != Some(*it));
        let new = now.iter().filter(|(at, _)| !self.before.contains_key(*at));
        changed.chain(new).map(|(at, it)| format!("{} was {it}", at.display())).collect()
    }

    /// Does the process outside still run?
    pub(crate) fn victim_lives(&mut self) -> bool {
        self.victim.try_wait().unwrap().is_none()
    }

    /// Gives what was planted later to the user.
    pub(crate) fn own_all(&self, place: &str) {
        give(&self.at(place), self.user);
    }

    fn mark(&self) -> String {
        format!("mark-{}", self.canary)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _gone = self.victim.kill();
        let _gone = self.victim.wait();
    }
}

pub(crate) fn plant(at: &Path, text: &str) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, format!("{text}\n")).unwrap();
}

/// Secrets beside toolchains, which are shown.
const OF_TOOLCHAINS: &[&str] = &[".cargo/config.toml", ".local/share/uv/credentials/secret"];

/// What stays as it is further down in the workspace.
const FURTHER_DOWN: &[&str] = &[
    "packages/api/.git/config",
    "packages/api/.git/hooks",
    "packages/api/.claude",
    "packages/web/.git",
    "mirror.git/config",
    "mirror.git/hooks",
    "node_modules/left/.git/config",
    ".git/worktrees/tree/commondir",
    "tree/.git",
];

/// A workspace as people have them.
fn workspace(home: &Path) {
    let ws = home.join("work");
    for (at, text) in [
        (".git/HEAD", "ref: refs/heads/main"),
        (".git/config", "[core]\n\trepositoryformatversion = 0"),
        (".git/hooks/pre-commit.sample", "#!/bin/sh"),
        (".git/modules/lib/HEAD", "ref: refs/heads/main"),
        (".git/modules/lib/config", "[core]\n\trepositoryformatversion = 0"),
        (".git/modules/lib/hooks/update.sample", "#!/bin/sh"),
        (".git/objects/info/none", ""),
        (".git/refs/heads/none", ""),
        (".claude/settings.json", "{}"),
        (".vscode/settings.json", "{}"),
        ("src/main.c", "int main(void) { return 0; }"),
        ("packages/api/.git/HEAD", "ref: refs/heads/main"),
        ("packages/api/.git/config", "[core]\n\trepositoryformatversion = 0"),
        ("packages/api/.git/hooks/pre-commit.sample", "#!/bin/sh"),
        ("packages/api/.git/objects/info/none", ""),
        ("packages/api/.git/refs/heads/none", ""),
        ("packages/api/.claude/settings.json", "{}"),
        ("packages/web/.git", "gitdir: ../../.git/modules/lib"),
        ("mirror.git/HEAD", "ref: refs/heads/main"),
        ("mirror.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = true"),
        ("mirror.git/hooks/update.sample", "#!/bin/sh"),
        ("mirror.git/objects/info/none", ""),
        ("mirror.git/refs/heads/none", ""),
        ("node_modules/left/.git/config", "[core]\n\trepositoryformatversion = 0"),
        (".git/worktrees/tree/HEAD", "ref: refs/heads/tree"),
        (".git/worktrees/tree/commondir", "../.."),
        (".git/worktrees/tree/gitdir", "../../../tree/.git"),
        ("tree/.git", "gitdir: ../.git/worktrees/tree"),
    ] {
        plant(&ws.join(at), text);
    }
    fs::create_dir(ws.join("links")).unwrap();
    let secrets = places::SECRET_DIRS.iter().chain(places::SECRET_FILES);
    for (i, it) in secrets.enumerate() {
        symlink(home.join(it), ws.join(format!("links/absolute-{i}"))).unwrap();
        symlink(Path::new("../..").join(it), ws.join(format!("links/relative-{i}"))).unwrap();
    }
    symlink("/etc/shadow", ws.join("links/shadow")).unwrap();
    symlink("../../../outside", ws.join("links/outside")).unwrap();
    symlink("../../../state", ws.join("links/state")).unwrap();
    symlink("/proc/1/root", ws.join("links/root")).unwrap();
}

/// As people do who keep their settings in a repository: the home has links, the workspace has what they lead to.
fn move_secrets(home: &Path) {
    let dotfiles = home.join("work/dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    for (from, to) in
        [(".netrc", "netrc"), (".gnupg", "gnupg"), (".ssh/secret", "key"), (".bashrc", "bashrc")]
    {
        fs::rename(home.join(from), dotfiles.join(to)).unwrap();
        symlink(dotfiles.join(to), home.join(from)).unwrap();
    }
    for (at, text) in [
        (".env", "canary"),
        ("packages/api/.env", "canary"),
        ("packages/api/.env.example", "KEY="),
        ("packages/api/deep/er/.env.production", "canary"),
        ("deploy/.netrc", "canary"),
        ("deploy/.env-live", "canary"),
    ] {
        plant(&home.join("work").join(at), text);
    }
}

fn give(at: &Path, user: User) {
    let User::Ordinary(Some(id)) = user else { return };
    chown(at, Some(id), Some(id)).unwrap_or_default();
    if at.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        for entry in fs::read_dir(at).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_symlink() {
                std::os::unix::fs::lchown(&entry, Some(id), Some(id)).unwrap();
            } else {
                give(&entry, user);
            }
        }
    }
}

/// Every file below, with its bytes and what else can be changed about it.
fn look(at: &Path, but: &Path, into: &mut BTreeMap<PathBuf, String>) {
    let Ok(meta) = at.symlink_metadata() else { return };
    if at == but {
        return;
    }
    let what = if meta.is_dir() {
        for entry in fs::read_dir(at).unwrap() {
            look(&entry.unwrap().path(), but, into);
        }
        "a directory".to_owned()
    } else if meta.is_symlink() {
        format!("a link to {}", fs::read_link(at).unwrap().display())
    } else if meta.is_file() {
        format!("{:?}", String::from_utf8_lossy(&fs::read(at).unwrap()))
    } else {
        "something".to_owned()
    };
    into.insert(at.to_owned(), format!("{what}, {:o}, {}", meta.mode(), meta.uid()));
}

/// A process of the same user with something to hide: in its environment, its memory and an open file.
fn victim(user: User, secret: &Path, canary: &str) -> Child {
    let mut command = user.command("/bin/sleep");
    command.arg("120").env("SECRET", canary).current_dir("/");
    command.stdin(fs::File::open(secret).unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}
