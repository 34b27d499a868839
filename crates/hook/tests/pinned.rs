//! The state directory that the command line names is the one that counts, whatever the environment says.

use crate::world::{Ran, World, reply};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// A command whose line names this state directory.
fn pinned(world: &World, home: &Path) -> std::process::Command {
    let mut command = world.command(&["codex", "PreToolUse", "--home"]);
    command.arg(home);
    command
}

#[test]
fn the_command_line_chooses_the_daemon_and_not_the_environment() {
    let world = World::new();
    world.serve(vec![|stream: &mut UnixStream| reply(stream, b"lazaret/1 0 4 0\nours")]);
    let weaker = world.path("weaker");
    std::fs::rename(world.path("work"), &weaker).unwrap();
    std::fs::create_dir(world.path("work")).unwrap();
    let listener = UnixListener::bind(weaker.join("doors.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut command = pinned(&world, &world.home());
    command.env("LAZARET_HOME", &weaker).env("HOME", &weaker);
    assert_eq!(Ran::of(command, b"{}").stdout, "ours");
    assert!(listener.accept().is_err(), "nobody asks the other one");
}

#[test]
fn a_named_directory_that_is_not_absolute_is_denied_in_the_hosts_form() {
    let world = World::new();
    let _listener = world.listen();
    for home in ["home", "../home", ""] {
        let ran = Ran::of(pinned(&world, Path::new(home)), b"{}");
        ran.assert_denied("--home is no absolute path: run `lazaret init` again");
    }
}

#[test]
fn a_named_directory_is_checked_as_any_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let _listener = world.listen();
    std::fs::set_permissions(world.home(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = Ran::of(pinned(&world, &world.home()), b"{}");
    ran.assert_denied("its state directory is open to others: `chmod 700` it");
}

#[test]
fn with_a_named_directory_the_environment_names_no_program() {
    let world = World::new();
    let program = world.script("elsewhere", "touch \"$HOME/started\"");
    let mut command = pinned(&world, &world.home());
    command.env("HOME", world.path("")).env("LAZARET_BIN", program);
    Ran::of(command, b"{}").assert_denied("it is not running and its program was not found");
    assert!(!world.path("started").exists());
}

/// `HOME` does not make a folder that the agent works in one that is trusted.
#[test]
fn a_project_cannot_move_the_home_to_get_into_the_search_path() {
    let world = World::new();
    world.script(
        "bin/lazaret",
        r#"env > "$HOME/started.tmp" && mv "$HOME/started.tmp" "$HOME/started""#,
    );
    std::fs::create_dir(world.path("work/home")).unwrap();
    let mut command = pinned(&world, &world.home());
    command.env("HOME", world.path("work/home"));
    command.env("PATH", format!("/usr/bin:/bin:{}", world.path("work/tools").display()));
    Ran::of(command, b"{}").assert_denied("not in time");
    let started = std::fs::read_to_string(world.path("work/home/started")).unwrap();
    assert!(started.lines().any(|it| it == "PATH=/usr/bin:/bin"), "{started}");
}

#[test]
fn other_words_behind_the_event_are_blocked() {
    let world = World::new();
    let home = world.home().display().to_string();
    for arguments in [
        &["codex", "PreToolUse", "--home"][..],
        &["codex", "PreToolUse", "--home", &home, "more"],
        &["codex", "PreToolUse", "--hom", &home],
        &["--home", &home, "codex", "PreToolUse"],
        &["emacs", "PreToolUse", "--home", &home],
    ] {
        let ran = Ran::of(world.command(arguments), b"{}");
        assert!(ran.exit == 2 && ran.stdout.is_empty() && !ran.stderr.is_empty(), "{ran:?}");
    }
}
