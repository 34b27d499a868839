//! Requests that two readers could read differently, and other tricks.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::origin::{Origin, Says};
use crate::support::{Setting, credentials, refused, request, until};

/// What a server behind the proxy must never see as a request of its own.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nhost: origin.example\r\n\r\n";

#[tokio::test]
async fn a_body_has_one_length() {
    for fields in [
        "content-length: 5\r\ncontent-length: 6\r\n",
        "content-length: 5, 6\r\n",
        "content-length: +5\r\n",
        "content-length: 5\r\ntransfer-encoding: chunked, identity\r\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding : chunked\r\n",
        "x-folded: a\r\n content-length: 5\r\n",
        "content-length: 0x5\r\n",
        "content-length: -5\r\n",
    ] {
        let origin = Origin::plain(Says::Echo).await;
        let rig = Setting::to(&[&origin]).start().await;
        let line = format!("POST http://origin.example:{}/", origin.port);
        let answer = rig.raw(format!("{}0\r\n\r\n{SMUGGLED}", request(&line, fields))).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{fields:?}: {answer}");
        assert!(origin.seen().is_empty(), "{fields:?}");
    }
}

#[tokio::test]
async fn a_body_with_two_framings_reaches_the_server_with_one() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("POST http://origin.example:{}/", origin.port);
    let fields = "content-length: 4\r\ntransfer-encoding: chunked\r\n";
    let answer = rig.raw(format!("{}0\r\n\r\n{SMUGGLED}", request(&line, fields))).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count() - answer.matches("/ HTTP/1.1 ").count(), 1);
    let seen = origin.seen().concat().to_lowercase();
    assert!(!seen.contains("smuggled"), "{seen}");
    assert!(!seen.contains("content-length: 4"), "{seen}");
}

#[tokio::test]
async fn content_length_cannot_be_named_away() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("POST http://origin.example:{}/", origin.port);
    let fields = format!("content-length: {}\r\n", SMUGGLED.len());
    let asked = request(&line, &fields)
        .replace("connection: close", "connection: close, content-length, host");
    let answer = rig.raw(asked + SMUGGLED).await;
    assert!(answer.contains(&format!("{} bytes", SMUGGLED.len())), "{answer}");
    let seen = origin.only().to_lowercase();
    assert_eq!(seen.matches("content-length: ").count(), 1, "{seen}");
    assert!(seen.contains(&format!("host: origin.example:{}", origin.port)), "{seen}");
}

#[tokio::test]
async fn the_url_counts_and_not_the_host_field() {
    let (origin, other) = (Origin::plain(Says::Echo).await, Origin::plain(Says::Echo).await);
    let rig = Setting::to(&[&origin, &other]).start().await;
    let line = format!("GET http://origin.example:{}/", origin.port);
    let asked = request(&line, "host: second.example\r\nx-forwarded-host: x\r\n")
        .replace("a.test", &format!("origin.example:{}", other.port));
    let answer = rig.raw(asked).await;
    assert!(other.seen().is_empty());
    if answer.starts_with("HTTP/1.1 200") {
        let seen = origin.only().to_lowercase();
        let hosts = seen.lines().filter(|it| it.starts_with("host:")).collect::<Vec<_>>();
        assert_eq!(hosts, [format!("host: origin.example:{}", origin.port)]);
    }
}

#[tokio::test]
async fn nothing_slips_into_the_request_line() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let port = origin.port;
    for url in [
        format!("http://origin.example:{port}/ HTTP/1.1\r\nx-in: 1\r\n\r\nGET /smuggled"),
        format!("http://origin.example:{port}/a b"),
        format!("http://origin.example:{port}/a\tb"),
        format!("http://origin.example:{port}/a\u{1}b"),
        format!("http://origin.example:{port}\\@10.0.0.1/"),
        format!("http://origin.example:{port}#@10.0.0.1/"),
    ] {
        let answer = rig.ask(&format!("GET {url}"), "").await;
        let seen = origin.seen().concat();
        assert!(!seen.contains("smuggled") && !seen.contains("x-in"), "{url:?}: {seen}");
        assert!(!seen.contains("a b") && !seen.contains("a\tb"), "{url:?}: {answer}");
    }
    // What is written in three characters stays so.
    let answer =
        rig.ask(&format!("GET http://origin.example:{port}/%0d%0ax-in:%201?%0a"), "").await;
    assert!(answer.contains("GET /%0d%0ax-in:%201?%0a HTTP/1.1"), "{answer}");
}

#[tokio::test]
async fn heads_have_bounds() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("GET http://origin.example:{}/", origin.port);
    for fields in [
        format!("x-big: {}\r\n", "x".repeat(100 << 10)),
        (0..200).map(|it| format!("x-{it}: 1\r\n")).collect(),
    ] {
        let answer = rig.ask(&line, &fields).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{}: {answer}", fields.len());
    }
    let long = format!("{line}{}", "x".repeat(9000));
    assert_eq!(refused(&rig.ask(&long, "").await, 403), "net-too-long");
    let long = format!("{line}?{}", "x".repeat(9000));
    assert_eq!(refused(&rig.ask(&long, "").await, 403), "net-too-long");
    assert!(origin.seen().is_empty());
}

#[tokio::test]
async fn an_answer_of_a_server_has_bounds() {
    let many: &'static str =
        Box::leak((0..500).map(|it| format!("x-{it}: 1\r\n")).collect::<String>().into_boxed_str());
    let head = format!("HTTP/1.1 200 OK\r\n{many}content-length: 0\r\n\r\n");
    let head: &'static [u8] = Box::leak(head.into_bytes().into_boxed_slice());
    let long =
        format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 0\r\n\r\n", "y".repeat(100_000));
    let long: &'static [u8] = Box::leak(long.into_bytes().into_boxed_slice());
    for answer in [
        head,
        long,
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: xyz\r\n\r\nhello, and more",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
        b"not http at all\r\n\r\n",
    ] {
        let origin = Origin::plain(Says::Bytes(answer)).await;
        let rig = Setting::to(&[&origin]).start().await;
        let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
        assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    }
}

#[tokio::test]
async fn an_answer_with_two_framings_comes_whole() {
    let two = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n\
        20\r\nthe first five are not the whole\r\n0\r\n\r\n";
    let origin = Origin::plain(Says::Bytes(two)).await;
    let rig = Setting::to(&[&origin]).start().await;
    let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
    assert!(answer.contains("the first five are not the whole"), "{answer}");
    assert!(!answer.contains("content-length: 5"), "{answer}");
}

#[tokio::test]
async fn what_follows_a_refused_connect_is_not_read() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let port = origin.port;
    let next = format!(
        "GET http://origin.example:{port}/next HTTP/1.1\r\nhost: a\r\n{}\r\n",
        credentials()
    );
    for first in ["CONNECT 10.0.0.1:443", "CONNECT 10.0.0.1", "GET http://10.0.0.1/"] {
        let asked = request(first, "").replace("connection: close\r\n", "");
        let answer = rig.raw(asked + &next).await;
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    }
    assert!(origin.seen().is_empty());
}

#[tokio::test]
async fn connect_has_no_body() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("CONNECT origin.example:{}", origin.port);
    for fields in ["content-length: 5\r\n", "transfer-encoding: chunked\r\n"] {
        let answer = rig.raw(request(&line, fields) + "hello").await;
        assert_eq!(refused(&answer, 400), "proxy-request", "{answer}");
    }
    assert!(origin.seen().is_empty());
}

#[tokio::test]
async fn a_plain_request_becomes_no_tunnel() {
    let upgraded = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\
        connection: upgrade\r\n\r\nfree at last";
    let origin = Origin::plain(Says::Bytes(upgraded)).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("GET http://origin.example:{}/", origin.port);
    let asked = request(&line, "upgrade: websocket\r\nsec-websocket-version: 13\r\n")
        .replace("connection: close", "connection: upgrade");
    let answer = rig.raw(asked).await;
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(!answer.contains("free at last"), "{answer}");
    assert!(!origin.only().to_lowercase().contains("upgrade"));
    until(|| origin.open() == 0).await;
}

#[tokio::test]
async fn connect_names_one_host_and_one_port_or_nothing() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let port = origin.port;
    for to in [
        format!("origin.example:{port}/path"),
        format!("origin.example:{port}?query"),
        format!("http://origin.example:{port}"),
        format!("http://origin.example:{port}/"),
        format!("//origin.example:{port}"),
        format!("origin.example:{port}:{port}"),
        format!("origin.example:+{port}"),
        format!("origin.example:{port} "),
        format!("origin.example:{}", u32::from(port) + 65536),
        format!("origin.example,10.0.0.1:{port}"),
        format!("%6frigin.example:{port}"),
        format!("origin.example%00.a:{port}"),
        format!("*:{port}"),
        format!(":{port}"),
        format!("@origin.example:{port}"),
        format!("[::1]:{port}"),
        format!("[::1%25lo]:{port}"),
        format!("[::ffff:10.0.0.1]:{port}"),
        format!("10.0.0.1.:{port}"),
        format!("0x0a.1:{port}"),
        port.to_string(),
    ] {
        let mut stream = rig.connect().await;
        stream.write_all(request(&format!("CONNECT {to}"), "").as_bytes()).await.unwrap();
        let mut status = [0; 10];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 4", "{to}");
    }
    assert!(origin.seen().is_empty(), "{:?}", origin.seen());
}

#[tokio::test]
async fn lines_end_in_one_way_and_fields_have_one_form() {
    for (what, fields) in [
        ("a null byte", "x: a\0b\r\n"),
        ("a line that is folded", "x: a\r\n b: c\r\n"),
        ("a blank before the colon", "x : a\r\n"),
        ("a blank in a name", "x y: a\r\n"),
        ("no name", ": a\r\n"),
        ("a lone carriage return", "x: a\rcontent-length: 5\r\n"),
    ] {
        let origin = Origin::plain(Says::Echo).await;
        let rig = Setting::to(&[&origin]).start().await;
        let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), fields).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{what}: {answer}");
        assert!(origin.seen().is_empty(), "{what}");
    }
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    // HTTP/2 without being asked for.
    let answer = rig.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    // What stands behind a body is for this connection alone.
    let line = format!("POST http://origin.example:{}/", origin.port);
    let asked = request(&line, "transfer-encoding: chunked\r\ntrailer: x-late\r\n");
    let answer = rig.raw(asked + "2;ext=1\r\nhi\r\n0\r\nx-late: 1\r\nhost: b.test\r\n\r\n").await;
    assert!(answer.contains("2 bytes") || answer.starts_with("HTTP/1.1 200"), "{answer}");
    let seen = origin.only().to_lowercase();
    assert!(
        !seen.contains("x-late") && !seen.contains("b.test") && !seen.contains("ext"),
        "{seen}"
    );
}

#[tokio::test]
async fn what_a_server_says_beside_its_answer_stays_with_it() {
    let said = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </early>\r\n\r\n\
        HTTP/1.1 200 OK\r\nconnection: x-own\r\nx-own: 1\r\nproxy-authenticate: Basic\r\n\
        x-lazaret-refusal: a\r\ntransfer-encoding: chunked\r\n\r\n\
        5;x=y\r\nwhole\r\n0\r\nx-late: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\nnext";
    let origin = Origin::plain(Says::Bytes(said)).await;
    let rig = Setting::to(&[&origin]).start().await;
    let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("whole"), "{answer}");
    for other in
        ["early", "x-own", "proxy-authenticate", "lazaret-refusal", "x-late", "next", "x=y"]
    {
        assert!(!answer.contains(other), "{other}: {answer}");
    }
    assert_eq!(rig.events(1).await[0]["status"], 200);
}
