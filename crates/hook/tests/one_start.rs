//! Many hooks find no daemon at once, and one of them starts it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use crate::world::{Ran, World, reply};
use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Hooks that run at once.
const HOOKS: usize = 60;
/// Notes each start.
const COUNTING: &str = r#"echo started >> "$HOME/starts""#;

fn starts(world: &World) -> usize {
    std::fs::read_to_string(world.path("starts")).unwrap_or_default().lines().count()
}

/// Answers all who come, from some time after the first start on.
fn listen_late(world: &World) {
    let (socket, started) = (world.home().join("doors.sock"), world.path("starts"));
    std::thread::spawn(move || {
        let began = Instant::now();
        while !started.exists() && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        let listener = UnixListener::bind(socket).unwrap();
        for mut stream in listener.incoming().flatten() {
            reply(&mut stream, b"lazaret/1 0 2 0\nup");
        }
    });
}

fn lock(world: &World) -> File {
    let path: PathBuf = world.home().join("daemon.starting");
    let file = File::options().write(true).create(true).truncate(false).open(path).unwrap();
    file.lock().unwrap();
    file
}

fn command(world: &World) -> std::process::Command {
    let mut command = world.command(&["codex", "PreToolUse"]);
    command.env("HOME", world.path(""));
    command
}

#[test]
fn of_many_hooks_one_starts_the_daemon() {
    let world = World::new();
    std::fs::remove_dir(world.home()).unwrap();
    world.script("bin/lazaret", COUNTING);
    listen_late(&world);
    let mut running: Vec<_> = (0..HOOKS).map(|_| command(&world).spawn().unwrap()).collect();
    // They wait for the end of their input: now they all go.
    running.iter_mut().for_each(|it| drop(it.stdin.take()));
    for it in running {
        assert_eq!(Ran::ended(it).stdout, "up");
    }
    assert_eq!(starts(&world), 1);
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(world.home()), 0o700, "the state directory was made for us alone");
    assert_eq!(mode(world.home().join("daemon.starting")), 0o600);
}

#[test]
fn whoever_waits_takes_over_when_the_first_is_gone() {
    let world = World::new();
    world.script("bin/lazaret", COUNTING);
    listen_late(&world);
    let held = lock(&world);
    let mut running = command(&world).spawn().unwrap();
    drop(running.stdin.take());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(starts(&world), 0, "another one has the right");
    drop(held);
    assert_eq!(Ran::ended(running).stdout, "up");
    assert_eq!(starts(&world), 1);
}

#[test]
fn a_daemon_that_came_meanwhile_is_not_started_again() {
    let world = World::new();
    world.script("bin/lazaret", COUNTING);
    let held = lock(&world);
    let mut running = command(&world).spawn().unwrap();
    drop(running.stdin.take());
    std::thread::sleep(Duration::from_millis(300));
    let listener = world.listen();
    drop(held);
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        reply(&mut stream, b"lazaret/1 0 2 0\nup");
        std::thread::sleep(Duration::from_millis(200));
    });
    assert_eq!(Ran::ended(running).stdout, "up");
    assert_eq!(starts(&world), 0);
}

#[test]
fn a_right_that_is_never_given_back_is_denied_in_time() {
    let world = World::new();
    world.script("bin/lazaret", COUNTING);
    let _held = lock(&world);
    let began = Instant::now();
    Ran::of(command(&world), b"{}").assert_denied("not in time");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!(starts(&world), 0);
}
