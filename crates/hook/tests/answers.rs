//! What the daemon says is printed as it came, and nothing else is.

use crate::world::{Heard, Ran, World, reply};
use std::os::unix::net::UnixStream;
use std::time::Duration;

type Serve = Box<dyn FnOnce(&mut UnixStream) + Send>;

fn say(bytes: &'static [u8]) -> Serve {
    Box::new(move |stream| reply(stream, bytes))
}

#[test]
fn the_answer_is_printed_and_the_input_arrives_as_it_came() {
    let world = World::new();
    let daemon = world.serve(vec![say(b"lazaret/1 7 12 5\n{\"a\":\"\xC3\xA9\n\"}\nerr\n!")]);
    let input = b"  {\"not\": even json \xFF\n";
    let ran = Ran::of(world.command(&["claude", "PreToolUse"]), input);
    assert_eq!(ran.exit, 7);
    assert_eq!(ran.stdout, "{\"a\":\"é\n\"}\n");
    assert_eq!(ran.stderr, "err\n!");
    let heard = daemon.join().unwrap();
    let [Heard { hello, input: arrived }] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!(arrived, input);
    let words: Vec<&str> = hello.trim_end().split(' ').collect();
    let ["lazaret/1", "hook", "claude", "PreToolUse", pid] = words[..] else { panic!("{hello}") };
    assert!(pid.parse::<u32>().unwrap() > 1 && hello.ends_with('\n'));
}

#[test]
fn an_empty_answer_is_one() {
    let world = World::new();
    world.serve(vec![say(b"lazaret/1 0 0 0\n")]);
    let ran = world.hook(b"{}");
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

#[test]
fn a_slow_answer_is_waited_for() {
    let world = World::new();
    let slow = |stream: &mut UnixStream| {
        std::thread::sleep(Duration::from_millis(800));
        reply(stream, b"lazaret/1 0 2 0\n{}");
    };
    world.serve(vec![slow]);
    assert_eq!(world.hook(b"{}").stdout, "{}");
}

#[test]
fn a_large_input_and_a_large_answer_pass() {
    let world = World::new();
    let large = |stream: &mut UnixStream| {
        let text = "a".repeat(3 << 20);
        reply(stream, format!("lazaret/1 0 {} 0\n{text}", text.len()).as_bytes());
    };
    let daemon = world.serve(vec![large]);
    let ran = world.hook(&vec![b'x'; 5 << 20]);
    assert_eq!(ran.stdout.len(), 3 << 20);
    assert_eq!(daemon.join().unwrap()[0].input.len(), 5 << 20);
}

#[test]
fn a_daemon_that_is_busy_or_restarts_is_asked_again() {
    let world = World::new();
    let daemon = world.serve(vec![
        say(b"lazaret/1 busy\n"),
        say(b"lazaret/1 restart\n"),
        say(b"lazaret/1 busy"),
        say(b"lazaret/1 0 4 0\ndone"),
    ]);
    assert_eq!(world.hook(b"{\"n\":1}").stdout, "done");
    let heard = daemon.join().unwrap();
    assert_eq!(heard.len(), 4);
    assert!(heard.iter().all(|it| it.input == b"{\"n\":1}"));
}

#[test]
fn an_answer_counts_though_the_input_was_not_read() {
    let world = World::new();
    let listener = world.listen();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        reply(&mut stream, b"lazaret/1 0 2 0\nok");
        std::thread::sleep(Duration::from_millis(200));
    });
    // Far more than the socket holds: writing it fails when the other side is gone.
    assert_eq!(world.hook(&vec![b'x'; 8 << 20]).stdout, "ok");
}

#[test]
fn help_and_version_need_no_daemon() {
    let world = World::new();
    let help = Ran::of(world.command(&["--help"]), b"");
    assert!(help.exit == 0 && help.stdout.contains("Usage: lazaret-hook HOST EVENT"), "{help:?}");
    let version = Ran::of(world.command(&["--version"]), b"");
    assert_eq!(version.stdout, concat!("lazaret-hook ", env!("CARGO_PKG_VERSION"), "\n"));
}
