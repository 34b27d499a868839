//! Servers that mean harm, or are broken: they harm themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, Place};
use super::server::{legacy, said, wanted};
use super::web::{Reply, Web};

/// A call is answered with this; every other with what it asks for.
fn with_call(name: &'static str, reply: Reply) -> Web {
    Web::start(move |asked| {
        legacy(asked, &|asked, id| match wanted(asked) == name {
            true => reply.clone(),
            false => Reply::json(&said(id, &wanted(asked))),
        })
    })
}

/// The call that goes wrong is told so in these words, and the next one goes well.
fn fails_alone(reply: Reply, words: &str) {
    let server = with_call("bad", reply);
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    client.tools();
    let begun = Instant::now();
    let text = client.look("bad");
    assert!(text.contains(words), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it took too long");
    assert_eq!(client.look("good"), "good");
    client.end();
}

fn raw(head: &str, body: &[u8]) -> Reply {
    let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n");
    Reply::Raw([head.as_bytes(), body].concat())
}

#[test]
fn streams_that_break_off_and_half_messages_end_their_call_alone() {
    let half = "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"res".to_owned();
    fails_alone(Reply::Events { pieces: vec![half], is_cut: true }, "ended before the answer");
    let head = "content-type: application/json\r\ncontent-length: 900";
    fails_alone(raw(head, b"{\"jsonrpc\":"), "before the answer was whole");
    fails_alone(
        raw("content-type: application/json\r\ncontent-length: 1", b"{"),
        "none to this request",
    );
    fails_alone(raw("content-type: text/html\r\ncontent-length: 2", b"hi"), "without a message");
    fails_alone(Reply::Raw(b"SSH-2.0-x\r\n".to_vec()), "not HTTP");
    let other = said(&json!(999), "for somebody else");
    fails_alone(Reply::json(&other), "none to this request");
}

#[test]
fn floods_and_bombs_are_stopped_before_they_are_read() {
    let flood = format!("data: {}", "x".repeat(17 << 20));
    fails_alone(Reply::Events { pieces: vec![flood], is_cut: true }, "more than 16777216 bytes");
    let packed = "content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 4";
    fails_alone(raw(packed, b"\x1f\x8b\x08\x00"), "packed");
    let fields: String = (0..200).map(|it| format!("x-{it}: y\r\n")).collect();
    fails_alone(raw(&format!("{fields}content-length: 0"), b""), "too long");
}

#[test]
fn a_redirect_leads_nowhere_but_within_the_origin() {
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hits);
    let other = Web::start(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Reply::empty(200)
    });
    let elsewhere = other.url("/mcp");
    for (location, words) in [
        ("http://169.254.169.254/latest/meta-data/", "redirects elsewhere"),
        ("http://[::ffff:169.254.169.254]/", "redirects elsewhere"),
        ("//metadata.google.internal/", "redirects elsewhere"),
        (elsewhere.as_str(), "redirects elsewhere"),
        ("https://public.example/mcp", "another origin"),
        ("file:///etc/passwd", "redirects elsewhere"),
    ] {
        fails_alone(Reply::empty(307).with("location", location), words);
    }
    fails_alone(Reply::empty(302).with("location", "/other"), "drops what it was sent");
    assert_eq!(hits.load(Ordering::SeqCst), 0, "nobody else was asked");
    let server = Web::start(|asked| match asked.path.as_str() {
        "/mcp" => Reply::empty(308).with("location", "/mcp/"),
        _ => legacy(asked, &|asked, id| Reply::json(&said(id, &wanted(asked)))),
    });
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    assert_eq!(client.look("good"), "good");
    client.end();
}

#[test]
fn a_call_that_hangs_keeps_no_other_waiting_and_no_end() {
    let server = with_call("bad", Reply::Silence);
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    client.tools();
    client.send_look("look", "bad");
    let begun = Instant::now();
    assert_eq!(client.look("good"), "good");
    client.end();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_server_that_is_not_there_is_said_not_to_be() {
    let place = Place::new();
    // Nobody listens at the discard port.
    let words = ["mcp", "--name", "notes", "--url", "http://127.0.0.1:9/mcp"];
    let (client, said) = Client::hello(&place.home, &words);
    assert!(said["error"]["message"].as_str().unwrap().contains("no connection"), "{said}");
    client.end();
}
