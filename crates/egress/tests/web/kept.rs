//! Servers close connections that were kept, and often in the very moment in which they are used again.

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::origin::{Origin, html};
use crate::world::{Names, Plan};

/// Says `late` to what comes second over a connection, and closes it.
fn closing(late: &'static [u8]) -> Origin {
    let seen: Mutex<HashMap<SocketAddr, usize>> = Mutex::default();
    Origin::raw(move |_, stream| {
        let peer = stream.peer_addr().unwrap();
        let count = {
            let mut seen = seen.lock().unwrap();
            let count = seen.entry(peer).or_default();
            *count += 1;
            *count
        };
        if count == 1 {
            return stream.write_all(&html("here I am")).is_ok();
        }
        let _ = stream.write_all(late);
        false
    })
}

#[test]
fn what_met_a_connection_at_its_end_is_asked_by_another() {
    let origin = closing(b"");
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    for round in 1..=12 {
        let got = world.fetch(&origin.url("a.example", &format!("/{round}")));
        assert!(got.content().contains("here I am"), "{round}: {}", got.text());
        // It is one hop all the same.
        assert_eq!(got.events.len(), 1, "{:?}", got.events);
    }
    // Every round but the first met a connection at its end, and was then given a new one.
    assert_eq!((origin.connections(), origin.heads().len()), (12, 23));
}

#[test]
fn several_kept_connections_at_their_end_are_passed_over() {
    let origin = Arc::new(closing(b""));
    let world = Arc::new(Plan::new(Names::here(&["a.example"]), &[origin.port]).open());
    for _ in 0..3 {
        let fetch = || {
            let (origin, world) = (Arc::clone(&origin), Arc::clone(&world));
            std::thread::spawn(move || {
                assert!(world.fetch(&origin.url("a.example", "/")).content().contains("here I am"));
            })
        };
        let all: Vec<_> = (0..4).map(|_| fetch()).collect();
        all.into_iter().for_each(|it| it.join().unwrap());
    }
}

#[test]
fn once_a_byte_has_come_nothing_is_asked_for_again() {
    for late in [&b"H"[..], b"HTTP/1.1 200 OK\r\ncontent-le"] {
        let origin = closing(late);
        let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
        assert!(world.fetch(&origin.url("a.example", "/1")).content().contains("here I am"));
        let got = world.fetch(&origin.url("a.example", "/2"));
        got.failed("");
        assert_eq!((origin.connections(), origin.heads().len()), (1, 2), "{}", got.text());
    }
}

#[test]
fn a_new_connection_that_is_closed_without_an_answer_is_a_failure() {
    let origin = Origin::says("");
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    world.fetch(&origin.url("a.example", "/")).failed("");
    assert_eq!((origin.connections(), origin.heads().len()), (1, 1));
}
