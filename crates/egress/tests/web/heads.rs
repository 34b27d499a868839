//! Servers whose answers never begin, never end, or are none.

use std::io::Write;
use std::thread;
use std::time::Duration;

use egress::{FIELDS_MAX, Limits};

use crate::origin::{Origin, html};
use crate::world::{Got, Names, Plan, patient};

/// How long a test waits for what does not come.
const SHORT: Duration = Duration::from_millis(300);

fn fetch(origin: &Origin, limits: Limits) -> Got {
    let mut plan = Plan::new(Names::here(&["a.example"]), &[origin.port]);
    plan.limits = limits;
    plan.open().fetch(&origin.url("a.example", "/"))
}

/// Says `piece` again and again until nobody listens.
fn drips(first: &'static str, piece: &'static str, pause: Duration) -> Origin {
    Origin::raw(move |_, stream| {
        let mut said = stream.write_all(first.as_bytes());
        while said.is_ok() {
            thread::sleep(pause);
            said = stream.write_all(piece.as_bytes());
        }
        false
    })
}

#[test]
fn a_head_that_does_not_end_in_time() {
    let hurried = Limits { head: SHORT, ..patient() };
    let pause = Duration::from_millis(20);
    for origin in [
        drips("", "", pause),
        drips("HTTP/1.1 200 OK\r\n", "x", pause),
        drips("HTTP/1.1 200 OK\r\nx: ", "y", pause),
        drips("", "HTTP/1.1 100 Continue\r\n\r\n", pause),
    ] {
        let got = fetch(&origin, hurried);
        got.failed("no answer within 300 ms");
        // Somebody was dialled, and the record says whom.
        assert_eq!(got.events[0]["address"], "127.0.0.1");
    }
}

#[test]
fn hints_without_end() {
    let hint = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    let got = fetch(&drips("", hint, Duration::ZERO), patient());
    got.failed("the server sent far more than an answer");
}

#[test]
fn a_head_that_is_too_long() {
    let head_bytes = 16 << 10;
    let limits = Limits { head_bytes, ..patient() };
    let long = "y".repeat(head_bytes);
    for origin in [
        Origin::says(format!("HTTP/1.1 200 OK\r\nx: {long}{long}\r\n\r\n")),
        drips(
            "HTTP/1.1 200 OK\r\n",
            "x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n",
            Duration::ZERO,
        ),
        drips(
            "HTTP/1.1 200 OK\r\nx: ",
            "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
            Duration::ZERO,
        ),
        drips("HTTP/1.1 200 ", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", Duration::ZERO),
    ] {
        let got = fetch(&origin, limits);
        got.failed("");
        assert!(!got.text().contains("yyyy"), "{}", got.text());
    }
    // Also if it comes all at once, and hyper would have room for it.
    for bytes in [(64 << 10) + 1, 100_000] {
        let said = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(bytes));
        fetch(&Origin::says(said), patient()).failed("the head of the answer");
    }
    let fields = |count: usize| {
        let fields: String = (0..count).map(|it| format!("x{it}: y\r\n")).collect();
        Origin::says(format!("HTTP/1.1 200 OK\r\n{fields}content-length: 2\r\n\r\nok"))
    };
    assert!(fetch(&fields(FIELDS_MAX - 1), patient()).content().contains("ok"));
    fetch(&fields(FIELDS_MAX), patient()).failed("");
}

#[test]
fn what_is_no_answer() {
    for said in [
        "",
        "\r\n\r\n",
        "hello",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/0.9 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: nameless\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: xyz\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ] {
        let got = fetch(&Origin::says(said), Limits { head: Duration::from_secs(2), ..patient() });
        if said.contains("101") {
            assert_eq!(got.page()["bytes"], 0);
        } else {
            got.failed("");
        }
    }
}

#[test]
fn hints_before_the_answer_are_passed_over() {
    let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    let origin = Origin::says([hints.as_bytes(), &html("after")].concat());
    assert!(fetch(&origin, patient()).content().contains("after"));
}

#[test]
fn what_comes_behind_an_answer_is_not_the_next_one() {
    let origin = Origin::raw(|_, stream| {
        let two = [html("mine"), html("somebody else's")].concat();
        stream.write_all(&two).is_ok()
    });
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    for _ in 0..3 {
        let got = world.fetch(&origin.url("a.example", "/"));
        assert!(got.content().contains("mine"), "{}", got.text());
    }
}
