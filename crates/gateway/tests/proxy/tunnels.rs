//! Tunnels: both ways, halves, ends.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::origin::{LOOPBACK, Origin, Says};
use crate::support::{Setting, rest, until};

const BIG: usize = 100 << 20;

#[tokio::test]
async fn a_tunnel_carries_a_hundred_megabytes_each_way() {
    let origin = Origin::plain(Says::Big(BIG)).await;
    let rig = Setting::to(&[&origin]).start().await;
    let mut tunnel = rig.tunnel(&format!("origin.example:{}", origin.port)).await;
    let head = format!("POST / HTTP/1.1\r\ncontent-length: {BIG}\r\n\r\n");
    tunnel.write_all(head.as_bytes()).await.unwrap();
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..BIG / chunk.len() {
        tunnel.write_all(&chunk).await.unwrap();
    }
    let mut buffer = vec![0; 256 << 10];
    let mut read = 0;
    while read < BIG {
        read += tunnel.read(&mut buffer).await.unwrap();
    }
    drop(tunnel);
    let event = &rig.events(1).await[0];
    assert_eq!(event["sent_bytes"], BIG + head.len());
    assert_eq!(event["received_bytes"], read);
}

#[tokio::test]
async fn one_end_may_be_done_before_the_other() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let heard = rest(&mut stream).await;
        stream.write_all(format!("you said {heard}").as_bytes()).await.unwrap();
    });
    let probe = Origin::plain(Says::Nothing).await;
    let mut setting = Setting::to(&[&probe]);
    setting.open_also(port);
    let rig = setting.start().await;
    let mut tunnel = rig.tunnel(&format!("origin.example:{port}")).await;
    tunnel.write_all(b"hello").await.unwrap();
    tunnel.shutdown().await.unwrap();
    assert_eq!(rest(&mut tunnel).await, "you said hello");
    server.await.unwrap();
}

#[tokio::test]
async fn who_breaks_off_ends_the_other_side_too() {
    let origin = Origin::plain(Says::Nothing).await;
    let mut setting = Setting::to(&[&origin]);
    setting.bounds.half_closed = Duration::from_millis(100);
    let rig = setting.start().await;
    let tunnel = rig.tunnel(&format!("origin.example:{}", origin.port)).await;
    until(|| origin.open() == 1).await;
    drop(tunnel);
    until(|| origin.open() == 0).await;
    assert_eq!(rig.events(1).await[0]["method"], "CONNECT");
}

#[tokio::test]
async fn what_was_sent_along_with_connect_is_not_lost() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let head = crate::support::request(&format!("CONNECT origin.example:{}", origin.port), "");
    let mut stream = rig.connect().await;
    let early = format!("{head}GET /early HTTP/1.1\r\n\r\n");
    stream.write_all(early.as_bytes()).await.unwrap();
    until(|| origin.seen().iter().any(|it| it.contains("/early"))).await;
    stream.shutdown().await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.contains("GET /early HTTP/1.1 0 bytes"), "{answer}");
}

#[tokio::test]
async fn a_silent_tunnel_is_closed() {
    let origin = Origin::plain(Says::Nothing).await;
    let mut setting = Setting::to(&[&origin]);
    setting.bounds.silence = Duration::from_millis(300);
    let rig = setting.start().await;
    let mut tunnel = rig.tunnel(&format!("origin.example:{}", origin.port)).await;
    assert_eq!(rest(&mut tunnel).await, "");
    until(|| origin.open() == 0).await;
}
