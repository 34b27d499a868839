//! The attempts of `corpus/escape` from inside a worker: in the very cage that agents of our own run in, where there is no
//! workspace, no network, no key, no state directory and nobody else's process.
//!
//! One worker makes all of them. It is this test program again, as a worker is `lazaret` again: whoever starts one cannot
//! choose what runs in it.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

#[expect(clippy::panic, reason = "as above")]
#[path = "../../../sandbox/tests/escape/case.rs"]
mod case;
#[path = "../../../sandbox/tests/escape/services.rs"]
mod services;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::places;
use sandbox::cage::{DENIED_SYSCALLS, Rung};
use sandbox::runner::Runner;
use serde_json::{Value, json};

use crate::program::LAZARET;
use crate::serve::put;
use case::Case;
use services::Services;

/// The test that is run inside, by which its program finds it, and that it is inside.
const INSIDE: &str = "worker_escape::inside";
const IS_INSIDE: &str = "LAZARET_TEST_IS_INSIDE";
const CANARY: &str = "canary-of-a-secret";

/// What a worker is asked, beside the corpus: what there is at all.
const BARE: &str = r#"
attempt("a connection to anybody", lambda: socket.create_connection(("127.0.0.1", int(env["TCP"])), 2))
attempt("an interface that is up", lambda: read("/sys/class/net/eth0/address"))
attempt("the state directory", lambda: os.listdir(env["STATE"]))
attempt("a secret of the home", lambda: read(env["HOST_HOME"] + "/.netrc"))
attempt("the process outside", lambda: os.kill(int(env["VICTIM"]), 0))
for fd in os.listdir("/proc/self/fd"):
    try:
        leads = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        continue
    if not leads.startswith(("socket:", "pipe:", "/dev/null", "/proc/")):
        escaped(f"a descriptor to {leads}")
others = [it for it in os.listdir("/proc") if it.isdigit() and it != "1" and b"lazaret" in read(f"/proc/{it}/cmdline")]
if others:
    escaped(f"processes {others}")
# It is to outlive the worker.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.execv("/bin/sleep", ["sleep", env["SLEEPS"]])
    os._exit(0)
"#;

/// Not a test by itself: what the worker of the test below does.
#[test]
fn inside() {
    if std::env::var_os(IS_INSIDE).is_none() {
        return;
    }
    // What this test prints, its parent reads; what the parent says is heard at the same place.
    // Nobody who is started here has it.
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3).unwrap();
    let mut socket = UnixStream::from(socket);
    let asked = BufReader::new(socket.try_clone().unwrap()).lines();
    for asked in asked.map_while(Result::ok) {
        let asked: Value = serde_json::from_str(&asked).unwrap();
        let done = attempt(&asked);
        writeln!(socket, "\n{done}").unwrap();
    }
}

fn attempt(asked: &Value) -> Value {
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let mut command = Command::new(text(&asked["program"]));
    for (name, value) in asked["environment"].as_object().unwrap() {
        command.env(name, text(value));
    }
    command.current_dir("/tmp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.arg("-").spawn().unwrap();
    let told = child.stdin.take().unwrap().write_all(text(&asked["script"]).as_bytes());
    let output = child.wait_with_output().unwrap();
    let printed =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    json!({ "name": asked["name"], "out": printed[0], "err": printed[1], "told": told.is_ok() })
}

/// What an attempt is after.
struct World {
    dir: tempfile::TempDir,
    services: Services,
    victim: Child,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["state/store", "state/vault.age", "outside/file"] {
            put(dir.path(), name, CANARY);
        }
        for name in places::SECRET_FILES {
            put(&dir.path().join("home"), name, CANARY);
        }
        for name in places::SECRET_DIRS {
            put(&dir.path().join("home").join(name), "secret", CANARY);
        }
        let name = format!("lazaret-worker-escape-{}", std::process::id());
        let services = Services::listen(&dir.path().join("outside"), &name);
        let mut victim = Command::new("/bin/sleep");
        victim.arg("120").env("SECRET", CANARY).stdout(Stdio::null());
        let victim = victim.spawn().unwrap();
        Self { dir, services, victim }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn environment(&self) -> Value {
        let path = |name: &str| self.at(name).to_str().unwrap().to_owned();
        let secrets = places::SECRET_DIRS.iter().map(|it| format!("{it}/secret"));
        let secrets = secrets.chain(places::SECRET_FILES.iter().map(|it| (*it).to_owned()));
        let denied = DENIED_SYSCALLS.iter().map(|(name, number)| format!("{name} {number}"));
        json!({
            "HOME": path("home"), "HOST_HOME": path("home"), "WS": "/tmp",
            "OUTSIDE": path("outside"), "STATE": path("state"),
            "TCP": self.services.tcp.to_string(), "UDP": self.services.udp.to_string(),
            "ABSTRACT": self.services.abstract_name, "VICTIM": self.victim.id().to_string(),
            "SECRETS": secrets.collect::<Vec<_>>().join("\n"),
            "DENIED": denied.collect::<Vec<_>>().join("\n"),
            "KEPT": places::KEPT_IN_WORKSPACE.join("\n"),
            "LADDER": "everything", "SLEEPS": self.sleeps(),
        })
    }

    /// What the process is told that is to outlive the worker; nobody else sleeps for so long.
    fn sleeps(&self) -> String {
        format!("86400.{}", self.victim.id())
    }

    /// Is it there?
    fn is_outlived(&self) -> bool {
        let told = format!("sleep\0{}\0", self.sleeps());
        let mut all = fs::read_dir("/proc").unwrap().flatten();
        all.any(|it| fs::read(it.path().join("cmdline")).is_ok_and(|it| it == told.as_bytes()))
    }

    /// Every file, with what is in it.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut all, mut waiting) = (BTreeMap::new(), vec![self.dir.path().to_owned()]);
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    waiting.push(entry.path());
                }
                let bytes =
                    if kind.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
                all.insert(entry.path(), bytes);
            }
        }
        all
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// Attempts at what a worker does not have at all, or that the harness of the corpus has to do something for.
fn is_of_a_worker(case: &Case) -> bool {
    // What a command leaves behind goes on as long as the worker does; the last attempt is about that.
    let of_a_workspace = [
        "outlive-",
        "kept-",
        "made-",
        "secrets-further",
        "secrets-that-live",
        "links-by",
        "handed-over",
    ];
    // Their parent inside is the worker itself, which is nobody else's.
    let of_its_parent = ["limits-of-others", "proc-of-others", "signals-to-others", "leases"];
    !case.terminal
        && !case.then_kill
        && case.ends == "exited 0"
        && case.limits.iter().all(|it| it.0 == "wall")
        && !of_a_workspace.iter().chain(&of_its_parent).any(|it| case.name.starts_with(it))
}

/// A worker, and the socket by which it is spoken to.
fn worker(world: &World) -> (sandbox::runner::Confined, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(crate::serve::PATIENCE)).unwrap();
    let cage = host::worker::cage(Some(world.at("home")), world.at("state"), &[]);
    let launched = Runner::with_launcher(LAZARET.into()).launch(theirs).unwrap();
    let environment = vec![(IS_INSIDE.into(), "1".into()), ("PATH".into(), "/usr/bin:/bin".into())];
    (launched.confine(cage, INSIDE, environment).unwrap(), ours)
}

/// The next line that is an answer, whatever else the program says that is a test.
fn answer(answers: &mut impl std::io::BufRead) -> Value {
    loop {
        let mut line = String::new();
        assert!(answers.read_line(&mut line).unwrap() > 0, "the worker has ended");
        if let Some(answer) = serde_json::from_str(&line).ok().filter(Value::is_object) {
            return answer;
        }
    }
}

fn await_that(is_so: impl Fn() -> bool) {
    let until = Instant::now() + crate::serve::PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "it is never so");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn nothing_that_is_tried_from_inside_a_worker_gets_out() {
    let mut world = World::new();
    let before = world.files();
    let (worker, mut socket) = worker(&world);
    assert!(Rung::ALWAYS.iter().all(|it| worker.held().holds(*it)), "{}", worker.held());
    let mut cases = case::read_all();
    cases.retain(is_of_a_worker);
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/escape/lib.py");
    let script = format!("{}\n{BARE}", fs::read_to_string(library).unwrap());
    let program = "/usr/bin/python3";
    cases.push(Case { name: "bare".to_owned(), program, script, ..Case::default() });
    let mut answers = BufReader::new(socket.try_clone().unwrap());
    let (mut tried, mut wrong) = (0, Vec::new());
    for case in &cases {
        let asked = json!({
            "name": case.name, "program": case.program, "script": case.script,
            "environment": world.environment(),
        });
        writeln!(socket, "{asked}").unwrap();
        let done = answer(&mut answers);
        assert_eq!(done["name"], case.name, "{done}");
        let out = done["out"].as_str().unwrap();
        let was_tried = out.lines().any(|it| it.starts_with("held "));
        let came_to_nothing = !out.contains("ESCAPED") && !done.to_string().contains(CANARY);
        if !was_tried || !came_to_nothing {
            wrong.push(done);
        }
        tried += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    await_that(|| world.is_outlived());
    drop(worker);
    await_that(|| !world.is_outlived());
    assert!(tried > 30, "{tried}");
    assert!(world.files() == before, "something outside was changed");
    assert_eq!(world.services.reached(), 0, "a service of the host was reached");
    assert!(world.victim.try_wait().unwrap().is_none(), "a process outside was ended");
}
