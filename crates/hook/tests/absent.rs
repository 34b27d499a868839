//! The daemon is not running: it is started from where it may be, and from nowhere else.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use crate::world::{Ran, World, reply};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

const NO_PROGRAM: &str = "it is not running and its program was not found";

/// Notes how it was started.
const NOTING: &str =
    r#"{ echo "$@"; env; pwd; } > "$HOME/started.tmp" && mv "$HOME/started.tmp" "$HOME/started""#;

/// Listens once the script has run, and answers.
fn listen_once_started(world: &World) {
    let listening = world.path("home").join("doors.sock");
    let started = world.path("started");
    std::thread::spawn(move || {
        let began = Instant::now();
        while !started.exists() && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let listener = std::os::unix::net::UnixListener::bind(listening).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        reply(&mut stream, b"lazaret/1 0 2 0\nup");
        std::thread::sleep(Duration::from_millis(200));
    });
}

#[test]
fn without_a_program_it_is_denied_at_once() {
    let world = World::new();
    let began = Instant::now();
    world.hook(b"{}").assert_denied(NO_PROGRAM);
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[test]
fn without_a_state_directory_it_is_denied() {
    let world = World::new();
    std::fs::remove_dir(world.home()).unwrap();
    world.hook(b"{}").assert_denied(NO_PROGRAM);
    assert!(!world.home().exists(), "nobody would use it");
}

#[test]
fn a_home_that_is_not_absolute_is_denied() {
    let world = World::new();
    let mut command = world.command(&["codex", "PreToolUse"]);
    command.env("LAZARET_HOME", "home");
    let why = "neither LAZARET_HOME nor HOME names an absolute path";
    Ran::of(command, b"{}").assert_denied(why);
    let mut command = world.command(&["codex", "PreToolUse"]);
    command.env_remove("LAZARET_HOME");
    Ran::of(command, b"{}").assert_denied(why);
}

#[test]
fn the_state_directory_is_in_the_home_directory_by_default() {
    let world = World::new();
    let folder = world.path(".lazaret");
    std::fs::rename(world.home(), &folder).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(folder.join("doors.sock")).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        reply(&mut stream, b"lazaret/1 0 2 0\nok");
        std::thread::sleep(Duration::from_millis(200));
    });
    let mut command = world.command(&["codex", "PreToolUse"]);
    command.env_remove("LAZARET_HOME").env("HOME", world.path("."));
    assert_eq!(Ran::of(command, b"{}").stdout, "ok");
}

#[test]
fn the_program_beside_it_is_started_apart_from_the_agent() {
    let world = World::new();
    world.script("bin/lazaret", NOTING);
    listen_once_started(&world);
    let mut command = world.command(&["codex", "PreToolUse"]);
    command.env("HOME", world.path("")).env("OPENAI_API_KEY", "sk-secret");
    let search = format!("/usr/bin:/bin:tools:{}", world.path("work/node_modules/.bin").display());
    command.env("PATH", search);
    assert_eq!(Ran::of(command, b"{}").stdout, "up");
    let started = std::fs::read_to_string(world.path("started")).unwrap();
    let expected = format!("daemon start --quiet --home {}", world.home().display());
    assert_eq!(started.lines().next(), Some(expected.as_str()));
    assert_eq!(started.lines().last(), Some("/"), "{started}");
    assert!(!started.contains("LAZARET_HOME"), "the option says it: {started}");
    assert!(!started.contains("sk-secret") && !started.contains("node_modules"), "{started}");
    assert!(started.lines().any(|it| it == "PATH=/usr/bin:/bin"), "{started}");
}

#[test]
fn the_program_that_the_environment_names_is_started() {
    let world = World::new();
    let program = world.script("elsewhere", NOTING);
    listen_once_started(&world);
    let mut command = world.command(&["codex", "PreToolUse"]);
    command.env("HOME", world.path("")).env("LAZARET_BIN", program);
    assert_eq!(Ran::of(command, b"{}").stdout, "up");
}

#[test]
fn a_socket_that_nobody_serves_any_more_starts_the_daemon() {
    let world = World::new();
    drop(world.listen());
    world.hook(b"{}").assert_denied(NO_PROGRAM);
}

#[test]
fn programs_that_somebody_else_may_have_put_there_are_not_started() {
    let world = World::new();
    world.script("work/lazaret", NOTING);
    let open = world.script("open", NOTING);
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let names = ["lazaret".into(), "./lazaret".into(), world.path("work/lazaret"), open];
    for named in names.into_iter().chain([world.path("nothing")]) {
        let mut command = world.command(&["codex", "PreToolUse"]);
        command.env("HOME", world.path("")).env("LAZARET_BIN", &named);
        // The workspace's folder first, as `direnv` would have it.
        command.env("PATH", world.path("work"));
        Ran::of(command, b"{}").assert_denied(NO_PROGRAM);
    }
    std::thread::sleep(Duration::from_millis(200));
    assert!(!world.path("started").exists());
}

#[test]
fn a_daemon_that_does_not_come_up_is_denied_in_time() {
    let world = World::new();
    world.script("bin/lazaret", "exit 1");
    let began = Instant::now();
    world.hook(b"{}").assert_denied("not in time");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn a_program_that_cannot_run_is_denied() {
    let world = World::new();
    let program = world.script("bin/lazaret", "");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o600)).unwrap();
    world.hook(b"{}").assert_denied("it is not running and could not be started");
}
