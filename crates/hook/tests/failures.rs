//! Whatever goes wrong with the daemon that is there, the host is told to deny.

use crate::world::{DENIED, Ran, World, reply};
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Hosts give up after 10 s: every denial is out well before.
const OUT_BY: Duration = Duration::from_secs(8);

#[test]
fn rubbish_is_denied() {
    for (said, why) in [
        (&b""[..], "its answer cannot be understood"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "its answer cannot be understood"),
        (b"lazaret/2 0 0 0\n", "it speaks another version"),
        (b"lazaret/1 0 0\n", "its answer cannot be understood"),
        (b"lazaret/1 0 0 0 0\n", "its answer cannot be understood"),
        (b"lazaret/1 0 0 0", "its answer cannot be understood"),
        (b"lazaret/1 256 0 0\n", "its answer cannot be understood"),
        (b"lazaret/1 -1 0 0\n", "its answer cannot be understood"),
        (b"lazaret/1 +0 0 0\n", "its answer cannot be understood"),
        (b"lazaret/1 0 3 0\nab", "its answer cannot be understood"),
        (b"lazaret/1 0 1 0\nab", "its answer cannot be understood"),
        (b"lazaret/1 0 99999999999999999999 0\nab", "its answer cannot be understood"),
        (b"lazaret/1 0 18446744073709551615 1\nab", "its answer cannot be understood"),
    ] {
        let world = World::new();
        world.serve(vec![move |stream: &mut UnixStream| reply(stream, said)]);
        world.hook(b"{}").assert_denied(why);
    }
}

#[test]
fn a_length_that_is_huge_is_denied_at_once() {
    let world = World::new();
    let huge = |stream: &mut UnixStream| {
        stream.write_all(&u32::MAX.to_be_bytes()).unwrap();
        std::thread::sleep(OUT_BY);
    };
    let began = Instant::now();
    world.serve(vec![huge]);
    world.hook(b"{}").assert_denied("its answer is too long");
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_daemon_that_goes_without_a_word_counts_as_absent() {
    let world = World::new();
    world.serve(vec![|_: &mut UnixStream| {}]);
    world.hook(b"{}").assert_denied("it is not running and its program was not found");
}

#[test]
fn half_a_frame_is_denied() {
    for half in [&[0, 0][..], &[0, 0, 0, 99, b'l', b'a']] {
        let world = World::new();
        world.serve(vec![move |stream: &mut UnixStream| stream.write_all(half).unwrap()]);
        world.hook(b"{}").assert_denied("the connection broke");
    }
}

#[test]
fn silence_is_denied_in_time() {
    let world = World::new();
    world.serve(vec![|_: &mut UnixStream| std::thread::sleep(OUT_BY)]);
    let began = Instant::now();
    world.hook(b"{}").assert_denied("not in time");
    assert!(began.elapsed() < OUT_BY, "{:?}", began.elapsed());
}

#[test]
fn an_answer_that_drips_is_denied_in_time() {
    let world = World::new();
    let drips = |stream: &mut UnixStream| {
        // Each byte comes within the patience of a read.
        let _ = stream.write_all(&1000_u32.to_be_bytes());
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(300));
        }
    };
    world.serve(vec![drips]);
    let began = Instant::now();
    world.hook(b"{}").assert_denied("not in time");
    assert!(began.elapsed() < OUT_BY, "{:?}", began.elapsed());
}

#[test]
fn a_daemon_that_stays_busy_is_denied_in_time() {
    let world = World::new();
    let listener = world.listen();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            reply(&mut stream, b"lazaret/1 busy\n");
        }
    });
    let began = Instant::now();
    world.hook(b"{}").assert_denied("not in time");
    assert!(began.elapsed() < OUT_BY, "{:?}", began.elapsed());
}

#[test]
fn an_input_that_never_ends_is_denied_in_time() {
    let world = World::new();
    let _listener = world.listen();
    let mut child = world.command(&["codex", "PreToolUse"]).spawn().unwrap();
    let stdin = child.stdin.take();
    let began = Instant::now();
    Ran::ended(child).assert_denied("not in time");
    assert!(began.elapsed() < OUT_BY, "{:?}", began.elapsed());
    drop(stdin);
}

#[test]
fn an_input_that_is_too_long_is_denied() {
    let world = World::new();
    let _listener = world.listen();
    world.hook(&vec![b' '; (32 << 20) + 1]).assert_denied("the hook's input is too long");
}

#[test]
fn a_directory_that_is_open_to_others_is_denied() {
    for mode in [0o755, 0o710, 0o701, 0o777] {
        let world = World::new();
        let _listener = world.listen();
        std::fs::set_permissions(world.home(), Permissions::from_mode(mode)).unwrap();
        world.hook(b"{}").assert_denied("its state directory is open to others: `chmod 700` it");
    }
}

#[test]
fn a_directory_of_somebody_else_is_denied() {
    // Only root can give files away, and `/` belongs to somebody else for all but root.
    let world = World::new();
    let _listener = world.listen();
    if std::os::unix::fs::chown(world.home(), Some(12_345), None).is_ok() {
        world.hook(b"{}").assert_denied("its state directory belongs to somebody else");
    }
}

#[test]
fn what_is_no_socket_is_denied() {
    let world = World::new();
    std::os::unix::fs::symlink("/nowhere/doors.sock", world.home().join("doors.sock")).unwrap();
    world.hook(b"{}").assert_denied("its socket is not ours");
}

#[test]
fn every_host_is_denied_in_its_own_form() {
    for (host, event, expected) in [
        ("claude", "PreToolUse", r#""permissionDecision":"deny""#),
        ("claude", "PostToolUse", r#"{"continue":false"#),
        ("cursor", "beforeShellExecution", r#"{"permission":"deny","user_message":"#),
        ("gemini", "BeforeTool", r#"{"decision":"deny","reason":"#),
        ("gemini", "AfterTool", r#"{"decision":"deny","reason":"#),
        ("copilot", "preToolUse", r#"{"permissionDecision":"deny""#),
        ("copilot", "PreToolUse", r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse""#),
        ("opencode", "tool.execute.before", r#"{"decision":"deny","reason":"#),
    ] {
        let world = World::new();
        let ran = Ran::of(world.command(&[host, event]), b"{}");
        assert!(ran.exit == 0 && ran.stdout.contains(expected), "{host} {event}: {ran:?}");
        assert!(ran.stdout.contains(DENIED), "{host} {event}: {ran:?}");
    }
}

#[test]
fn what_cannot_be_denied_passes_with_a_note() {
    let world = World::new();
    let ran = Ran::of(world.command(&["claude", "Stop"]), b"{}");
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.starts_with(DENIED), "{ran:?}");
    let ran = Ran::of(world.command(&["cursor", "stop"]), b"{}");
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, "{}"));
}

#[test]
fn unknown_hosts_events_and_arguments_are_blocked_by_exit_2() {
    let world = World::new();
    for arguments in [
        &["codex", "NoSuchEvent"][..],
        &["emacs", "PreToolUse"],
        &["codex"],
        &[],
        &["codex", "PreToolUse", "more"],
        &["codex", "Pre ToolUse"],
        &["codex", ""],
        &["codex", "PreToolUse\n"],
    ] {
        let ran = Ran::of(world.command(arguments), b"{}");
        assert!(ran.exit == 2 && ran.stdout.is_empty() && !ran.stderr.is_empty(), "{ran:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_printed_blocks() {
    let world = World::new();
    world.serve(vec![|stream: &mut UnixStream| reply(stream, b"lazaret/1 0 2 0\n{}")]);
    let mut child = world.command(&["codex", "PreToolUse"]).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stdin.take());
    assert_eq!(Ran::ended(child).exit, 2);
}
