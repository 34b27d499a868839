//! One agent among others, and one token among others: nobody can take all of the room.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::origin::{Origin, Says};
use crate::support::{
    GIVEN, GIVEN_TOO, LONG, NAMES, Rig, Setting, basic, credentials, credentials_of_other, refused,
    until,
};

/// A request for a tunnel, and whether it is still without an answer after a while.
async fn waits(rig: &Rig, to: &str, credentials: &str) -> (TcpStream, bool) {
    let mut stream = rig.connect().await;
    let asked = format!("CONNECT {to} HTTP/1.1\r\nhost: a\r\n{credentials}\r\n");
    stream.write_all(asked.as_bytes()).await.unwrap();
    let early = timeout(Duration::from_millis(300), stream.peek(&mut [0])).await;
    (stream, early.is_err())
}

#[tokio::test]
async fn an_agent_that_fills_its_part_keeps_no_other_out() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    setting.bounds.connections = 8;
    let rig = setting.start().await;
    let to = format!("origin.example:{}", origin.port);
    let (given, too) = (basic(&format!("main:{GIVEN}")), basic(&format!("main:{GIVEN_TOO}")));
    let mut open = Vec::new();
    // A token has two places, and then waits; another token of the agent has the other two.
    for credentials in [&credentials(), &given] {
        open.push(rig.tunnel_with(&to, credentials).await);
        open.push(rig.tunnel_with(&to, credentials).await);
        let (third, waited) = waits(&rig, &to, credentials).await;
        assert!(waited, "a token has at most half of its agent's part");
        open.push(third);
    }
    let (mut third_token, waited) = waits(&rig, &to, &too).await;
    assert!(waited, "the agent's part is full");
    let other = credentials_of_other();
    let _others = (rig.tunnel_with(&to, &other).await, rig.tunnel_with(&to, &other).await);
    // Who waits is served when one of its own goes.
    drop(open);
    let mut byte = [0];
    timeout(LONG, third_token.read_exact(&mut byte)).await.unwrap().unwrap();
    assert_eq!(&byte, b"H");
}

#[tokio::test]
async fn an_access_token_is_for_its_agent() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("GET http://origin.example:{}/ HTTP/1.1\r\nhost: a\r\n", origin.port);
    let end = "connection: close\r\n\r\n";
    let answer = rig.raw(format!("{line}{}{end}", basic(&format!("main:{GIVEN}")))).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for wrong in [format!("other:{GIVEN}"), format!("main:{GIVEN}-"), format!("nobody:{GIVEN}")] {
        let answer = rig.raw(format!("{line}{}{end}", basic(&wrong))).await;
        assert_eq!(refused(&answer, 407), "proxy-account", "{wrong}");
    }
    let kept = String::from_utf8_lossy(&rig.kept()).into_owned();
    assert!(!kept.contains(GIVEN), "a token stands nowhere");
}

#[tokio::test]
async fn a_way_out_is_recorded_with_the_name_of_the_token_that_opened_it() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    setting.bounds.connections = 2;
    let rig = setting.start().await;
    let end = "connection: close\r\n\r\n";
    let of = |token: &str| basic(&format!("main:{token}"));
    let ask = async |line: &str, credentials: &str| {
        rig.raw(format!("{line} HTTP/1.1\r\nhost: a\r\n{credentials}{end}")).await
    };
    let way = format!("GET http://origin.example:{}/", origin.port);
    assert!(ask(&way, &of(GIVEN)).await.starts_with("HTTP/1.1 200"));
    assert!(ask(&way, &credentials()).await.starts_with("HTTP/1.1 200"));
    // What was refused, by the address and as no request, names it as well.
    assert!(ask("GET http://10.0.0.1/", &of(GIVEN_TOO)).await.starts_with("HTTP/1.1 403"));
    assert!(ask("GET /", &of(GIVEN)).await.starts_with("HTTP/1.1 400"));
    // A tunnel, and one that had to wait for a place behind it.
    let to = format!("origin.example:{}", origin.port);
    let first = rig.tunnel_with(&to, &of(GIVEN)).await;
    let (mut second, waited) = waits(&rig, &to, &of(GIVEN_TOO)).await;
    assert!(waited, "there is one place");
    drop(first);
    timeout(LONG, second.read_exact(&mut [0])).await.unwrap().unwrap();
    drop(second);
    let events = rig.events(6).await;
    let named: Vec<_> = events.iter().map(|it| it["token"].as_str().unwrap()).collect();
    let [given, too] = NAMES;
    assert_eq!(named, [given, "start", too, given, given, too]);
    let kept = String::from_utf8_lossy(&rig.kept()).into_owned();
    assert!(!kept.contains(GIVEN), "a token stands nowhere");
}

#[tokio::test]
async fn names_that_nobody_answers_for_keep_no_other_agent_waiting() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    setting.limits.lookup = Duration::from_millis(200);
    let rig = setting.start().await;
    let table = Arc::clone(&rig.table);
    let mut asking = Vec::new();
    for number in 0..40 {
        let mut stream = rig.connect().await;
        let url = format!("http://silent-{number}.example:{}/", origin.port);
        let asked = format!("GET {url} HTTP/1.1\r\nhost: a\r\n{}\r\n", credentials());
        stream.write_all(asked.as_bytes()).await.unwrap();
        asking.push(stream);
    }
    for stream in &mut asking {
        let mut status = [0; 12];
        timeout(LONG, stream.read_exact(&mut status)).await.unwrap().unwrap();
        assert_eq!(&status, b"HTTP/1.1 502");
    }
    // All have given up; as many as one agent may are still being looked up, and no more.
    assert_eq!(table.silent.load(Ordering::SeqCst), 16);
    let line = format!("GET http://origin.example:{}/ HTTP/1.1\r\nhost: a\r\n", origin.port);
    let end = "connection: close\r\n\r\n";
    let answer = rig.raw(format!("{line}{}{end}", credentials_of_other())).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    table.answers.notify_waiters();
    until(|| table.silent.load(Ordering::SeqCst) == 0).await;
}
