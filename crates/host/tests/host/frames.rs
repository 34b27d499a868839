//! Frames on a real socket, and who cannot use it up.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use host::ipc::{CONNECTIONS_MAX, Limits, Socket, SocketError};
use serde_json::json;

use crate::support::{House, Server, content, short};

fn list() -> serde_json::Value {
    json!({"action": "memory_list", "scope": "a"})
}

#[test]
fn every_frame_gets_its_answer_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let server = Server::start(&house, &who, dir.path(), short());
    let mut client = server.connect();
    client.send(br#"{"action":"nothing"}"#);
    client.send(b"");
    client.send(list().to_string().as_bytes());
    assert_eq!(client.answer()["error"], "Unknown or missing action");
    assert_eq!(client.answer(), json!({"ok": false, "error": "Invalid JSON"}));
    assert_eq!(client.answer(), json!({"ok": true, "entries": []}));
    // Byte by byte, but in time.
    let message = list().to_string();
    let header = u32::try_from(message.len()).unwrap().to_be_bytes();
    for byte in header.iter().chain(message.as_bytes()) {
        client.send_raw(&[*byte]);
    }
    assert_eq!(client.answer()["ok"], true);
}

#[test]
fn two_sockets_speak_for_two_people() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let (alice, bob) = (house.open("alice", "sa"), house.open("bob", "sb"));
    let (first, second) = (
        Server::start(&house, &alice, dir.path(), short()),
        Server::start(&house, &bob, dir.path(), short()),
    );
    let write = json!({"action": "memory_write", "scope": "a", "content": "x", "type": "system"});
    assert_eq!(first.connect().ask(&write)["ok"], true);
    assert_eq!(first.connect().ask(&list())["entries"].as_array().unwrap().len(), 1);
    assert_eq!(second.connect().ask(&list())["entries"], json!([]));
}

#[test]
fn who_says_nothing_is_let_go_without_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let limits = Limits { idle: Duration::from_millis(200), ..short() };
    let server = Server::start(&house, &who, dir.path(), limits);
    let before = house.records("s").len();
    assert!(server.connect().is_closed());
    assert_eq!(house.records("s").len(), before);
}

#[test]
fn a_frame_that_ends_half_way_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let server = Server::start(&house, &who, dir.path(), short());
    let mut client = server.connect();
    client.send_raw(b"\0\0\0\x10{\"action\"");
    drop(client);
    let deadline = Instant::now() + Duration::from_secs(20);
    let record = loop {
        let last = house.records("s").pop().unwrap();
        if last["meta"]["kind"] == "malformed_frame" {
            break last;
        }
        assert!(Instant::now() < deadline, "{last}");
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(
        content(&record)["error"],
        "the connection ended within a frame, after 13 bytes of it"
    );
}

#[test]
fn who_does_not_take_answers_does_not_hold_a_thread() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let server = Server::start(&house, &who, dir.path(), short());
    let mut client = server.connect();
    let content = "long ".repeat(19_000);
    let write =
        json!({"action": "memory_write", "scope": "a", "content": content, "type": "context"});
    assert_eq!(client.ask(&write)["ok"], true);
    let message = list().to_string();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let frame = [&length[..], message.as_bytes()].concat();
    let deadline = Instant::now() + Duration::from_secs(60);
    // It asks and asks and does not listen, until nobody is there any more.
    while client.0.write_all(&frame).is_ok() {
        assert!(Instant::now() < deadline, "it is still served");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.connect().ask(&json!({"action": "skill_list"}))["ok"], false, "others are");
}

#[test]
fn connections_beyond_the_limit_wait_for_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let server = Server::start(&house, &who, dir.path(), short());
    let mut all: Vec<_> = (0..CONNECTIONS_MAX).map(|_| server.connect()).collect();
    for client in &mut all {
        assert_eq!(client.ask(&list())["ok"], true);
    }
    let mut late = server.connect();
    late.send(list().to_string().as_bytes());
    late.0.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let early = late.0.read(&mut [0; 4]);
    assert!(early.is_err(), "it was served while all places were taken");
    drop(all.pop());
    late.0.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(late.answer()["ok"], true);
    // All the others are idle, and still the server ends at once when it is told to.
    let begun = Instant::now();
    drop(server);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_socket_is_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/ipc/s.sock");
    let socket = Socket::bind(&path).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert!(matches!(Socket::bind(&path), Err(SocketError::InUse { .. })));
    drop(socket);
    assert!(!path.exists());

    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Socket::bind(&open.join("s.sock")).unwrap_err();
    assert!(matches!(error, SocketError::NotPrivate { .. }), "{error}");
    assert_eq!(mode(&open), 0o755, "what is there is not changed");
}

#[test]
fn only_a_socket_that_was_left_behind_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let private = dir.path().join("ipc");
    files::private::create_dir(&private).unwrap();
    let stale = private.join("stale.sock");
    drop(UnixListener::bind(&stale).unwrap());
    assert!(UnixStream::connect(&stale).is_err());
    drop(Socket::bind(&stale).unwrap());

    let file = private.join("file");
    fs::File::create(&file).unwrap();
    std::os::unix::fs::symlink(&stale, private.join("link")).unwrap();
    fs::create_dir(private.join("dir")).unwrap();
    for name in ["file", "link", "dir"] {
        let error = Socket::bind(&private.join(name)).unwrap_err();
        assert!(matches!(error, SocketError::Taken { .. }), "{name}: {error}");
        assert!(fs::symlink_metadata(private.join(name)).is_ok(), "{name} is still there");
    }
    let long = private.join("x".repeat(200));
    assert!(matches!(Socket::bind(&long), Err(SocketError::Io { .. })));
}
