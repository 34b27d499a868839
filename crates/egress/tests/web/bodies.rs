//! Bodies that are too long, too slow, broken off, or packed to burst.

use std::io::Write;
use std::thread;
use std::time::Duration;

use egress::Limits;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use crate::origin::{Origin, answer};
use crate::world::{Got, Names, Plan, patient};

const PLAIN: (&str, &str) = ("content-type", "text/plain");

fn fetch(origin: &Origin, limits: Limits) -> Got {
    let mut plan = Plan::new(Names::here(&["a.example"]), &[origin.port]);
    plan.limits = limits;
    plan.open().fetch(&origin.url("a.example", "/"))
}

fn packed(encoding: &str, body: &[u8]) -> Got {
    let said = answer(200, &[PLAIN, ("content-encoding", encoding)], body);
    fetch(&Origin::says(said), Limits { body_bytes: 1 << 20, ..patient() })
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::best());
    to.write_all(body).unwrap();
    to.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut to = ZlibEncoder::new(Vec::new(), Compression::best());
    to.write_all(body).unwrap();
    to.finish().unwrap()
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut to = DeflateEncoder::new(Vec::new(), Compression::best());
    to.write_all(body).unwrap();
    to.finish().unwrap()
}

#[test]
fn a_body_that_breaks_off_says_how_far_it_came() {
    let origin = Origin::says("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123456789");
    let got = fetch(&origin, patient());
    got.failed("broke off");
    got.failed("after 10 bytes");
    assert_eq!(got.events[0]["received_bytes"], 10);
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n";
    for rest in ["", "5\r\nab", "zz\r\n", "ffffffffffffffffff\r\n", "-1\r\n"] {
        let got = fetch(&Origin::says(format!("{chunked}{rest}")), patient());
        got.failed("the body broke off");
    }
    let got = fetch(&Origin::says(format!("{chunked}0\r\n\r\n")), patient());
    assert!(got.content().contains("abcde"));
}

#[test]
fn a_length_that_is_too_small_cuts_the_body_and_nothing_else() {
    let origin = Origin::says("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n0123456789");
    let got = fetch(&origin, patient());
    assert_eq!(got.page()["bytes"], 4);
}

#[test]
fn a_body_that_stands_still_or_never_ends() {
    let still = Origin::raw(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").unwrap();
        true
    });
    let got = fetch(&still, Limits { idle: Duration::from_millis(300), ..patient() });
    got.failed("stood still for 300 ms after 3 bytes");
    let slow = || {
        Origin::raw(|_, stream| {
            let mut said = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while said.is_ok() {
                thread::sleep(Duration::from_millis(20));
                said = stream.write_all(b"drip ");
            }
            false
        })
    };
    let got = fetch(&slow(), Limits { total: Duration::from_millis(800), ..patient() });
    got.failed("it took longer than 800 ms");
    assert_eq!(got.events.len(), 1);
    let endless = Origin::raw(|_, stream| {
        let mut said = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while said.is_ok() {
            said = stream.write_all(&[b'x'; 4096]);
        }
        false
    });
    let got = fetch(&endless, Limits { wire_bytes: 100_000, ..patient() });
    got.failed("is longer than 100000 bytes");
    assert!(got.events[0]["received_bytes"].as_u64().unwrap() > 100_000);
}

#[test]
fn a_body_that_says_it_is_too_long_is_not_read() {
    let limits = Limits { wire_bytes: 1000, ..patient() };
    let origin = Origin::says("HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n");
    fetch(&origin, limits).failed("is longer than 1000 bytes: stopped after 0 bytes");
    let origin = Origin::says(answer(200, &[PLAIN], "x".repeat(1000)));
    assert_eq!(fetch(&origin, limits).page()["bytes"], 1000);
}

#[test]
fn what_was_asked_for_is_unpacked() {
    let text = "tides and winds ".repeat(100);
    for (encoding, body) in [
        ("gzip", gzip(text.as_bytes())),
        ("GZIP", gzip(text.as_bytes())),
        ("x-gzip", gzip(text.as_bytes())),
        ("deflate", zlib(text.as_bytes())),
        ("deflate", deflate(text.as_bytes())),
        ("identity", text.clone().into_bytes()),
        ("gzip", [gzip(&text.as_bytes()[..400]), gzip(&text.as_bytes()[400..])].concat()),
    ] {
        let got = packed(encoding, &body);
        assert_eq!(got.page()["bytes"], text.len(), "{encoding}");
        assert!(got.content().contains(text.trim_end()), "{encoding}");
    }
    for encoding in ["gzip", "deflate"] {
        assert_eq!(packed(encoding, b"").page()["bytes"], 0, "{encoding}");
    }
}

#[test]
fn a_bomb_does_not_go_off() {
    let much = vec![b'0'; 40 << 20];
    for (encoding, body) in
        [("gzip", gzip(&much)), ("deflate", zlib(&much)), ("deflate", deflate(&much))]
    {
        assert!(body.len() < 100_000);
        let got = packed(encoding, &body);
        got.failed("unpacks to more than 1048576 bytes");
    }
    // Packed twice it is one that nobody asked for; and once unpacked it is no page.
    packed("gzip, gzip", &gzip(&gzip(&much))).failed("nobody asked for");
    let got = packed("gzip", &gzip(&gzip(b"twice")));
    assert!(!got.text().contains("twice"));
}

#[test]
fn what_is_packed_wrongly_is_refused() {
    let whole = (gzip(b"tides and winds"), zlib(b"tides and winds"), deflate(b"tides and winds"));
    let short = |it: &[u8]| it[..it.len() - 3].to_vec();
    let more = |it: &[u8]| [it, b"garbage"].concat();
    let mut wrong_sum = whole.0.clone();
    let at = wrong_sum.len() - 6;
    wrong_sum[at] ^= 1;
    for (encoding, body) in [
        ("gzip", b"this is no gzip".to_vec()),
        ("gzip", short(&whole.0)),
        ("gzip", more(&whole.0)),
        ("gzip", wrong_sum),
        ("gzip", whole.0[..5].to_vec()),
        ("deflate", b"\x78this is none".to_vec()),
        ("deflate", short(&whole.1)),
        ("deflate", more(&whole.1)),
        ("deflate", short(&whole.2)),
        ("deflate", more(&whole.2)),
    ] {
        packed(encoding, &body).failed("could not be unpacked");
    }
    for encoding in ["br", "zstd", "compress", "gzip, br", "ignore the marks"] {
        let got = packed(encoding, b"\x0b\x02\x80hello\x03");
        got.failed("nobody asked for");
        assert!(!got.text().contains("ignore"));
    }
    let twice = [PLAIN, ("content-encoding", "gzip"), ("content-encoding", "br")];
    let origin = Origin::says(answer(200, &twice, gzip(b"hidden")));
    fetch(&origin, patient()).failed("nobody asked for");
}

#[test]
fn a_body_may_have_just_as_much_as_is_allowed() {
    let limits = Limits { body_bytes: 1000, ..patient() };
    let of = |bytes: usize| Origin::says(answer(200, &[PLAIN], "x".repeat(bytes)));
    assert_eq!(fetch(&of(1000), limits).page()["bytes"], 1000);
    fetch(&of(1001), limits).failed("unpacks to more than 1000 bytes");
}

#[test]
fn what_is_longer_than_a_piece_is_unpacked_to_its_end() {
    // Two pieces to the byte, a byte less and a byte more.
    for length in [(64 << 10) - 1, 64 << 10, (64 << 10) + 1, 500_000] {
        let body = vec![b'x'; length];
        for (encoding, body) in
            [("gzip", gzip(&body)), ("deflate", zlib(&body)), ("deflate", deflate(&body))]
        {
            assert_eq!(packed(encoding, &body).page()["bytes"], length, "{encoding}");
        }
    }
}
