//! Requests that are passed on: what goes through, and what does not.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::origin::{Origin, Says};
use crate::support::{Setting, credentials, refused, request, rest, secret, until};

#[tokio::test]
async fn fields_of_one_connection_stay_on_it() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: x-back\r\nx-back: 1\r\n\
        keep-alive: timeout=5\r\nproxy-authenticate: Basic\r\nx-lazaret-refusal: forged\r\n\
        proxy-status: forged\r\nx-kept: 1\r\n\r\nhi";
    let origin = Origin::plain(Says::Bytes(answer)).await;
    let rig = Setting::to(&[&origin]).start().await;
    let fields = "x-one: 1\r\nx-two: 2\r\nproxy-connection: keep-alive\r\nkeep-alive: 5\r\n\
        te: trailers\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n";
    let line = format!("GET http://origin.example:{}/a?b=c", origin.port);
    let asked = request(&line, fields).replace("connection: close", "connection: close, x-two");
    let answer = rig.raw(asked).await.to_lowercase();
    let seen = origin.only().to_lowercase();
    assert!(seen.starts_with("get /a?b=c http/1.1\r\n"), "{seen}");
    assert!(seen.contains(&format!("host: origin.example:{}\r\n", origin.port)), "{seen}");
    assert!(seen.contains("x-one: 1"), "{seen}");
    for gone in ["x-two", "proxy-", "keep-alive", "te:", "upgrade", "http2-", "a.test", "basic"] {
        assert!(!seen.contains(gone), "{gone} in {seen}");
    }
    assert!(!seen.contains(&secret().to_lowercase()));
    assert!(answer.contains("x-kept: 1") && answer.ends_with("hi"), "{answer}");
    for gone in ["x-back", "keep-alive", "proxy-authenticate", "forged"] {
        assert!(!answer.contains(gone), "{gone} in {answer}");
    }
}

#[tokio::test]
async fn the_first_answer_of_a_resolver_is_the_one_that_is_dialled() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    // Were the name looked up once more between vetting and dialling, the second answer would be dialled
    // and refused.
    setting.names = vec![
        ("rebind.example", vec![vec!["127.0.0.1"], vec!["10.0.0.1"]]),
        ("bad-first.example", vec![vec!["10.0.0.1"], vec!["127.0.0.1"]]),
    ];
    let rig = setting.start().await;
    let ask = |name: &str| format!("GET http://{name}:{}/", origin.port);
    let answer = rig.ask(&ask("rebind.example"), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(rig.table.lookups.load(Ordering::SeqCst), 1);
    assert_eq!(rig.events(1).await[0]["address"], "127.0.0.1");
    refused(&rig.ask(&ask("bad-first.example"), "").await, 403);
    assert_eq!(rig.table.lookups.load(Ordering::SeqCst), 2);
    assert_eq!(origin.seen().len(), 1);
}

const BIG: usize = 100 << 20;

#[tokio::test]
async fn bodies_stream_both_ways() {
    let down = Origin::plain(Says::Big(BIG)).await;
    let up = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&down, &up]).start().await;
    let before = resident_kib();

    let mut stream = rig.connect().await;
    let line = format!("GET http://origin.example:{}/", down.port);
    stream.write_all(request(&line, "").as_bytes()).await.unwrap();
    let mut buffer = vec![0; 256 << 10];
    let mut read = 0;
    loop {
        let now = stream.read(&mut buffer).await.unwrap();
        read += now;
        if now == 0 {
            break;
        }
    }
    assert!((BIG..BIG + 1000).contains(&read), "{read}");

    let mut stream = rig.connect().await;
    let line = format!("POST http://origin.example:{}/", up.port);
    let head = request(&line, &format!("content-length: {BIG}\r\n"));
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..BIG / buffer.len() {
        stream.write_all(&buffer).await.unwrap();
    }
    let answer = rest(&mut stream).await;
    assert!(answer.contains(&format!("{BIG} bytes")), "{answer}");

    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 48 << 10, "200 MiB went through and {grown} KiB stayed");
    let events = rig.events(2).await;
    assert!(events.iter().any(|it| it["received_bytes"] == BIG), "{events:?}");
    assert!(events.iter().any(|it| it["sent_bytes"] == BIG), "{events:?}");
}

/// What this process has in memory.
fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn more_than_may_be_sent_is_not_sent() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    setting.rules.payload_bytes_max = 1000;
    let rig = setting.start().await;
    let line = format!("POST http://origin.example:{}/", origin.port);

    let body = "x".repeat(1001);
    let answer = rig.raw(request(&line, "content-length: 1001\r\n") + &body).await;
    assert_eq!(refused(&answer, 413), "egress-payload");
    assert!(origin.seen().is_empty(), "refused before anybody was dialled");

    let chunk = format!("1f4\r\n{}\r\n", "y".repeat(500));
    let asked = request(&line, "transfer-encoding: chunked\r\n");
    let answer = rig.raw(format!("{asked}{chunk}{chunk}{chunk}0\r\n\r\n")).await;
    assert_eq!(refused(&answer, 413), "egress-payload");
    let seen = origin.only();
    assert!(!seen.contains("\r\n0\r\n"), "it does not look whole: {seen}");
    assert!(seen.matches('y').count() <= 1000);

    let answer = rig.raw(format!("{asked}{chunk}{chunk}0\r\n\r\n")).await;
    assert!(answer.contains("1000 bytes"), "{answer}");
    let just = request(&line, "content-length: 1000\r\n") + body.get(1..).unwrap();
    let answer = rig.raw(just).await;
    assert!(answer.contains("1000 bytes"), "{answer}");
    let events = rig.events(4).await;
    assert_eq!(events.iter().filter(|it| it["rule"] == "egress-payload").count(), 2);
}

#[tokio::test]
async fn a_refusal_is_read_also_by_who_is_still_sending() {
    let rig = Setting::to(&[]).start().await;
    let mut stream = rig.connect().await;
    let asked = request("POST http://10.0.0.1/", "content-length: 3000000\r\n");
    stream.write_all(asked.as_bytes()).await.unwrap();
    let (mut from, mut to) = stream.split();
    let sending = async {
        for _ in 0..30 {
            let _ = to.write_all(&[b'x'; 100_000]).await;
        }
    };
    let mut answer = Vec::new();
    let reading = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        from.read_to_end(&mut answer).await.unwrap();
    };
    tokio::join!(sending, reading);
    refused(&String::from_utf8(answer).unwrap(), 403);
}

#[tokio::test]
async fn one_connection_carries_many_requests_to_many_servers() {
    let (one, two) = (Origin::plain(Says::Echo).await, Origin::plain(Says::Echo).await);
    let rig = Setting::to(&[&one, &two]).start().await;
    let ask = |port: u16, end: &str| {
        let fields = credentials();
        format!("GET http://origin.example:{port}/{port} HTTP/1.1\r\nhost: a\r\n{fields}{end}\r\n")
    };
    let all = [ask(one.port, ""), ask(two.port, ""), ask(one.port, "connection: close\r\n")];
    let answer = rig.raw(all.concat()).await;
    let lines: Vec<&str> = answer.lines().filter(|it| it.starts_with("GET")).collect();
    assert_eq!(lines.len(), 3, "{answer}");
    assert!(lines[1].contains(&two.port.to_string()), "{answer}");
    assert_eq!(one.seen().len(), 2, "no connection is shared by two requests");
    until(|| one.open() + two.open() == 0).await;
}
