//! How commands of `lazaret exec` end: by themselves, by signals, or when their time is up.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::exec::Place;

/// Ends within this, or never.
const PATIENCE: Duration = Duration::from_secs(20);

fn code_within_patience(child: &mut std::process::Child) -> Option<i32> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn a_signal_ends_us_as_it_ended_the_command() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    let status = place.command(&["--", "sh", "-c", "kill -SEGV $$"]).status().unwrap();
    assert_eq!(status.signal(), Some(11));
}

#[test]
fn signals_reach_the_command() {
    let place = Place::new();
    let script = "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child =
        place.command(&["--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut ready = [0; 6];
    out.read_exact(&mut ready).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("caught\n", Some(3)));
}

#[test]
fn time_that_is_up_ends_everything() {
    let place = Place::new();
    let begun = Instant::now();
    let script = "(setsid sh -c 'sleep 5; echo late > late' &) ; sleep 60";
    let (code, _, _) = place.run(&["--timeout", "1", "--", "sh", "-c", script]);
    assert_eq!(code, 124);
    assert!(begun.elapsed() < Duration::from_secs(20));
    std::thread::sleep(Duration::from_secs(5));
    assert!(!place.work().join("late").exists());
}

#[test]
fn time_is_up_also_for_who_reads_nothing_of_what_is_typed() {
    let place = Place::new();
    let mut child = place
        .command(&["--tty", "--timeout", "1", "--", "sleep", "60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut typed = child.stdin.take().unwrap();
    // More than any terminal keeps. Nobody takes all of it, so that it fails in the end.
    let typing = std::thread::spawn(move || typed.write_all(&[b'\n'; 3_000_000]));
    assert_eq!(code_within_patience(&mut child), Some(124));
    let _cut_off = typing.join().unwrap();
}

#[test]
fn time_is_up_also_where_nobody_looks_at_what_is_printed() {
    let place = Place::new();
    let mut child = place
        .command(&["--tty", "--timeout", "1", "--", "yes"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(code_within_patience(&mut child), Some(124));
}

#[test]
fn a_bound_of_processor_time_holds_or_is_refused() {
    let place = Place::new();
    let spin = "while :; do :; done";
    let words = ["--cpu", "20", "--timeout", "2", "--", "sh", "-c", spin];
    let (code, _, err) = place.run(&words);
    assert!(code == 124 || code == 1 && err.contains("cgroup is required"), "{code} {err}");
    if code == 124 {
        let script = format!("timeout 1 sh -c '{spin}'; times");
        let (_, out, err) = place.run(&["--cpu", "20", "--", "sh", "-c", &script]);
        // The second line is of those that it started, user time first.
        let took = out.lines().nth(1).and_then(|it| it.split(['m', 's']).nth(1)?.parse().ok());
        assert!(took.is_some_and(|it: f64| it < 0.6), "{out} {err}");
    }
}

#[test]
fn a_command_is_stopped_and_goes_on_with_us() {
    let place = Place::new();
    let script = "while :; do echo x >> ticks; sleep 0.02; done";
    let mut child = place.command(&["--", "sh", "-c", script]).spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let signal = |it| rustix::process::kill_process(pid, it).unwrap();
    let ticks = || fs::metadata(place.work().join("ticks")).map_or(0, |it| it.len());
    let until = |what: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !what() {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    until(&|| ticks() > 0);
    signal(rustix::process::Signal::TSTP);
    // It stands still when two looks with a pause between them see the same.
    until(&|| {
        let before = ticks();
        std::thread::sleep(Duration::from_millis(300));
        before == ticks()
    });
    let stopped = ticks();
    signal(rustix::process::Signal::CONT);
    until(&|| ticks() > stopped);
    signal(rustix::process::Signal::TERM);
    let ended = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(15));
}
