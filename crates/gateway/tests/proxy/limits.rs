//! Programs that are slow, silent or many.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::origin::{Origin, Says};
use crate::support::{LONG, Setting, credentials, request, rest};

#[tokio::test]
async fn who_says_nothing_or_too_slowly_is_cut() {
    let mut setting = Setting::to(&[]);
    setting.bounds.head = Duration::from_millis(300);
    let rig = setting.start().await;
    let begun = Instant::now();
    let mut silent = rig.connect().await;
    assert_eq!(rest(&mut silent).await, "");
    let mut slow = rig.connect().await;
    for byte in request("GET http://origin.example/", "").bytes() {
        if slow.write_all(&[byte]).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let answer = rest(&mut slow).await;
    assert!(!answer.contains("200 OK"), "{answer}");
    assert!(begun.elapsed() < LONG);
}

#[tokio::test]
async fn a_body_that_stands_still_is_cut() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    setting.bounds.silence = Duration::from_millis(300);
    let rig = setting.start().await;
    let line = format!("POST http://origin.example:{}/", origin.port);
    let asked = request(&line, "content-length: 100\r\n") + "half";
    let mut stream = rig.connect().await;
    stream.write_all(asked.as_bytes()).await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn who_does_not_read_is_cut() {
    let origin = Origin::plain(Says::Big(64 << 20)).await;
    let mut setting = Setting::to(&[&origin]);
    setting.bounds.silence = Duration::from_millis(500);
    let rig = setting.start().await;
    let mut stream = rig.connect().await;
    let line = format!("GET http://origin.example:{}/", origin.port);
    stream.write_all(request(&line, "").as_bytes()).await.unwrap();
    let event = &rig.events(1).await[0];
    assert!(event["received_bytes"].as_u64().unwrap() < 64 << 20, "{event}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let origin = Origin::plain(Says::Nothing).await;
    let mut setting = Setting::to(&[&origin]);
    setting.limits.head = Duration::from_millis(200);
    let rig = setting.start().await;
    let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    crate::support::until(|| origin.open() == 0).await;
}

#[tokio::test]
async fn a_slow_body_may_take_longer_than_an_answer() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    setting.limits.head = Duration::from_millis(300);
    let rig = setting.start().await;
    let mut stream = rig.connect().await;
    let line = format!("POST http://origin.example:{}/", origin.port);
    stream.write_all(request(&line, "content-length: 10\r\n").as_bytes()).await.unwrap();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(b"x").await.unwrap();
    }
    let answer = rest(&mut stream).await;
    assert!(answer.contains("10 bytes"), "{answer}");
}

#[tokio::test]
async fn tunnels_count_as_connections() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    // Two agents, and half of each part for a token.
    setting.bounds.connections = 12;
    let rig = setting.start().await;
    let to = format!("origin.example:{}", origin.port);
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(rig.tunnel(&to).await);
    }
    let mut fourth = rig.connect().await;
    let asked = format!("CONNECT {to} HTTP/1.1\r\nhost: a\r\n{}\r\n", credentials());
    fourth.write_all(asked.as_bytes()).await.unwrap();
    let mut byte = [0];
    let early = timeout(Duration::from_millis(500), fourth.read(&mut byte)).await;
    assert!(early.is_err(), "the fourth waits");
    open.pop();
    timeout(LONG, fourth.read(&mut byte)).await.unwrap().unwrap();
    assert_eq!(&byte, b"H");
}

#[tokio::test]
async fn those_who_say_nothing_keep_nobody_out() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    (setting.bounds.strangers, setting.bounds.connections) = (4, 8);
    let rig = setting.start().await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        let mut stream = rig.connect().await;
        // Half of them begin, and stop.
        if silent.len() % 2 == 0 {
            stream.write_all(b"GET http://origin.example/ HTTP/1.1\r\n").await.unwrap();
        }
        silent.push(stream);
    }
    let line = format!("GET http://origin.example:{}/", origin.port);
    let answer = timeout(LONG, rig.ask(&line, "")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Who came first went first, and none of them has a place.
    assert_eq!(rest(&mut silent[0]).await, "");
    let to = format!("origin.example:{}", origin.port);
    let _both = (rig.tunnel(&to).await, rig.tunnel(&to).await);
}

#[tokio::test]
async fn who_does_not_say_who_it_is_has_less_time_than_who_did() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&origin]);
    setting.bounds.greeting = Duration::from_secs(1);
    let rig = setting.start().await;
    let mut known = rig.connect().await;
    let line = format!("GET http://origin.example:{}/", origin.port);
    let asked = request(&line, "").replace("connection: close\r\n", "");
    known.write_all(asked.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    timeout(LONG, known.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    let mut silent = rig.connect().await;
    assert_eq!(timeout(LONG, rest(&mut silent)).await.unwrap(), "");
    // The other is still there, and may ask again.
    tokio::time::sleep(Duration::from_secs(1)).await;
    known.write_all(request(&line, "").as_bytes()).await.unwrap();
    let answer = rest(&mut known).await;
    assert_eq!(answer.matches("200 OK").count(), 1, "{answer}");
}
