//! Programs behind profiles, with a script in the place of `sandbox-exec`: it reads its arguments as that does, and confines
//! nothing. So this shows how a program is started, followed and ended, and not what a Mac's kernel does.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use monitor::terminal::vet;
use sandbox::cage::{Cage, CageError, Ending, Inmate, Leave, Limits, Network, Rung};
use sandbox::seatbelt::{SandboxExec, Waiting};

use crate::seatbelt::home;

const PLAYS: &str = "#!/bin/sh
test \"$1\" = -f && grep -q '^(version 1)' \"$2\" && test \"$3\" = -- || exit 64
shift 3
exec \"$@\"
";
const REFUSES: &str = "#!/bin/sh
echo 'unbound variable: nonsense' >&2
exit 65
";

struct World {
    _dir: tempfile::TempDir,
    home: PathBuf,
    cage: Cage,
    exec: SandboxExec,
}

fn world(script: &str) -> World {
    let (dir, home) = home();
    let at = home.join("sandbox-exec");
    fs::File::create(&at).unwrap().write_all(script.as_bytes()).unwrap();
    fs::set_permissions(&at, fs::Permissions::from_mode(0o700)).unwrap();
    let cage = Cage {
        workspaces: vec![home.join("work")],
        home: Some(home.clone()),
        state: Some(home.join(".lazaret")),
        // As on a Mac.
        needed: vec![Rung::Seatbelt],
        ..Cage::default()
    };
    World { _dir: dir, home, cage, exec: SandboxExec::played_by(at) }
}

fn leave(inmate: &Inmate) -> Leave {
    Leave::of_person(vet(&inmate.words).unwrap())
}

impl World {
    fn put(&self, words: &[&str]) -> Result<Waiting, CageError> {
        let inmate = Inmate {
            words: words.iter().map(OsString::from).collect(),
            directory: self.home.join("work"),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("A".into(), "b".into())],
            terminal: false,
        };
        self.exec.put(&self.cage, &inmate, || Ok(leave(&inmate)))
    }

    fn run(&self, script: &str) -> Ending {
        self.put(&["sh", "-c", script]).unwrap().begin().unwrap().wait().0.unwrap()
    }

    fn printed(&self, name: &str) -> String {
        fs::read_to_string(self.home.join("work").join(name)).unwrap()
    }
}

/// Is it there, and not only its number?
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"));
    stat.is_ok_and(|it| !it.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

fn soon(what: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn it_ends_as_the_program_ends_and_its_environment_is_made_from_nothing() {
    let world = world(PLAYS);
    assert_eq!(world.run("env > out; pwd > at; exit 7"), Ending::Exited(7));
    let mut names: Vec<String> = world
        .printed("out")
        .lines()
        .filter_map(|it| it.split_once('=').map(|it| it.0.to_owned()))
        .filter(|it| !["_", "OLDPWD", "PWD", "SHLVL"].contains(&it.as_str()))
        .collect();
    names.sort();
    assert_eq!(names, ["A", "HOME", "PATH", "TMPDIR"]);
    assert_eq!(world.printed("at").trim(), world.home.join("work").to_str().unwrap());
    assert_eq!(world.run("kill -TERM $$"), Ending::Killed(15));
}

#[test]
fn fresh_places_are_there_while_it_runs_and_gone_afterwards() {
    let world = world(PLAYS);
    assert_eq!(world.run("touch $HOME/x && echo $HOME > out"), Ending::Exited(0));
    assert!(!Path::new(world.printed("out").trim()).exists());
}

#[test]
fn when_its_time_is_up_its_whole_group_is_ended() {
    let mut world = world(PLAYS);
    world.cage.limits.wall_time = Some(Duration::from_millis(500));
    let since = Instant::now();
    assert_eq!(world.run("sleep 600 & echo $! > child; wait"), Ending::TimedOut);
    assert!(since.elapsed() < Duration::from_secs(60));
    let child = world.printed("child");
    assert!(soon(|| !lives(&child)), "{child}");
}

#[test]
fn what_a_program_leaves_in_its_group_ends_with_it() {
    let world = world(PLAYS);
    assert_eq!(world.run("sleep 600 & echo $! > child"), Ending::Exited(0));
    let child = world.printed("child");
    assert!(soon(|| !lives(&child)), "{child}");
}

#[test]
fn it_ends_when_whoever_asked_is_gone() {
    let world = world(PLAYS);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let running = world.put(&["sleep", "600"]).unwrap().begin().unwrap();
    let running = running.ending_with(theirs.into());
    drop(ours);
    assert_eq!(running.wait().0.unwrap(), Ending::Killed(9));
}

#[test]
fn it_has_no_terminal_no_foreign_descriptor_and_limits() {
    let mut world = world(PLAYS);
    world.cage.limits = Limits { open_files: 123, ..Limits::default() };
    // One that was not marked as ours alone.
    let leaked = fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let script = "ulimit -n > files; ls /proc/self/fd > fds; cut -d' ' -f6 /proc/$$/stat > sid; echo $$ > pid";
    assert_eq!(world.run(script), Ending::Exited(0));
    drop(leaked);
    assert_eq!(world.printed("files").trim(), "123");
    // `ls` has one for the directory that it lists.
    assert_eq!(world.printed("fds").lines().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    assert_eq!(world.printed("sid").trim(), world.printed("pid").trim());
}

#[test]
fn a_profile_that_the_system_does_not_take_is_no_cage_and_nothing_runs() {
    let world = world(REFUSES);
    let recorded = AtomicBool::new(false);
    let inmate = Inmate {
        words: vec!["touch".into(), "ran".into()],
        directory: world.home.join("work"),
        ..Inmate::default()
    };
    let put = world.exec.put(&world.cage, &inmate, || {
        recorded.store(true, Ordering::Relaxed);
        Ok(leave(&inmate))
    });
    let error = put.err().unwrap();
    assert!(matches!(error, CageError::NoCage(_)), "{error}");
    assert!(error.to_string().contains("unbound variable: nonsense"), "{error}");
    assert!(!recorded.load(Ordering::Relaxed) && !world.home.join("work/ran").exists());
}

#[test]
fn where_nothing_confines_it_is_refused_and_said() {
    let mut world = world(PLAYS);
    world.exec = SandboxExec::played_by(world.home.join("absent"));
    let error = world.put(&["true"]).err().unwrap();
    assert!(matches!(&error, CageError::NoCage(_)), "{error}");
    assert!(error.to_string().contains("only Linux and macOS"), "{error}");
}

#[test]
fn a_rung_that_is_required_and_not_there_is_refused() {
    let mut world = world(PLAYS);
    world.cage.needed = vec![Rung::Seatbelt, Rung::Namespaces];
    let error = world.put(&["true"]).err().unwrap();
    assert!(matches!(error, CageError::Required { rung: Rung::Namespaces, .. }), "{error}");
}

#[test]
fn a_program_that_is_not_there_or_cannot_be_run_is_told_as_shells_do() {
    let world = world(PLAYS);
    fs::File::create(world.home.join("work/plain")).unwrap();
    for (word, wanted) in [("no-such-program", 127), ("./absent", 127), ("./plain", 126)] {
        let error = world.put(&[word]).unwrap().begin().err().unwrap();
        let CageError::Program { code, program, .. } = &error else { panic!("{error}") };
        assert_eq!((*code, program.as_str()), (wanted, word));
    }
}

#[test]
fn the_proxy_is_asked_at_a_listener_of_this_machine() {
    let mut world = world(PLAYS);
    world.cage.network = Network::Proxy("a:b".to_owned());
    let mut waiting = world.put(&["sh", "-c", "echo $http_proxy > out"]).unwrap();
    let listener = waiting.take_listener().unwrap();
    let at = listener.local_addr().unwrap();
    assert!(at.ip().is_loopback());
    assert_eq!(waiting.begin().unwrap().wait().0.unwrap(), Ending::Exited(0));
    assert_eq!(world.printed("out").trim(), format!("http://a:b@{at}"));
}

#[test]
fn what_would_be_obeyed_is_set_aside() {
    let world = world(PLAYS);
    let waiting = world.put(&["sh", "-c", "echo x > .mcp.json"]).unwrap();
    let (ending, aside) = waiting.begin().unwrap().wait();
    assert_eq!(ending.unwrap(), Ending::Exited(0));
    let at: Vec<&Path> = aside.iter().map(|it| it.at.as_path()).collect();
    assert_eq!(at, [world.home.join("work/.mcp.json")]);
    assert!(!world.home.join("work/.mcp.json").exists());
}
